"""What a look at some code has found, as JSON and as SARIF: for programs, assistants, and reviews of changes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from search.references.check import Checked, Finding

RULES: Mapping[str, str] = {
    "no-icon": "The set has no icon of this name.",
    "no-file": "There is no such file of an icon.",
    "no-part": "No such part of a sprite is defined.",
    "unused-file": "No code names this icon.",
    "too-many-sets": "More sets of icons are used than may be.",
}
"""By the kind of a finding."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_WARNINGS = ("unused-file", "too-many-sets")


def checked_json(checked: Checked) -> dict[str, Any]:
    """Spell all of it as one object."""
    return {"is_clean": checked.is_clean, **asdict(checked)}


def checked_sarif(checked: Checked, *, base: Path) -> dict[str, Any]:
    """Spell the findings as SARIF 2.1.0 (OASIS); paths are told from `base`, the root of the repository."""
    rules = [
        {"id": kind, "shortDescription": {"text": told}, "defaultConfiguration": {"level": _level(kind)}}
        for kind, told in RULES.items()
    ]
    driver = {"name": "icons", "version": version("icons"), "rules": rules}
    results = [_result(finding, base) for finding in checked.findings]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _level(kind: str) -> str:
    return "warning" if kind in _WARNINGS else "error"


def _result(finding: Finding, base: Path) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.path, base)}}
    if finding.line:
        end = finding.column + len(finding.text)
        place["region"] = {"startLine": finding.line, "startColumn": finding.column, "endColumn": end}
    return {
        "ruleId": finding.kind,
        "ruleIndex": list(RULES).index(finding.kind),
        "level": _level(finding.kind),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str, base: Path) -> str:
    absolute = Path(path).absolute()
    return quote(absolute.relative_to(base).as_posix()) if absolute.is_relative_to(base) else absolute.as_uri()


def lines_of(findings: Sequence[Finding]) -> list[str]:
    """A line a finding, which begins as editors and terminals can follow it: path:line:column."""
    return [f"{_place(finding)}: {finding.message}" for finding in findings]


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}:{finding.column}" if finding.line else finding.path
