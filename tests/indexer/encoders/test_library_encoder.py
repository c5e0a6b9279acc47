"""The query encoder comes into a library beside the ranks, or after all else; searches go through torch meanwhile."""

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import Build

from indexer.encoders import library_encoder as module
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.library_encoder import TITLE, carrying, export_missing, open_encoder
from indexer.encoders.query_encoder import OnnxQueryEncoder, TorchQueryEncoder, open_query_encoder
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.pipeline import merge
from search.engine import SearchEngine

BUNDLED = ModelChoice.bundled()


def folder_of(library: Library, choice: ModelChoice) -> Path:
    return library.encoder(find_checkpoint(choice).fingerprint)


def test_graphs_are_carried_beside_the_ranks(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    said, in_block, carry = list[str](), threading.Event(), module.carry

    def carry_late(*given: object, **more: object) -> None:
        assert in_block.wait(60)
        carry(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "carry", carry_late)
    with carrying(library, BUNDLED, stage=said.append):
        assert not folder_of(library, BUNDLED).exists()
        in_block.set()
    assert isinstance(open_query_encoder(folder_of(library, BUNDLED)), OnnxQueryEncoder)
    assert not export_missing(library, BUNDLED, stage=said.append)
    assert said == [TITLE]


def test_what_fails_beside_the_ranks_is_raised_behind_them(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no room left")

    monkeypatch.setattr(module, "carry", fail)
    done = []
    with pytest.raises(OSError, match="no room left"), carrying(library, BUNDLED, stage=done.append):
        done.append("embedded")
    assert done == [TITLE, "embedded"]


@pytest.fixture
def published(
    build: Build, library: Library, icon_folder: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Library, ModelChoice, list[str]]:
    """A library whose export was interrupted as soon as it began, and what it had said by then."""
    model, said = tmp_path / "elsewhere" / "model", list[str]()
    model.parent.mkdir()
    model.symlink_to(tiny_model)  # not exported yet

    class Interrupted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, _: object, **how: Any) -> None:
            said.append(f"generation {library.current()} answers")
            super().__init__(["sh", "-c", "sleep 1; kill -INT $PPID; exec sleep 600"], **how)
            said.append(str(self.pid))

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(module.subprocess, "Popen", Interrupted)
        build(icon_folder, model=model)
    return library, ModelChoice(f"local-dir:{model}"), said


def test_a_library_is_published_before_its_export_and_answers_through_torch_until_then(
    published: tuple[Library, ModelChoice, list[str]],
) -> None:
    library, choice, said = published
    assert said[0] == "generation 1 answers"
    with pytest.raises(ProcessLookupError):
        os.kill(int(said[1]), 0)
    assert isinstance(open_encoder(library, find_checkpoint(choice).fingerprint), TorchQueryEncoder)
    with pytest.warns(UserWarning, match=r"through torch, .*: its export is not there yet; .* encoder in use"):
        through_torch = SearchEngine.open(library.root).search("arrow")
    stages: list[str] = []
    assert merge(library, None, stages.append) is None, "there is nothing new but the export"
    assert stages[0] == TITLE and stages[-1].startswith(f"{TITLE}: comparing")
    assert isinstance(open_encoder(library, folder_of(library, choice).name), OnnxQueryEncoder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SearchEngine.open(library.root).search("arrow")
    assert [hit.name for hit in found] == [hit.name for hit in through_torch]


def test_an_export_that_fails_is_told_with_its_last_words(
    library: Library, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = subprocess.Popen
    monkeypatch.setattr(
        module.subprocess, "Popen", lambda _, **how: start(["sh", "-c", "echo no room left; exit 1"], **how)
    )
    with pytest.raises(EmbedError, match=r"could not be exported \(no room left\); searches go through torch"):
        export_missing(library, ModelChoice(f"local-dir:{tiny_model}"), stage=lambda _: None)


SLOW = """
import sys, time
import indexer.encoders.library_encoder as module

start = module.subprocess.Popen
module.subprocess.Popen = lambda _, **how: start(["sh", "-c", "echo '{title}: tracing'; sleep 11"], **how)
from search.cli import main
where = ["--library", {library!r}, "--devices", "cpu", "--workers", "0"]
main(["index", {source!r}, "--model", "local-dir:{model}", *where])
"""


@pytest.mark.slow
def test_no_gap_between_two_lines_is_longer_than_five_seconds(
    tmp_path: Path, icon_folder: Path, tiny_model: Path
) -> None:
    """With an encoder whose export is slow, into a pipe; a line is due every 4 s, and none is left out."""
    code = SLOW.format(title=TITLE, source=str(icon_folder), library=str(tmp_path / "library"), model=tiny_model)
    gaps, lines, at = list[float](), list[str](), time.monotonic()
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            before, at = at, time.monotonic()
            gaps.append(at - before)
            lines.append(line.rstrip())
    assert process.returncode == 0, lines
    begun = lines.index("Looking at sources") + 1
    assert max(gaps[begun:]) < 8, list(zip(gaps, lines, strict=True))  # on a busy machine the reader comes late
    reminders = [line for line in lines if line.startswith(f"  {TITLE}: tracing (")]
    assert reminders[0] == f"  {TITLE}: tracing (4 s)" and len(reminders) >= 2, lines
