"""Every write, sync and rename of `icons usage add` fails, or is the last thing that happens: the old index answers."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from faults import Stages, copy_library
from usage_screens import save_screen

N_SAMPLED = 3
"""Operations that the gate tries; all of them are `slow`."""


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("screens")
    save_screen(folder / "a.png", ["house", "disc"])
    save_screen(folder / "b.png", ["disc"], shade=240)
    return folder


@pytest.fixture(scope="module")
def added(stages: Stages, grown: Path, screens: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that has seen screens, which have changed since."""
    library = copy_library(grown, tmp_path_factory.mktemp("added") / "library")
    assert stages.result("add shots", library, given={"shots": [str(screens)]})["indexed"] == 2
    save_screen(screens / "c.png", ["arrow-left", "arrow-left"], shade=230)
    (screens / "b.png").unlink()
    return library


def _sweep(stages: Stages, added: Path, screens: Path, folder: Path, *, n_sampled: int | None) -> None:
    given = {"given": {"shots": [str(screens)]}}
    before = stages.result("tell uses", added)
    whole = copy_library(added, folder / "whole")
    told: dict[str, Any] = stages.run("add shots", whole, **given)
    after, n_operations = stages.result("tell uses", whole), told["count"]
    assert (len(before), len(after), before != after) == (3, 4, True)
    step = max(1, n_operations // n_sampled) if n_sampled else 1
    for number, at in enumerate(range(1 + step // 2, n_operations + 1, step)):
        mode = ("kill", "error", "full")[number % 3]
        library = copy_library(added, folder / "library")
        ended = stages.run("add shots", library, mode=mode, at=at, **given)
        where = f"{mode} at {at} of {n_operations}"
        assert "defect" not in ended, f"{where}: {ended['defect']}"
        if mode == "kill":
            assert os.WIFSIGNALED(ended["status"]), where
        assert stages.result("tell uses", library) in (before, after), where
        assert stages.result("add shots", library, **given)["indexed"] == 2, where
        assert stages.result("tell uses", library) == after, where
        assert list(library.rglob(".aside-*")) == [], where
        shutil.rmtree(library)


@pytest.mark.slow
def test_a_run_that_ends_at_some_operation_leaves_an_index_that_answers_and_the_next_one_finishes(
    stages: Stages, added: Path, screens: Path, tmp_path: Path
) -> None:
    _sweep(stages, added, screens, tmp_path, n_sampled=N_SAMPLED)


@pytest.mark.slow
def test_a_run_that_ends_at_any_operation_leaves_an_index_that_answers_and_the_next_one_finishes(
    stages: Stages, added: Path, screens: Path, tmp_path: Path
) -> None:
    _sweep(stages, added, screens, tmp_path, n_sampled=None)
