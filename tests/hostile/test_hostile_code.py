"""Nothing of a hostile SVG runs, reads or breaks out where its icon is written as code."""

import re
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest
from hostile_svgs import SQUARE, svg, svgs
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import IconsError
from search.drawings.drawn import AS_IT_IS, NamedIcon
from search.drawings.frameworks import FRAMEWORKS
from search.drawings.write import write

DRAWN = [one for one in FRAMEWORKS.values() if one.needs_svg]
_ACTIVE = re.compile(
    r"<script(?! >|>\n  let props)|javascript:|\son\w+=|foreignObject|<iframe|<!ENTITY|<!DOCTYPE|<\?|xi:include|@import"
    r"|(?:href|src)=[\"'{]*(?!#|data:image/(?:png|jpeg|gif|webp))[^\"'\s#d]|url\((?!\s*[\"']?(?:#|data:image/svg\+xml,))",
    re.IGNORECASE,
)


@pytest.mark.parametrize("one", DRAWN, ids=lambda one: one.name)
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_that_runs_or_reads_reaches_code(one: object, every: int, tmp_path: Path) -> None:
    n, first = 0, DRAWN.index(one) % every  # type: ignore[arg-type]
    for name, content, _ in islice(svgs(tmp_path / "secret", 9), first, None, every):
        try:
            code = write([NamedIcon(f"own:{name}", "own", name, content)], one, AS_IT_IS).code  # type: ignore[arg-type]
        except IconsError as error:
            assert f'"own:{name}"' in str(error)
            continue
        assert not _ACTIVE.search(unquote(code)), f"{name}: {code[:500]}"
        assert str(tmp_path) not in code and "127.0.0.1" not in code
        n += 1
    assert n > 100 // every or one.name == "path"  # type: ignore[attr-defined]


def test_what_is_nested_without_end_is_refused_before_it_grows() -> None:
    deep = svg("<g>" * 100_000 + "</g>" * 100_000)
    for one in DRAWN:
        with pytest.raises(IconsError, match="nested more than 200 deep"):
            write([NamedIcon("own:deep", "own", "deep", deep)], one, AS_IT_IS)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=60), st.integers(0, 300))
def test_no_bytes_break_more_than_themselves(noise: bytes, text: str, place: int) -> None:
    whole = svg(f"<text>{text}</text>{SQUARE}" if text.isprintable() else SQUARE)
    content = whole[:place] + noise + whole[place:]
    for one in DRAWN:
        try:
            code = write([NamedIcon("own:noise", "own", "noise", content)], one, AS_IT_IS).code
        except IconsError:
            continue
        assert not _ACTIVE.search(unquote(code))
