"""The documents show what really comes. `python tests/docs/test_searching_doc.py FOLDER` writes outputs anew.

Every line `$ icons ...` of a console block is run over the sample icons, in a folder with all that lies in docs/.
"""

import math
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from indexer.reports import terminal
from search.cli import main

ROOT = Path(__file__).parents[2]
_BLOCKS = {"searching": 8, "code": 4, "checking": 1, "screenshots": 3, "exporting": 2}
DOCUMENTS = {ROOT / "docs" / f"{name}.md": n for name, n in _BLOCKS.items()}
"""And how many blocks of commands each has at least."""
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN_ROOT = "~/icons"
_SCORE = re.compile(r"(?<![\w.])[01]\.\d\d(?!\w)")
_COSINE = re.compile(r"(?<![\w.])[01]\.\d\d\d(?!\w)")
_EVIDENCE = re.compile(r"[+-]\d+\.\d\d(?!\w)")
_PIXELS = re.compile(r"\b\d+(?=,\d+ )|(?<=\d,)\d+(?= )|\b\d+(?=x\d+ )|(?<=\dx)\d+(?= )")
_COUNT = re.compile(r"(?<=\bof )\d+")
CLOSE_ENOUGH = {
    _EVIDENCE: {"abs": 0.2},
    _SCORE: {"abs": 0.03},
    _COSINE: {"abs": 0.02},
    _COUNT: {"rel": 0.15},
    _PIXELS: {"abs": 1},
}
"""Scores differ in their last digits from processor to processor, and so does how many reach the least one."""


def index_samples(library: Path) -> Path:
    done = CliRunner().invoke(main, ["index", "--devices", "cpu", "--library", str(library)])
    assert done.exit_code == 0, done.output
    return library


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with what stands under it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def shown(line: str, library: Path) -> str:
    """What a line of commands prints in the end, each fed by the one before; stderr and all, as a document shows it."""
    line, _, file = line.partition(" < ")
    fed = Path(file).read_text("utf-8") if file else None
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_PATIENCE_SECONDS", "QUIET_SECONDS"):  # progress shows where a machine is slow
            patch.setattr(terminal, name, math.inf)
        for command in map(shlex.split, line.split(" | ")):
            assert command[0] == "icons", line
            done = CliRunner().invoke(main, command[1:], input=fed, env={"ICONS_LIBRARY": str(library)})
            fed = done.stdout
    lines = done.output.replace(str(ROOT), _SHOWN_ROOT).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def link_documents(folder: Path) -> None:
    """Let a folder hold what the examples name."""
    for path in (ROOT / "docs").iterdir():
        (folder / path.name).symlink_to(path)


@pytest.mark.parametrize(("document", "n_blocks"), DOCUMENTS.items(), ids=lambda given: getattr(given, "stem", ""))
def test_every_example_prints_what_the_document_shows(
    document: Path, n_blocks: int, bundled_samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link_documents(tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(document.read_text())
    assert len(blocks) >= n_blocks
    for command, written in (pair for block in blocks for pair in commands(block)):
        assert_shown(command, written, bundled_samples)


def assert_shown(command: str, written: str, library: Path) -> None:
    """What a command prints is what is written under it, figures about so."""
    now = shown(command, library)
    assert without_figures(now) == without_figures(written), command
    for numbers, bound in CLOSE_ENOUGH.items():
        known = [float(number) for number in numbers.findall(written)]
        assert [float(number) for number in numbers.findall(now)] == pytest.approx(known, **bound), command


def test_every_line_for_a_shell_has_options_that_exist() -> None:
    lines = [line for file in DOCUMENTS for block in _SHELL.findall(file.read_text()) for line in block.splitlines()]
    asked = [part for line in lines for part in re.findall(r"(?<![\w/-])icons (\w[^|<>#)]*)", line)]
    assert len(asked) >= 5
    root = click.Context(main, info_name="icons", **main.context_settings)
    for words in map(shlex.split, asked):
        main.get_command(root, words[0]).make_context(words[0], words[1:], parent=root, resilient_parsing=True)


def without_figures(text: str) -> str:
    """A text without scores and counts, and without what the length of a path or of a number changes."""
    for numbers in CLOSE_ENOUGH:
        text = numbers.sub("N", text)
    return re.sub(r"[ ]+", " ", text).strip()


if __name__ == "__main__":
    samples = index_samples(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as aside, chdir(aside):
        link_documents(Path(aside))

        def _run_again(block: re.Match[str]) -> str:
            parts = (f"$ {command}\n{shown(command, samples)}" for command, _ in commands(block[1]))
            return "```console\n" + "\n".join(parts) + "```"

        for document in DOCUMENTS:
            document.write_text(BLOCK.sub(_run_again, document.read_text()))
