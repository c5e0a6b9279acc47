"""A rank that hangs is given up, with its name and what it was at; a rank loads no more than it needs."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from lessons import tiny_options

from indexer.embedding.distributed import Rank, Ranks
from indexer.embedding.progress import Overseer, Reporter, Watchdog
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Devices
from indexer.errors import TrainError
from indexer.finetune import rank as rank_module
from indexer.finetune.options import Places
from indexer.finetune.session import Request, prepare, working
from indexer.finetune.watch import TrainingProgress, TrainingView
from indexer.library.folder import Library


def prepared(icons: Path, start: Path, out: Path, *, ranks: int, **chosen: object) -> Places:
    """A plan for the ranks of a short training."""
    options = tiny_options(steps=4, held_out=5, validate_steps=4, **chosen)
    choice = ModelChoice(f"local-dir:{start}")
    request = Request(
        out, sources=(icons,), library=Library(out.parent / "library"), choice=choice, options=options, workers=0
    )
    with TrainingView() as view, working(request) as places:
        prepare(request, places, Devices("cpu", ranks), view)
    return places


@pytest.mark.slow
def test_a_rank_that_hangs_is_named_with_what_it_was_at(
    icons: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = prepared(icons, start, tmp_path / "mine", ranks=2, stall_limit=1.5)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]))
    with Ranks("hanging", "--out", str(places.out), devices=Devices("cpu", 2), folder=places.work) as ranks:
        assert ranks.follow() == ("rank 1: nothing got done for 1.5 s, at reading step 2; --stall-limit allows more"), (
            ranks.log.read_text()
        )


def test_a_rank_that_waits_is_given_up_later_than_one_that_is_alone_at_something() -> None:
    told: list[TrainingProgress] = []
    alone, waiting = (Reporter(told.append, TrainingProgress(number, 2)) for number in range(2))
    watchdog = Watchdog(limit=600.0, waiting_limit=1200.0)
    alone.begin("reading step 3")
    waiting.join("step 2")
    seconds, found = 0.0, None
    while found is None:
        watchdog._looked -= 1.0  # a second has passed
        seconds += 1.0
        found = watchdog.look([waiting.progress, alone.progress])
    assert found == (0, "nothing got done for 600 s, at reading step 3; --stall-limit allows more")
    alone.join("step 3")
    for _ in range(1300):
        watchdog._looked -= 1.0
        waiting.live()
        if found := watchdog.look([waiting.progress, alone.progress]):
            break
    assert found == (
        0,
        "nothing got done for 1200 s, at step 3, together with the other ranks; --stall-limit allows more",
    )


def test_a_collective_operation_may_take_longer_than_all_that_is_watched(
    icons: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else NCCL would end a rank, without a word of what it was at, before the one that hangs is named."""
    places = prepared(icons, start, tmp_path / "mine", ranks=2, stall_limit=70, backend="nccl")
    joined: list[tuple[str, timedelta]] = []

    def join(backend: str, *, timeout: timedelta, **_: object) -> None:
        joined.append((backend, timeout))
        raise TrainError("joined")

    monkeypatch.setattr("torch.distributed.init_process_group", join)
    monkeypatch.setattr(rank_module, "share_cores", lambda rank: None)
    with pytest.raises(TrainError, match=r"^joined$"):
        rank_module.run_rank(
            places, rank=Rank(0, 0, 2), device=torch.device("cpu"), resume=False, report=print, give_up=print
        )
    assert joined == [("nccl", timedelta(seconds=rank_module.COLLECTIVE_FACTOR * 70))]
    assert rank_module.COLLECTIVE_FACTOR > rank_module.JOINT_FACTOR > 1


def test_a_rank_that_never_began_is_named_from_outside() -> None:
    overseer = Overseer(2, limit=-1000.0)
    assert overseer.look([TrainingProgress(0, 2, waits=True)]) == (
        "rank 1: nothing got done for -880 s, at starting; --stall-limit allows more"
    )


@pytest.mark.slow
def test_a_rank_trains_without_faiss_web_server_and_catalog(icons: Path, start: Path, tmp_path: Path) -> None:
    """As on a bare machine that has torch and open_clip: what is not there can't be imported."""
    places = prepared(icons, start, tmp_path / "mine", ranks=1)
    lacking = ("faiss", "fastapi", "starlette", "uvicorn", "mcp", "sqlalchemy", "alembic", "onnxruntime", "pyvips")
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({lacking}))\n"
        "from indexer.finetune.rank import main; main(sys.argv[1:])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", script, "--out", str(places.out)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert places.result.is_file()
