"""What can be seen of a run, and who is given up; where ranks start, and what they load."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from lessons import tiny_options

from indexer.embedding.progress import Reporter, Watchdog
from indexer.encoders import devices as devices_
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Devices, Gpus
from indexer.errors import TrainError
from indexer.finetune import session
from indexer.finetune.options import Places, TrainingProgress, TrainingView
from indexer.finetune.session import Request, prepare, working
from indexer.finetune.watch import StepClock
from indexer.library.folder import Library
from indexer.ranks import Ranks


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
    alone, waiting = (Reporter(lambda _: None, TrainingProgress(number, 2)) for number in range(2))
    watchdog = Watchdog(limit=600.0, waiting_limit=1200.0)

    def found_of(*living: Reporter[TrainingProgress]) -> tuple[int, str] | None:
        for _ in range(1300):
            watchdog._looked -= 1.0  # a second has passed
            for reporter in living:
                reporter.live()
            if found := watchdog.look([waiting.progress, alone.progress]):
                return found
        return None

    alone.begin("reading step 3")
    waiting.join("step 2")
    assert found_of() == (0, "nothing got done for 600 s, at reading step 3; --stall-limit allows more")
    alone.join("step 3")
    why = "nothing got done for 1200 s, at step 3, together with the other ranks; --stall-limit allows more"
    assert found_of(waiting) == (0, why)


def test_a_rank_that_never_began_is_named_from_outside() -> None:
    found = Watchdog(limit=-1000.0, n=2).look([TrainingProgress(0, 2, waits=True)])
    assert found == (1, "nothing got done for -880 s, at starting; --stall-limit allows more")


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


@pytest.mark.parametrize(("devices", "where"), [("3,", "cuda:3"), ("3,1", "7,5")])
def test_training_runs_on_the_gpus_that_were_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str, where: str
) -> None:
    def show(*_: object, device: Any = None, devices: Any = None, **__: object) -> None:
        raise TrainError(str(device) if device else devices.visible)

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
    monkeypatch.setattr(devices_, "find_gpus", lambda: Gpus(4, (0, 1, 2, 3)))
    for name, played in (("prepare", print), ("_describe", print), ("run_rank", show), ("Ranks", show)):
        monkeypatch.setattr(session, name, played)
    viewer: Any = SimpleNamespace(stage=lambda *_: None)
    with pytest.raises(TrainError, match=f"^{where}$"):
        session.finetune(Request(tmp_path / "out"), devices=devices, viewer=viewer)


def test_a_gpu_waits_where_a_step_that_was_held_back_shows_that_it_needs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    event = SimpleNamespace(record=lambda _: None, query=lambda: True, elapsed_time=lambda _: 40.0)
    for name, played in (("Event", event), ("device", nullcontext()), ("current_stream", None), ("_sleep", None)):
        monkeypatch.setattr(torch.cuda, name, lambda *_, played=played, **__: played)
    clock = StepClock(torch.device("cuda"))
    for _ in range(10):
        with clock.timed():
            pass
    assert clock.waited(1.0) == pytest.approx(0.6)
