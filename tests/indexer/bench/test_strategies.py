"""Every way to compute gives the vectors of the encoder; every process of a trial ends with it."""

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from indexer.bench.trials.apart import Apart
from indexer.bench.trials.feeds import StageClock, from_files, opened_here, rendered_here
from indexer.bench.trials.knobs import NAIVE, Knobs
from indexer.bench.trials.loop import Loop
from indexer.bench.trials.material import Material, gather, png_files, read_jobs, write_files
from indexer.bench.trials.strategies import Replicas, load_tower, make_compute
from indexer.bench.trials.trial import STAGES, Measured, Trial, merged
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder
from indexer.errors import BenchError
from indexer.ranks.distributed import Rank
from indexer.sources.records import content_digest

CPU = torch.device("cpu")


@pytest.fixture
def material(tmp_path: Path, tiny_model: Path) -> Material:
    return gather(tmp_path / "material", None, choice=ModelChoice(f"local-dir:{tiny_model}"), n_images=20)


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _trial(material: Material, knobs: Knobs, **facts: object) -> Trial:
    cores = tuple(sorted(os.sched_getaffinity(0)))[:2]
    return Trial(knobs, material, "cpu", cores, 20, **facts)  # type: ignore[arg-type]


def test_what_can_not_be_drawn_is_left_out(material: Material, tmp_path: Path) -> None:
    content = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"/>'
    (tmp_path / "blank.svg").write_text(content)
    jobs = read_jobs(material, 3)
    blank = jobs[0]._replace(location=str(tmp_path), path="blank.svg", member="", kind="folder")
    blank = blank._replace(digest=content_digest(content.encode()))
    drawn = list(rendered_here([jobs[0], blank, blank, jobs[2]], size=32, batch=2, clock=StageClock()))
    assert [len(batch) for batch in drawn] == [1, 1]


@pytest.mark.parametrize(
    "knobs",
    [
        Knobs(path="loop", precision="fp32"),
        Knobs(path="loop", precision="fp32", copy="item"),
        Knobs(path="loop", precision="fp32", channels_last=False),
        Knobs(path="loop", precision="fp64"),
        Knobs(path="loop", precision="fp32", strategy="threads", devices=2),
        Knobs(path="loop", precision="bf16"),
    ],
    ids=lambda knobs: knobs.label(),
)
def test_every_way_to_compute_gives_the_vectors_of_the_encoder(material: Material, knobs: Knobs) -> None:
    trial = _trial(material, knobs)
    checkpoint = find_checkpoint(material.choice)
    encoder = Encoder(checkpoint, device=CPU, precision="fp32")
    pixels = next(iter(rendered_here(read_jobs(material, 20), size=32, batch=20, clock=StageClock())))
    tower, _, precision = load_tower(trial, CPU)
    compute = make_compute(trial, tower, precision, CPU, batch=20)
    found = compute.copy_out(compute.forward(compute.copy_in(pixels))).astype(np.float32)
    wanted = encoder.encode_images(pixels.numpy()).astype(np.float32)
    assert found.shape == (20, 32)
    assert np.abs(found - wanted).max() < (0.02 if precision == "bf16" else 0.001)


def test_each_replica_computes_on_the_device_of_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    used: dict[int, torch.device] = {}
    monkeypatch.setattr(
        "indexer.bench.trials.strategies.use_device", lambda device: used.update({threading.get_ident(): device})
    )

    class Asks(torch.nn.Module):
        """Answers once another replica computes, too."""

        def forward(self, part: torch.Tensor) -> torch.Tensor:
            assert used[threading.get_ident()] == part.device
            both.wait()
            return part

        def __deepcopy__(self, _: object) -> "Asks":
            return self

    both = threading.Barrier(2, timeout=60)
    replicas = Replicas(Asks(), "fp32", [CPU, CPU], n_cores=2)
    assert len(replicas.forward(replicas.copy_in(torch.ones(4, 2)))) == len(used) == 2


def test_files_bring_the_pictures_of_the_naive_script(material: Material) -> None:
    write_files(material, n_images=20, workers=0)
    files = png_files(material, 20)
    assert len(files) == 20
    with Image.open(files[0]) as picture:
        assert picture.size == (224, 224)
    _, transform, precision = load_tower(_trial(material, NAIVE), CPU)
    assert precision == "fp32"
    here = list(opened_here(files, transform=transform, batch=8, clock=StageClock()))
    through = list(from_files(files, NAIVE, transform=transform, batch=8, workers=0, rank=Rank()))
    assert [tuple(batch.shape) for batch in here] == [(8, 3, 32, 32), (8, 3, 32, 32), (4, 3, 32, 32)]
    assert all(torch.equal(one, other) for one, other in zip(here, through, strict=True))
    shares = [
        sum(len(batch) for batch in from_files(files[:19], replace(NAIVE, batch=8), transform=transform, batch=8,
                                               workers=0, rank=Rank(rank, rank, 2)))
        for rank in range(2)
    ]  # fmt: skip
    assert shares == [10, 10], "the original pads: 19 files become 20"


def test_stages_one_after_the_other_add_up_to_the_whole(material: Material) -> None:
    told = Loop(_trial(material, Knobs(path="loop", batch=8), part="stages"), rank=Rank(), device=CPU).run()
    assert set(told.stages) == set(STAGES)
    assert told.images == 20
    assert sum(told.stages.values()) == pytest.approx(told.seconds, rel=0.1)


def test_more_pictures_than_there_are_are_taken_again(tmp_path: Path, tiny_model: Path, icon_folder: Path) -> None:
    choice = ModelChoice(f"local-dir:{tiny_model}")
    material = gather(tmp_path / "material", icon_folder, choice=choice, n_images=30)
    jobs = read_jobs(material, 30)
    assert material.n_distinct == 11
    assert [job.id for job in jobs] == list(range(30))
    assert len({job.digest for job in jobs}) == 11


def test_a_trial_travels_to_other_processes_as_json(material: Material) -> None:
    trial = _trial(material, Knobs(path="loop", batch=4, pinned=True), part="stages")
    assert Trial.from_json(trial.to_json()) == trial


def test_ranks_last_from_the_first_start_to_the_last_end() -> None:
    whole = merged([(10.0, Measured(30, 2.0, 1.0, stages={"forward": 1.0})), (11.0, Measured(10, 3.0, 0.5))])
    assert (whole.images, whole.seconds, whole.waited_seconds) == (40, 4.0, 0.75)
    assert whole.stages == {"forward": 0.5}


@pytest.mark.slow
def test_ranks_with_a_barrier_share_the_pictures_under_torchrun(material: Material) -> None:
    with Apart(_trial(material, Knobs(path="loop", batch=4, workers=0, devices=2, barrier=True))) as apart:
        told = apart.measure()
    assert told.images == 20
    assert told.stages["barrier"] > 0


@pytest.mark.slow
def test_a_trial_whose_process_is_killed_says_so(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    with Apart(_trial(material, Knobs(workers=0))) as apart:
        assert "OMP_WAIT_POLICY" not in os.environ, "the naive script would inherit it"
        assert apart.measure().images == 20
        assert apart.process_id is not None
        os.kill(apart.process_id, signal.SIGKILL)
        with pytest.raises(BenchError, match="was killed by SIGKILL, perhaps for want of memory"):
            apart.measure()
