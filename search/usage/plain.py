"""Uses and reports as JSON: the same on the command line and over HTTP."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from search.usage.report import UsageReport
from search.usage.results import Use, Uses


def uses_json(found: Uses, *, generation: int) -> dict[str, Any]:
    """Spell an answer as one object."""
    return {
        "uses": list(map(use_json, found.uses)),
        "n_found": found.n_found,
        "n_screens": found.n_screens,
        "best": found.best,
        "generation": generation,
    }


def use_json(use: Use) -> dict[str, Any]:
    """Spell one use; its box is a list, as everywhere."""
    return {**asdict(use), "also": list(use.also), "box": list(use.box)}


def report_json(report: UsageReport) -> dict[str, Any]:
    """Spell a report as one object."""
    return {
        "sets": list(report.sets),
        "n_screens": report.n_screens,
        "n_boxes": report.n_boxes,
        "n_icons_of_sets": report.n_icons_of_sets,
        "used": _used_json(report.used),
        "foreign": _used_json(report.foreign),
        "unknown": _used_json(report.unknown),
        "several": [
            {"words": meaning.words, "n": meaning.n, "ways": _used_json(meaning.ways)} for meaning in report.several
        ],
    }


def _used_json(used: Sequence[Any]) -> list[dict[str, Any]]:
    return [{**asdict(one), "examples": list(map(use_json, one.examples))} for one in used]
