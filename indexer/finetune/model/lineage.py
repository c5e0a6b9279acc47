"""What does a model folder say of how it was made? Lineage and card. No torch here."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import CONFIG_NAME, TOKENIZER_NAMES, WEIGHT_NAMES
from indexer.errors import ModelError, SourceError
from indexer.library.foreign import parsed
from indexer.sources.reading import read_regular

LINEAGE_NAME = "training.json"
_GRAPHS = ("graphs.json", "text.onnx", "image.onnx", "image-int8.onnx")
_OF_OTHER_TOKENIZERS = ("added_tokens.json", "sentencepiece.bpe.model", "spiece.model")
_OWN = {CONFIG_NAME, *WEIGHT_NAMES, *TOKENIZER_NAMES, *_OF_OTHER_TOKENIZERS, *_GRAPHS, LINEAGE_NAME, "README.md"}
"""Names of all that a model folder holds."""

_FINETUNED = """# A fine-tuned icon encoder

Made by `icons finetune` from {parent}. Loads with stock open_clip; `icons index --model local-dir:PATH_OF_THIS_FOLDER`
uses it.

- Learnt from {icons:,} icons of {sets:,} sets, {names:,} base names, {captions:,} captions; {held_out:,} icons (one
  base name in {one_in}) were held out. Every set with its licence stands in `training.json`. Licences: {licences}.
- Parent, options, seed, every validation: `training.json`.
{figures}"""


def check_replaceable(folder: Path) -> None:
    """See that a folder may be replaced by a model: it is empty, not there, or a model that was written here.

    Raises:
        ModelError: it holds something else, which would be lost.
    """
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in names if name not in _OWN]
    if others or (names and LINEAGE_NAME not in names):
        raise ModelError(f'"{folder}" holds "{(others or names)[0]}", which a model would replace; give another --out')


def read_lineage(folder: Path) -> dict[str, Any]:
    """What a model folder says of how it was made; nothing where that is not written, or by others."""
    try:
        lineage = parsed(read_regular(folder / LINEAGE_NAME))
    except (OSError, SourceError, ValueError):
        return {}
    is_ours = isinstance(lineage, dict) and isinstance(lineage.get("training", []), list)
    return lineage if is_ours else {}


def card_of(lineage: Mapping[str, Any]) -> str:
    """Write the card of a model."""
    parent, data = lineage["parent"], lineage["data"]
    return _FINETUNED.format(
        parent="random weights" if parent["random"] else f'"{parent["name"]}"',
        held_out=data["held_out_icons"],
        one_in=data["held_out_one_name_in"],
        figures=_compared(lineage),
        **counts(data),
    )


def counts(data: Mapping[str, Any]) -> dict[str, Any]:
    """How much was learnt from, for a card."""
    licences = Counter(icon_set["licence"] or "not stated" for icon_set in data["sets"])
    return {
        "icons": data["icons"],
        "sets": len(data["sets"]),
        "names": data["base_names"],
        "captions": data["captions"],
        "licences": ", ".join(f"{licence} ({n})" for licence, n in licences.most_common()),
    }


def _compared(lineage: Mapping[str, Any]) -> str:
    """A table of the held-out figures before and after."""
    figures, before = lineage.get("figures") or {}, lineage["parent"].get("figures") or {}
    rows = [
        (task, name, spelled(before[task][name]) if task in before else "", spelled(found))
        for task, by_name in figures.items()
        for name, found in by_name.items()
    ]
    if not rows:
        return "\nNothing was held out, so nothing was measured.\n"
    head = ("task", "figure", "before", "after")
    return table("On the held-out icons, with 95 % bootstrap intervals:", head, rows)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out figures for a card."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join(["", title, "", first, "|" + "---|" * len(head), *others, ""])


def spelled(figure: list[float]) -> str:
    """Spell a value with its interval."""
    value, low, high = figure
    return f"{value:.3f} ({low:.3f}-{high:.3f})"


def as_json(lineage: Mapping[str, Any]) -> str:
    """A lineage in JSON, a subject a line: histories of a thousand numbers take half the room so."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in lineage.items()) + "\n}\n"
