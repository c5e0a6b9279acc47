"""Does docs/linting.md show what really comes? `python tests/docs/test_linting_doc.py` writes both anew."""

import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from search.cli import main
from search.linting.lint import RULES

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "linting.md"
_RUN = re.compile(r"(?<=^\$ icons lint icons --max 1\n).+?(?=^```$)", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"(?<=^\|---\|---\|---\|\n).+?(?=^$)", re.MULTILINE | re.DOTALL)


def planted_run(folder: Path) -> str:
    """What the command prints over the planted mistakes."""
    from planted_icons import plant

    plant(folder / "icons")
    with chdir(folder):
        return CliRunner().invoke(main, ["lint", "icons", "--max", "1", "--library", "none"]).stdout


def table() -> str:
    """The rules, as rows of Markdown."""
    return "".join(f"| `{rule.id}` | {rule.severity} | {rule.looks_at} |\n" for rule in RULES.values())


def test_the_run_over_planted_mistakes_is_as_shown(tmp_path: Path) -> None:
    (shown,) = _RUN.findall(DOCUMENT.read_text("utf-8"))
    assert _without_figures(planted_run(tmp_path)) == _without_figures(shown)


def _without_figures(text: str) -> str:
    """What differs in its last digits from processor to processor."""
    return re.sub(r"(?<=differ in )[\d.]+%", "", text)


def test_the_table_of_rules_is_that_of_the_code() -> None:
    assert _TABLE.findall(DOCUMENT.read_text("utf-8")) == [table()]


def test_the_example_of_accepted_findings_is_valid(tmp_path: Path) -> None:
    from search.linting.lint import FILE_NAME, read_accepted

    (example,) = re.findall(r"^```toml\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / FILE_NAME).write_text(example, "utf-8")
    assert read_accepted([tmp_path]).patterns["name"] == ("tex", "carambola")


def test_the_rules_that_are_explained_exist() -> None:
    explained = re.findall(r"^- \*\*([\w-]+)\*\*:", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert len(explained) > 5 and set(explained) <= RULES.keys()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    with tempfile.TemporaryDirectory() as made:
        run = planted_run(Path(made))
    text = _RUN.sub(lambda _: run, DOCUMENT.read_text("utf-8"), count=1)
    DOCUMENT.write_text(_TABLE.sub(lambda _: table(), text, count=1), "utf-8")
