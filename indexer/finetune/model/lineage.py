"""What does a model folder say of how it was made, and of how good it is? Lineage, card and figures. No torch here."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, TOKENIZER_NAMES, WEIGHT_NAMES, ModelChoice, find_checkpoint
from indexer.errors import ModelError, SourceError
from indexer.library.durable import write_file
from indexer.library.foreign import parsed
from indexer.sources.reading import read_regular

LINEAGE_NAME = "training.json"
_GRAPHS = ("graphs.json", "text.onnx", "image.onnx", "image-int8.onnx")
_OF_OTHER_TOKENIZERS = ("added_tokens.json", "sentencepiece.bpe.model", "spiece.model")
_OWN = {CONFIG_NAME, *WEIGHT_NAMES, *TOKENIZER_NAMES, *_OF_OTHER_TOKENIZERS, *_GRAPHS, LINEAGE_NAME, "README.md"}
"""Names of all that a model folder holds."""
MEASURES = ("R@1", "R@5", "R@10", "MRR@50")
SHOT_SIZE = 24
"""Screenshots of other sizes are left to the evaluation itself."""

_TEXT = """# A small icon CLIP

Finds icons by words. Pictures of icons at 64 px and short English phrases become vectors of 384 numbers whose inner
product says how well they fit. Loads with stock open_clip, offline:

    open_clip.create_model_and_transforms("local-dir:PATH_OF_THIS_FOLDER")

- Picture tower: timm `resnet10t` at 64 px, trained from scratch. Give it icons on a white (or dark) opaque ground,
  aspect kept: open_clip's transform drops alpha, so composite first.
- Text tower: open_clip's text transformer, width 256, 4 layers, context 24. It was taught to repeat all-MiniLM-L6-v2
  (Apache-2.0) over words and phrases, then which words name the same icon, then trained together with the pictures.
- Learnt from {icons:,} icons of {sets:,} sets, {names:,} base names, {captions:,} captions (names, tags, two put
  together). {described:,} of the icons stand there once more, with descriptions of their drawings alone. Every set with
  version and licence stands in `training.json`. Licences: {licences}.
- Never seen: Lucide, Lucide Lab, Feather, Octicons, Ionicons, Famicons, Adobe Spectrum, and icons that look like one of
  theirs to the pixel. Left out: NC and GPL-family licences, logos, flags, coins, file-type sets.
{measured}
Where it fails: English only (`icons` translates words before it asks); 64 px hold no fine detail, so left and right,
and small badges on one shape, are easily confused; icons whose meaning is a convention that no name or tag tells are
not found; screenshots cut carelessly, with other icons in sight, are found half of the time at 16 px; logos, flags and
letters were not learnt.
"""

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
    """Write the card: that of the model that ships with `icons`, or of one that a user made."""
    data = lineage["data"]
    licences = Counter(icon_set["licence"] or "not stated" for icon_set in data["sets"])
    facts = {
        "icons": data["icons"],
        "sets": len(data["sets"]),
        "names": data["base_names"],
        "captions": data["captions"],
        "licences": ", ".join(f"{licence} ({n})" for licence, n in licences.most_common()),
    }
    is_ours = "distillation" in lineage and lineage.get("parent", {}).get("name") != "bundled"
    if is_ours and data["limits"].get("admit", "shippable") == "shippable":
        described = data.get("icons_with_own_captions", 0)
        facts["icons"] -= described
        return _TEXT.format(measured=_measured(lineage.get("measured", {})), described=described, **facts)
    return _FINETUNED.format(
        parent="random weights" if lineage["parent"]["random"] else f'"{lineage["parent"]["name"]}"',
        held_out=data["held_out_icons"],
        one_in=data["held_out_one_name_in"],
        figures=_compared(lineage),
        **facts,
    )


def _compared(lineage: Mapping[str, Any]) -> str:
    """A table of the held-out figures before and after."""
    figures, before = lineage.get("figures") or {}, lineage["parent"].get("figures") or {}
    rows = [
        (task, name, _spelled(before[task][name]) if task in before else "", _spelled(found))
        for task, by_name in figures.items()
        for name, found in by_name.items()
    ]
    if not rows:
        return "\nNothing was held out, so nothing was measured.\n"
    head = ("task", "figure", "before", "after")
    return _table("On the held-out icons, with 95 % bootstrap intervals:", head, rows)


def _measured(measured: Mapping[str, Any]) -> str:
    """A table of figures on the benchmark: rows by kind and ranker, [value, low, high] each."""
    rows = [
        (kind, ranker, *map(_spelled, found.values()))
        for kind, rankers in measured.items()
        for ranker, found in rankers.items()
    ]
    head = ("kind", "ranker", *MEASURES)
    return _table("Lucide 1.62.0, exact search, 95 % bootstrap intervals:", head, rows) if rows else ""


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join(["", title, "", first, "|" + "---|" * len(head), *others, ""])


def _spelled(figure: list[float]) -> str:
    value, low, high = figure
    return f"{value:.3f} ({low:.3f}-{high:.3f})"


def record_figures(model: Path, evaluation: Mapping[str, Any]) -> None:
    """Write a model's figures into its folder; its weights, and so its fingerprint, stay what they are.

    Raises:
        SourceError: the evaluation is not of this model.
    """
    fingerprint = find_checkpoint(ModelChoice(f"{LOCAL}{model}")).fingerprint
    labels = [encoder["label"] for encoder in evaluation["encoders"] if encoder["fingerprint"] == fingerprint]
    if not labels:
        raise SourceError(
            f'the evaluation is of other encoders than "{model}" ({fingerprint}); '
            f"run `icons index --model {LOCAL}{model}`, then `icons evaluate --json`"
        )
    measured: dict[str, dict[str, Any]] = {}
    for row in evaluation["rows"]:
        is_usual = row["condition"] is None or row["condition"]["size"] == SHOT_SIZE
        if row["encoder"] == labels[0] and is_usual:
            found = {name: [round(number, 4) for number in row["figures"][name].values()] for name in MEASURES}
            measured.setdefault(_task(row), {})[row["ranker"]] = found
    lineage = json.loads((model / LINEAGE_NAME).read_text("utf-8")) | {"measured": measured}
    write_file(model / LINEAGE_NAME, as_json(lineage).encode())
    write_file(model / "README.md", card_of(lineage).encode())


def _task(row: Mapping[str, Any]) -> str:
    condition = row["condition"]
    if condition is None:
        return str(row["task"])
    return f"{row['task']}, {condition['size']} px, {', '.join(condition['changes']) or 'clean'}"


def as_json(lineage: Mapping[str, Any]) -> str:
    """A lineage in JSON, a subject a line: histories of a thousand numbers take half the room so."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in lineage.items()) + "\n}\n"
