"""What a list of needs comes to, as JSON: the same on the command line, over HTTP and for assistants."""

from dataclasses import asdict
from typing import Any

from search.picking.code import Filled
from search.picking.pick import Pick


def filled_json(filled: Filled) -> dict[str, Any]:
    """Spell it as one object; code stands in it where code was wanted."""
    picked, written = filled.picked, filled.written
    plain: dict[str, Any] = {
        "set": asdict(picked.set) if picked.set else None,
        "needs": list(map(_pick_json, picked.picks)),
        "missing": list(picked.missing),
    }
    if filled.framework:
        plain["format"] = filled.framework.name
    if written:
        plain["code"] = written.remarked
        plain |= {name: getattr(written.snippet, name) for name in ("imports", "uses", "install", "left_out")}
        plain["refused"] = [{"need": need, "error": why} for need, why in written.refused]
    return plain


def _pick_json(pick: Pick) -> dict[str, Any]:
    return {
        "need": pick.need,
        "chosen": pick.chosen.key if pick.chosen else None,
        "is_doubtful": pick.is_doubtful,
        "spelled": pick.spelled,
        "read_as": str(pick.read_as) if pick.read_as else None,
        "hits": list(map(asdict, pick.hits)),
    }
