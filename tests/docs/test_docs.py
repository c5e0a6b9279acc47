"""Docs say what is so: links, and commands of pages run as written."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
from PIL import Image, ImageDraw
from serving import index_icons, serving
from tools import lacking

from data.making.commands import commands, reference
from data.making.model.words import WORDS
from indexer.sources.npm import PACKAGES
from search.assistant.server import create_assistant
from search.drawings.export import KINDS
from search.drawings.licences import read_collection
from search.engine import SearchEngine
from search.web.answers import HitAnswer
from search.web.parameters import SearchParameters

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


DOCUMENT = Path(__file__).parents[2] / "docs" / "assistants.md"
CALL = re.compile(r"```call\n(\w+) (\{.*?\})\n```\n\n```answer\n(.*?)```", re.DOTALL)
_MEASURED = ("score", "n_found", "box")
_TOOL = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def heard(engine: SearchEngine, tool: str, arguments: dict[str, Any]) -> Any:
    """What a tool answers, code as its lines."""
    [content] = asyncio.run(create_assistant(engine).call_tool(tool, arguments)).content
    answer = json.loads(content.text)
    if "code" in answer:
        answer["code"] = answer["code"].split("\n")
    return answer


def without_scores(answer: Any) -> Any:
    """What must be the same; the last digits of scores and the edges of boxes need not."""
    if isinstance(answer, list):
        return [without_scores(part) for part in answer]
    is_object = isinstance(answer, dict)
    return {k: without_scores(part) for k, part in answer.items() if k not in _MEASURED} if is_object else answer


def laid_out(answer: dict[str, Any]) -> str:
    """A line a value, and of a list a line each of its parts."""
    parts = []
    for name, value in answer.items():
        lines = [json.dumps(part, ensure_ascii=False) for part in value] if isinstance(value, list) else []
        inside = ",\n".join(f"  {line}" for line in lines)
        written = f"[\n{inside}\n ]" if lines else json.dumps(value, ensure_ascii=False)
        parts.append(f' "{name}": {written}')
    return "{\n" + ",\n".join(parts) + "\n}"


def test_every_call_is_answered_as_the_document_shows(bundled_samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCUMENT.parents[1])  # pictures are named as they lie there
    engine = SearchEngine.open(bundled_samples)
    calls = CALL.findall(DOCUMENT.read_text("utf-8"))
    assert len(calls) == 4
    for tool, arguments, answer in calls:
        assert without_scores(heard(engine, tool, json.loads(arguments))) == without_scores(json.loads(answer)), tool


def test_the_table_names_every_tool() -> None:
    server = create_assistant(SearchEngine.__new__(SearchEngine))
    assert sorted(_TOOL.findall(DOCUMENT.read_text("utf-8"))) == sorted(
        [tool.name for tool in asyncio.run(server.list_tools())]
    )


PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")
EXAMPLES = re.findall(r"^curl .*$", PAGE, re.MULTILINE)


def test_every_example_is_answered(tmp_path: Path, tiny_model: Path) -> None:
    if shutil.which("curl") is None:
        lacking("curl is not installed")
    library = index_icons(tmp_path, tiny_model)
    shot = Image.new("RGB", (200, 120), "white")
    ImageDraw.Draw(shot).ellipse((60, 20, 140, 100), fill="black")
    for name in ("shot.png", "screen.png"):
        shot.save(tmp_path / name)
    assert len(EXAMPLES) >= 13
    with serving(library) as (client, _):
        for example in EXAMPLES:
            command = example.replace("http://127.0.0.1:8000", str(client.base_url).rstrip("/"))
            command = command.replace("style=filled", "set=icons")
            status = f"{command} --silent --show-error --output {tmp_path}/answer --write-out '%{{http_code}}'"
            status = re.sub(r"--output icons?\.\w+", "", status)
            done = subprocess.run(status, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
            assert done.stdout == "200", f"{example}: {(tmp_path / 'answer').read_text()}"
            assert (tmp_path / "answer").stat().st_size


def test_the_hit_that_is_shown_has_the_fields_of_a_hit() -> None:
    [shown] = re.findall(r"```json\n(\{\"id\".*?)\n```", PAGE, re.DOTALL)
    assert list(json.loads(shown)) == [field.name for field in fields(HitAnswer)]


def test_every_parameter_of_a_search_is_told() -> None:
    assert {field.alias or name for name, field in SearchParameters.model_fields.items()} <= set(
        re.findall(r"`([a-z_]+)`", PAGE)
    )


if __name__ == "__main__":
    opened = SearchEngine.open(sys.argv[1])

    def _anew(found: re.Match[str]) -> str:
        answer = laid_out(heard(opened, found[1], json.loads(found[2])))
        return f"```call\n{found[1]} {found[2]}\n```\n\n```answer\n{answer}\n```"

    DOCUMENT.write_text(CALL.sub(_anew, DOCUMENT.read_text("utf-8")), "utf-8")
