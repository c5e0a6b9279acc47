"""Does docs/exporting.md show what really comes? `python tests/docs/test_exporting_doc.py` writes its outputs anew."""

import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_searching_doc import commands, index_samples

from search.cli import main
from search.drawings.collection import read_collection
from search.drawings.export import KINDS
from search.engine import SearchEngine

DOCUMENT = Path(__file__).parents[2] / "docs" / "exporting.md"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(line: str, library: Path) -> str:
    """What a line of commands prints in the end, each fed by the one before."""
    fed: str | None = None
    for command in line.split(" | "):
        words = shlex.split(command)
        assert words[0] == "icons", command
        done = CliRunner().invoke(main, words[1:], input=fed, env={"ICONS_LIBRARY": str(library)})
        assert done.exit_code == 0, done.output
        fed = done.stdout
    return done.output


def test_every_example_prints_what_the_document_shows(
    bundled_samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = _CONSOLE.findall(DOCUMENT.read_text("utf-8"))
    assert len(blocks) >= 2
    for line, written in (pair for block in blocks for pair in commands(block)):
        assert shown(line, bundled_samples) == written, line


def test_the_collection_that_is_shown_is_one(bundled_samples: Path) -> None:
    [text] = re.findall(r"```json\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    found, _ = read_collection(text.encode(), name="x")
    assert found.name == json.loads(text)["name"]
    engine = SearchEngine.open(bundled_samples)
    assert [engine.hits([engine.find(key)])[0].key for key in found.icons] == list(found.icons)


def test_the_example_in_python_runs(bundled_samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    exec(code.replace("~/.local/share/icons", str(bundled_samples)), {})
    assert capsys.readouterr().out.startswith("1 set settings-sprite.zip ")


def test_every_kind_is_told() -> None:
    table = DOCUMENT.read_text("utf-8")
    assert all(f"| `{kind}` |" in table for kind in KINDS)


def rewrite() -> None:
    """Run every example and put its output into the document."""
    library = index_samples(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def run_again(block: re.Match[str]) -> str:
            parts = (f"$ {line}\n{shown(line, library)}" for line, _ in commands(block[1]))
            return "```console\n" + "\n".join(parts) + "```"

        DOCUMENT.write_text(_CONSOLE.sub(run_again, DOCUMENT.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    rewrite()
