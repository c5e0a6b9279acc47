"""The card of the bundled encoder, and its figures on the benchmark."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.errors import SourceError
from indexer.finetune.folder import LINEAGE_NAME, as_json, counts, spelled
from indexer.library.durable import write_file

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


def card_of(lineage: Mapping[str, Any]) -> str:
    """Write the card of the model that ships with `icons`."""
    facts = counts(lineage["data"])
    described = lineage["data"].get("icons_with_own_captions", 0)
    facts["icons"] -= described
    return _TEXT.format(measured=_measured(lineage.get("measured", {})), described=described, **facts)


def _measured(measured: Mapping[str, Any]) -> str:
    """A table of figures on the benchmark: rows by kind and ranker, [value, low, high] each."""
    rows = [
        (kind, ranker, *map(spelled, found.values()))
        for kind, rankers in measured.items()
        for ranker, found in rankers.items()
    ]
    head = ("kind", "ranker", *MEASURES)
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    title = "Lucide 1.62.0, exact search, 95 % bootstrap intervals:"
    return "\n".join(["", title, "", first, "|" + "---|" * len(head), *others, ""]) if rows else ""


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
            f"run `icons index --model {LOCAL}{model}`, then `icons lab evaluate --json`"
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
