"""Do the three tasks of docs/tasks.md end as it shows?

`PYTHONPATH=tests python tests/docs/test_tasks_doc.py` writes all of it anew.

The environment names a folder of npm packages (ICONS_NODE_MODULES):
`npm install @iconify-json/fa6-solid @iconify-json/lucide ionicons@8.1.0`.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from node_packages import node_modules
from test_docs import CALL, heard, laid_out, without_scores
from test_searching_doc import BLOCK, assert_shown, commands, shown

from search.cli import main
from search.engine import SearchEngine

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = DOCS / "tasks.md"


@contextmanager
def _at_work(folder: Path) -> Iterator[Path]:
    """The library of the tasks, asked in a folder that holds what they begin with."""
    packages = node_modules()
    for name in ("needs.txt", "names.txt"):
        shutil.copy(DOCS / name, folder)
    (folder / "node_modules").symlink_to(packages)
    library = folder / "library"
    sources = [f"{packages}/@iconify-json/{key}" for key in ("fa6-solid", "lucide")]
    done = CliRunner().invoke(main, ["index", *sources, "--devices", "cpu", "--library", str(library)])
    assert done.exit_code == 0, done.output
    with chdir(folder):
        yield library


@pytest.mark.slow
def test_the_tasks_end_as_the_document_shows(tmp_path: Path) -> None:
    text = DOCUMENT.read_text("utf-8")
    with _at_work(tmp_path) as library:
        run = [pair for block in BLOCK.findall(text) for pair in commands(block)]
        assert len(run) == 3
        for command, written in run:
            assert_shown(command, written, library)
        [(tool, arguments, answer)] = CALL.findall(text)
        assert without_scores(heard(SearchEngine.open(library), tool, json.loads(arguments))) == without_scores(
            json.loads(answer)
        ), tool


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as aside, _at_work(Path(aside)) as opened:

        def _ran(block: re.Match[str]) -> str:
            parts = (f"$ {command}\n{shown(command, opened)}" for command, _ in commands(block[1]))
            return f"```console\n{''.join(parts)}```"

        def _heard(call: re.Match[str]) -> str:
            answer = laid_out(heard(SearchEngine.open(opened), call[1], json.loads(call[2])))
            return f"```call\n{call[1]} {call[2]}\n```\n\n```answer\n{answer}\n```"

        DOCUMENT.write_text(CALL.sub(_heard, BLOCK.sub(_ran, DOCUMENT.read_text("utf-8"))), "utf-8")
