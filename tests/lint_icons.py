"""A hundred and twenty of the sample icons, in a folder of their own in which nothing is to be found."""

import re
from functools import cache
from pathlib import Path

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.linting.findings import Report
from search.linting.lint import LintOptions, lint

SAMPLES = bundled("samples/lucide-static") / "icons"
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_SHAPES = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_ODD_BY_THEMSELVES = frozenset(("spray-can", "cigarette", "space", "bluetooth-searching", "venus-and-mars"))


def text_of(name: str) -> str:
    """A sample without the comment that all of them have."""
    return _COMMENT.sub("", (SAMPLES / f"{name}.svg").read_text("utf-8"))


def shapes_of(name: str) -> str:
    """What stands between the tags of a sample's root."""
    return _SHAPES.search(text_of(name))[1]


@cache
def names() -> list[str]:
    """Samples, none of them twice under another name."""
    firsts = {shapes_of(path.stem): path.stem for path in sorted(SAMPLES.glob("*.svg"), reverse=True)}
    return sorted(set(firsts.values()) - _ODD_BY_THEMSELVES)


def copy_samples(folder: Path, n: int = 120) -> Path:
    """Copy samples from all over the alphabet into a new folder."""
    folder.mkdir()
    for name in names()[:: len(names()) // n][:n]:
        (folder / f"{name}.svg").write_text(text_of(name), "utf-8")
    return folder


def lint_folder(folder: Path, *rules: str, without: tuple[str, ...] = ()) -> Report:
    """Lint a folder as `icons lint` does, by the bundled encoder."""
    asked = LintOptions(folders=(folder,), rules=rules, without_rules=without)
    return lint(asked, library=Library(folder.parent / "no-library"), progress=lambda *_: None)


def found_in(report: Report) -> set[tuple[str, str]]:
    """Rule and name of every icon that something was found about; "" for the set as a whole."""
    return {(finding.rule, name) for finding in report.findings for name in ([i.name for i in finding.icons] or [""])}
