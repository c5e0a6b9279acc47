"""Every write, sync and rename of a stage fails, or is the last thing that happens: nothing is lost or half done."""

import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from disk import Disk, read_journal, write_state
from faults import Stages, copy_library
from old_schema import migrate

Mode = Literal["error", "full", "kill"]
MODES: tuple[Mode, ...] = ("error", "full", "kill")


@dataclass(frozen=True)
class Scene:
    """A stage on a library, and what it is without any fault."""

    stage: str
    start: Path
    given: dict[str, Any]
    index: dict[str, Any]
    n_operations: int
    journal: Path
    before: object
    after: object
    whole: object


def _hits(stages: Stages, library: Path) -> object:
    if not any((library / "generations").glob("[0-9]*")):
        return None
    return stages.result("answer", library)["hits"]


def _scene(stages: Stages, stage: str, start: Path, index: dict[str, Any], folder: Path) -> Scene:
    """Run a stage without any fault, then an index, and keep what both lead to."""
    library, journal = copy_library(start, folder / "undisturbed"), folder / "journal"
    given = index if stage == "index" else {}
    told = stages.run(stage, library, given=given, journal=str(journal))
    assert "result" in told, told
    after = _hits(stages, library)
    stages.result("index", library, given=index)
    whole = stages.result("dump", library)
    shutil.rmtree(library)
    return Scene(stage, start, given, index, told["count"], journal, _hits(stages, start), after, whole)


@pytest.fixture(scope="module")
def index_given(drawings: Path, tiny_model: Path) -> dict[str, Any]:
    return {"sources": [str(drawings)], "model": str(tiny_model)}


@pytest.fixture(
    scope="module",
    params=[
        "index",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("first index", "rollback", "upgrade")),
    ],
)
def scene(
    request: pytest.FixtureRequest,
    stages: Stages,
    grown: Path,
    index_given: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    if request.param in ("index", "rollback"):
        return _scene(stages, request.param, grown, index_given, folder)
    start = folder / "start"
    start.mkdir()
    if request.param == "upgrade":
        migrate(start / "catalog.sqlite", "upgrade", "0001")
        return _scene(stages, "upgrade", start, index_given, folder)
    return _scene(stages, "index", start, index_given, folder)


def _disturb(stages: Stages, scene: Scene, library: Path, *, mode: Mode, at: int) -> None:
    told = stages.run(scene.stage, library, given=scene.given, mode=mode, at=at)
    assert "defect" not in told, f"{mode} at {at}: {told['defect']}"
    if mode == "kill":
        assert os.WIFSIGNALED(told["status"]) or told["count"] < at


def _check(stages: Stages, scene: Scene, library: Path, where: str, *, answers: bool = True) -> None:
    """Hold what is left of a library against the promises; `answers`: it must answer as before or as after."""
    assert not answers or _hits(stages, library) in (scene.before, scene.after), (
        f"{where}: neither the old answers nor the new ones"
    )
    faults = stages.run("examine", library)
    is_none_yet = "no library at" in faults.get("refusal", "") and not any(library.glob("generations/*"))
    assert is_none_yet or [one for one in faults.get("result", [faults]) if 'has schema "0001"' not in one] == [], (
        f"{where}: {faults}"
    )
    again = stages.run("index", library, given=scene.index)
    assert "result" in again, f"{where}: {again}"
    dumps = [stages.result("dump", library), scene.whole]
    difference = _difference(*(dumps if answers else map(_without_runs, dumps)))
    assert not difference, f"{where}: {difference}"
    folders = (library, library / "generations", library / "encoders")
    assert [path for folder in folders for path in folder.glob(".aside-*")] == [], where


def _without_runs(dump: Any) -> Any:
    """A dump without what a further run leaves behind: its own line, and how often something has changed."""
    kept = {part: {**dump[part]} for part in ("catalog", "snapshot")}
    for tables in kept.values():
        for name in ("runs", "sqlite_sequence", "settings"):
            del tables[name]
    return {**dump, **kept}


def _difference(found: Any, expected: Any) -> Any:
    """What differs between two dumps, as pairs."""
    if not isinstance(found, dict) or not isinstance(expected, dict):
        return None if found == expected else (found, expected)
    parts = {key: _difference(found.get(key), expected.get(key)) for key in {**found, **expected}}
    return {key: part for key, part in parts.items() if part}


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["error", pytest.param("full", marks=pytest.mark.slow), "kill"])
def test_a_stage_that_fails_or_ends_at_some_operation_leaves_a_whole_library(
    stages: Stages, scene: Scene, tmp_path: Path, mode: Mode, every: bool
) -> None:
    """In the gate at one operation, another one in each mode."""
    for at in range(1, scene.n_operations + 1) if every else [1 + MODES.index(mode) * scene.n_operations // len(MODES)]:
        library = copy_library(scene.start, tmp_path / "library")
        _disturb(stages, scene, library, mode=mode, at=at)
        _check(stages, scene, library, f"{scene.stage}, {mode} at {at} of {scene.n_operations}")
        shutil.rmtree(library)


@pytest.mark.slow
@pytest.mark.parametrize("names_kept", [False, True])
def test_what_was_not_synced_may_be_lost_at_any_operation(
    stages: Stages, scene: Scene, tmp_path: Path, names_kept: bool
) -> None:
    """All different states that a disk can be in after a power cut."""
    library, journal = copy_library(scene.start, tmp_path / "undisturbed"), tmp_path / "journal"
    stages.run(scene.stage, library, given=scene.given, journal=str(journal))
    shutil.rmtree(library)
    disk = Disk(copy_library(scene.start, library))
    last = disk.state(names_kept=names_kept)
    for operation in read_journal(journal):
        disk.apply(operation)
        if (state := disk.state(names_kept=names_kept)) != last:
            last = state
            write_state(state, tmp_path / "left")
            where = f"{scene.stage}, power cut after {operation.number} of {scene.n_operations}"
            _check(stages, scene, tmp_path / "left", where)


@pytest.fixture(scope="module")
def busy(stages: Stages, grown: Path, index_given: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """An index run that renders in a worker process."""
    return _scene(stages, "index", grown, {**index_given, "workers": 1}, tmp_path_factory.mktemp("busy"))


@pytest.mark.slow
@pytest.mark.parametrize("n_kills", [3, 1000])
def test_a_run_that_is_killed_at_random_times_leaves_a_whole_library(
    stages: Stages, busy: Scene, tmp_path: Path, n_kills: int
) -> None:
    """The run, its render worker, or both."""
    rng = random.Random(n_kills)
    seconds = stages.run("index", copy_library(busy.start, tmp_path / "library"), given=busy.given)["seconds"]
    for number in range(n_kills):
        library = copy_library(busy.start, tmp_path / "library")
        whom, after = rng.choice(["parent", "parent", "all", "workers"]), rng.uniform(0.01, seconds)
        ended = stages.run("index", library, given=busy.given, whom=whom, after=after)
        where = f"kill {number} of {n_kills}: {whom} after {after:.3f} s"
        assert "defect" not in ended, f"{where}: {ended['defect']}"
        # A picture that was being drawn while the worker was killed fails, and is tried again by the next run.
        _check(stages, busy, library, where, answers=whom != "workers")
