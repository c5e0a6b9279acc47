"""Sixty pictures in blocks of eight, and a library that knows them: made once, copied for each test."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent
from shared_work import draw_many, of_one_process, options_of, scanned

from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.pipeline import IndexOptions, plan_only


@pytest.fixture(autouse=True)
def small_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long."""
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)
    monkeypatch.setattr("indexer.embedding.sharing.STORE_SECONDS", 0.2)
    monkeypatch.setattr("indexer.embedding.plan_store._LONGEST_PAUSE", 0.1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pictures; no test changes them."""
    return draw_many(tmp_path_factory.mktemp("drawn") / "many", 60)


@pytest.fixture(scope="session")
def expected(many: Path, tiny_model: Path) -> dict[tuple[str, int], np.ndarray]:
    """Vectors of all pictures and names, as one process makes them."""
    return of_one_process(many.parent, many, tiny_model)


@pytest.fixture(scope="session")
def known(many: Path, tiny_model: Path) -> Path:
    """The folder of a library that knows them."""
    return scanned(many.parent / "known", options_of(many, tiny_model)).root


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def options(many: Path, tiny_model: Path, work: Path) -> IndexOptions:
    return options_of(many, tiny_model, work=str(work))


@pytest.fixture
def library(known: Path, tmp_path: Path) -> Library:
    return Library(Path(shutil.copytree(known, tmp_path / "library")))


@pytest.fixture
def other(known: Path, tmp_path: Path) -> Library:
    """Another library of the same pictures."""
    return Library(Path(shutil.copytree(known, tmp_path / "other")))


@pytest.fixture
def planned(library: Library, options: IndexOptions) -> Library:
    """A library whose plan lies in `work`."""
    plan_only(library, options, Silent())
    return library
