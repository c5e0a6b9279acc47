import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from indexer.catalog.database import open_catalog
from indexer.embedding import exporting as module
from indexer.embedding.exporting import TITLE, export_missing, exporting
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.query_encoder import OnnxQueryEncoder, open_query_encoder
from indexer.library.folder import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "library")


@pytest.fixture
def engine(library: Library) -> Iterator[Engine]:
    library.root.mkdir()
    engine = open_catalog(library.catalog)
    yield engine
    engine.dispose()


def folder_of(library: Library, choice: ModelChoice) -> Path:
    return library.encoder(find_checkpoint(choice).fingerprint)


def test_graphs_are_carried_beside_the_ranks(library: Library, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    choice, said, in_block = ModelChoice.bundled(), list[str](), threading.Event()
    carry = module.carry

    def carry_late(*given: object, **more: object) -> None:
        assert in_block.wait(60)
        carry(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "carry", carry_late)
    with exporting(library, engine, choice, beside_gpus=False, stage=said.append):
        assert not folder_of(library, choice).exists()
        in_block.set()
    assert isinstance(open_query_encoder(folder_of(library, choice)), OnnxQueryEncoder)
    with exporting(library, engine, choice, beside_gpus=False, stage=said.append):
        pass
    assert not export_missing(library, engine, choice, stage=said.append)
    assert said == [TITLE]


def test_what_fails_beside_the_ranks_is_raised_behind_them(
    library: Library, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no room left")

    monkeypatch.setattr(module, "carry", fail)
    done = []
    with (
        pytest.raises(OSError, match="no room left"),
        exporting(library, engine, ModelChoice.bundled(), beside_gpus=False, stage=done.append),
    ):
        done.append("embedded")
    assert done == [TITLE, "embedded"]


@pytest.mark.slow
@pytest.mark.parametrize("beside_gpus", [False, True])
def test_a_model_without_graphs_is_exported_before_the_ranks_or_in_a_process_beside_gpus(
    library: Library, engine: Engine, tiny_model: Path, beside_gpus: bool
) -> None:
    choice = ModelChoice(f"local-dir:{tiny_model}")
    with exporting(library, engine, choice, beside_gpus=beside_gpus, stage=lambda _: None):
        assert folder_of(library, choice).exists() == (not beside_gpus)
    assert isinstance(open_query_encoder(folder_of(library, choice)), OnnxQueryEncoder)


def test_where_ranks_fail_the_process_beside_them_ends(
    library: Library, engine: Engine, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Slow(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, _: object, **how: Any) -> None:
            super().__init__(["sleep", "600"], **how)
            started.append(self)

    monkeypatch.setattr(module.subprocess, "Popen", Slow)
    with (
        pytest.raises(KeyboardInterrupt),
        exporting(library, engine, ModelChoice(f"local-dir:{tiny_model}"), beside_gpus=True, stage=lambda _: None),
    ):
        raise KeyboardInterrupt
    assert [process.returncode for process in started] == [-signal.SIGKILL]
