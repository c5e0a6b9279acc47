"""What README, the command reference and docs/exporting.md say is there; links and promised tests lead somewhere."""

import json
import re
from pathlib import Path

import click
import pytest

from data.making.commands import commands, reference
from data.making.model.words import WORDS
from indexer.sources.npm import PACKAGES
from search.drawings.collection import read_collection
from search.drawings.export import KINDS
from search.engine import SearchEngine

ROOT = Path(__file__).parents[2]
EXPORTING = (ROOT / "docs" / "exporting.md").read_text("utf-8")
COMMANDS = {context.command_path: command for command, context in commands()}


def test_the_command_reference_is_what_the_help_says() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == reference(), (
        "python -m data.making.commands > docs/commands.md"
    )


def test_every_command_shows_an_example() -> None:
    assert len(COMMANDS) > 30
    for path, command in COMMANDS.items():
        if not command.hidden and path != "icons completion":
            assert f"      {path}" in (command.help or ""), path


def test_help_fits_sixty_columns() -> None:
    for command, context in commands():
        narrow = click.Context(command, info_name=context.info_name, parent=context.parent, terminal_width=60)
        assert [line for line in command.get_help(narrow).splitlines() if len(line) > 60] == [], context.command_path


def test_every_command_in_the_readme_exists() -> None:
    used = re.findall(
        r"^\s*(?:\S+ && )*(icons [a-z]+(?: [a-z]+)?(?: [a-z]+)?)", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(used) > 30
    groups = {path.rpartition(" ")[0] for path in COMMANDS} - {"icons"}
    for line in used:
        words = line.split()
        known = [" ".join(words[:n]) for n in (4, 3, 2) if " ".join(words[:n]) in COMMANDS | dict.fromkeys(groups)]
        assert known and known[0] != "icons lab", line


def test_every_test_that_holds_a_promise_exists() -> None:
    promised = set(re.findall(r"`(test_\w+)`", (ROOT / "tests" / "README.md").read_text()))
    there = {
        name for file in (ROOT / "tests").rglob("*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert len(promised) > 100 and promised <= there


def test_links_in_the_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_packages_that_training_takes_words_from_are_known_to_bring_some() -> None:
    readme = (ROOT / "data" / "making" / "README.md").read_text()
    [line] = re.findall(r"npm install --prefix words --ignore-scripts ((?:.*\\\n)*.*)\n", readme)
    named = {re.sub(r"(?<=.)@.*", "", name) for name in line.replace("\\\n", " ").split()}
    known = {name for name, package in (PACKAGES | WORDS).items() if package.tags_files}
    assert len(named) > 10 and named - known == {"@openstreetmap/id-tagging-schema"}


def test_the_collection_that_is_shown_is_one(bundled_samples: Path) -> None:
    [text] = re.findall(r"```json\n(.*?)```", EXPORTING, re.DOTALL)
    found, _ = read_collection(text.encode(), name="x")
    assert found.name == json.loads(text)["name"]
    engine = SearchEngine.open(bundled_samples)
    assert [engine.hits([engine.find(key)])[0].key for key in found.icons] == list(found.icons)


def test_the_example_in_python_runs(bundled_samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", EXPORTING, re.DOTALL)
    exec(code.replace("~/.local/share/icons", str(bundled_samples)), {})
    assert capsys.readouterr().out.startswith("1 set settings-sprite.zip ")


def test_every_kind_is_told() -> None:
    assert all(f"| `{kind}` |" in EXPORTING for kind in KINDS)
