"""Devices that are simulated: on time, behind a queue, and around them the real stages."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from indexer.bench.feeding import SetUp, measure_feeding
from indexer.bench.simulation.device import SimulatedDevice, SimulatedEncoder, SimulatedSpec, Simulation
from indexer.bench.simulation.pictures import Pictures
from indexer.bench.simulation.report import AS_MUCH_EACH, SAME, SimulatedFindings, cells, headline
from indexer.bench.simulation.run import DeviceRun, SimulatedRun, simulate
from indexer.bench.trials.material import distinct_jobs
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import BenchError, LibraryError
from indexer.publishing.index_kinds import LEAST_RECALL, recommended
from indexer.publishing.manifest import WEIGHTS
from indexer.publishing.recall import recall
from indexer.publishing.vector_index import VectorIndex
from indexer.rendering.pool import RenderPool
from indexer.reports.bars import Bars
from search.cli import main
from search.engine import SearchEngine

CHOICE = ModelChoice.bundled()
N_SAMPLES = 2_176


def pixels(n: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 8, 8, 3), np.uint8)


def test_a_batch_takes_its_time_and_a_queue_its_sum() -> None:
    device = SimulatedDevice(SimulatedSpec(1000, 8))
    started = time.perf_counter()
    first, second = device.enqueue(pixels(100)), device.enqueue(pixels(100))
    assert time.perf_counter() - started < 0.1
    second()
    both = time.perf_counter() - started
    first()
    assert 0.2 <= both < 0.2 + 0.2
    assert time.perf_counter() - started < both + 0.1, "the first was done before the second"
    assert device.busy_seconds == pytest.approx(0.2)


@pytest.mark.parametrize("text", ["", "x", "0x100", "4x", "4x0", "4x-1", "2x1e12", "9999999999999999x1", "1,2,three"])
def test_devices_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(BenchError, match="is not like 4x3000"):
        Simulation.parse(text, image_size=8)


def test_a_source_without_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="holds no pictures"):
        simulate(tmp_path, Simulation((1000.0,), 8))


def test_workers_draw_while_the_encoder_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, open_device = [], SimulatedSpec.open

    def open_late(spec: SimulatedSpec, checkpoint: Any, memory: Any, *, n_images: int) -> Any:
        until = time.monotonic() + 60
        while not memory.any() and time.monotonic() < until:
            time.sleep(0.01)
        seen.append(bool(memory.any()))
        return open_device(spec, checkpoint, memory, n_images=n_images)

    monkeypatch.setattr(SimulatedSpec, "open", open_late)
    simulate(Pictures(96).write(tmp_path / "icons"), Simulation((10_000.0,), 16))
    assert seen == [True]


def test_a_device_takes_no_processor_time() -> None:
    device = SimulatedDevice(SimulatedSpec(100, 8))
    collect = device.enqueue(pixels(30))
    before = time.process_time()
    collect()
    assert time.process_time() - before < 0.1


def test_vectors_follow_from_pixels_as_they_are_when_the_batch_is_done() -> None:
    device = SimulatedDevice(SimulatedSpec(1e6, 8))
    batch = pixels(4)
    collect = device.enqueue(batch)
    batch[0] = pixels(1, seed=1)[0]
    found, expected = collect(), SimulatedEncoder(8).encode_images(batch)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(np.linalg.norm(found.astype(np.float32), axis=1), 1, atol=1e-2)
    assert not np.array_equal(found, SimulatedEncoder(8).encode_images(pixels(4)))


@pytest.mark.slow
def test_a_large_index_of_its_vectors_finds_what_exact_search_finds(tmp_path: Path) -> None:
    """A merge refuses any other: the samples again and again, as the benchmark makes them, asked by its names."""
    encoder, n = SimulatedEncoder(64), 60_000
    with RenderPool(size=64, workers=0) as pool:
        drawn = [
            chunk.pixels.copy() for chunk in pool.render([distinct_jobs(Pictures(N_SAMPLES).write(tmp_path / "some"))])
        ]
        pictures = np.tile(encoder.encode_many_pictures(np.concatenate(drawn)), (n // N_SAMPLES + 1, 1))[:n]
    names = encoder.encode_many_words([f"icon {number}" for number in range(n)])
    fused = WEIGHTS.picture * pictures + (1 - WEIGHTS.picture) * names
    for vectors in (pictures, fused / np.linalg.norm(fused, axis=1, keepdims=True)):
        spec = recommended(n).spec(n, dim=encoder.dim)
        index = VectorIndex.build(np.arange(n), [vectors], dim=encoder.dim, spec=spec)
        assert recall(index, [vectors], names[:: n // 50]) >= LEAST_RECALL


def test_a_batch_beyond_its_room_raises_as_torch_does() -> None:
    device = SimulatedDevice(SimulatedSpec(1000, 8, room=10))
    with pytest.raises(torch.OutOfMemoryError, match=r"simulated 1,000/s has room for 10 pictures, not 11"):
        device.enqueue(pixels(11))


def test_it_starts_when_it_is_there() -> None:
    spec = SimulatedSpec(1000, 8, start_seconds=0.1)
    started = time.perf_counter()
    with spec.open(spec.find(CHOICE), None, n_images=1) as device:
        assert time.perf_counter() - started >= 0.1
        assert device.name == "simulated 1,000/s"


def test_its_fingerprint_is_that_of_no_encoder() -> None:
    found = [SimulatedSpec(1000, size).find(CHOICE) for size in (64, 224)]
    assert [checkpoint.image_size for checkpoint in found] == [64, 224]
    assert len({checkpoint.fingerprint for checkpoint in found} | {_real_fingerprint()}) == 3


def _real_fingerprint() -> str:
    from indexer.encoders.checkpoint import find_checkpoint

    return find_checkpoint(CHOICE).fingerprint


@pytest.mark.parametrize(
    ("text", "rates"), [("4x3000", (3000.0,) * 4), ("100", (100.0,)), ("300,150.5", (300.0, 150.5))]
)
def test_simulations_are_read(text: str, rates: tuple[float, ...]) -> None:
    assert Simulation.parse(text, image_size=64).rates == rates


@pytest.mark.parametrize("text", ["", "x", "4x", "0x100", "4x-1", "1e99", "4xfast", "65x1", "nan"])
def test_what_is_no_simulation_is_named(text: str) -> None:
    with pytest.raises(BenchError, match=f'--simulate "{text}" is not like 4x3000'):
        Simulation.parse(text, image_size=64)


@pytest.mark.parametrize("in_one_file", [False, True])
def test_pictures_are_as_many_as_asked_for_and_each_its_own(tmp_path: Path, in_one_file: bool) -> None:
    source = Pictures(2300, in_one_file, broken_every=100).write(tmp_path / "pictures")
    jobs = distinct_jobs(source)
    assert len(jobs) == 2300
    assert (source.is_file(), len({job.digest for job in jobs})) == (in_one_file, 2300)


@pytest.mark.slow
def test_all_stages_run_around_one_device(tmp_path: Path) -> None:
    source = Pictures(700, broken_every=100).write(tmp_path / "pictures")
    run = simulate(source, Simulation((2000.0,), 32), workers=1)
    assert (run.images, run.failed) == (693, 7)
    assert [device.name for device in run.devices] == ["simulated 2,000/s"]
    assert run.devices[0].busy_seconds == pytest.approx(0.35)
    assert run.seconds >= 0.35
    assert 0 < run.host_busy <= 1.05
    assert list(run.stages) == ["scan", "plan", "ranks", "merge"]


@pytest.mark.slow
def test_unequal_devices_share_the_work_by_what_they_can_do(tmp_path: Path) -> None:
    source = Pictures(3000).write(tmp_path / "pictures")
    run = simulate(source, Simulation((1000.0, 200.0), 16), workers=1)
    fast, slow = (device.images for device in run.devices)
    assert fast + slow == run.images == 3000
    assert fast > 2 * slow, "dealt out evenly they would be equal; one may start seconds before the other"


def test_nothing_of_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that was left behind, because the process died, has no encoder that could be asked."""
    source = Pictures(40).write(tmp_path / "pictures")

    class Kept:
        def __init__(self, **_: object) -> None:
            (tmp_path / "library").mkdir()

        def __enter__(self) -> str:
            return str(tmp_path / "library")

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("indexer.bench.simulation.run.tempfile.TemporaryDirectory", Kept)
    simulate(source, Simulation((2000.0,), 16), workers=0)
    with pytest.raises(LibraryError, match="query encoder"):
        SearchEngine.open(tmp_path / "library")


def _run(n: int, rate: float, *, busy: float = 1.0) -> SimulatedRun:
    seconds = 1000 / rate
    return SimulatedRun(
        1000, 0, seconds, 0.5, tuple(DeviceRun("d", 1000 // n, seconds, busy * seconds) for _ in range(n))
    )


def test_the_report_tells_efficiency_bound_and_both_laws() -> None:
    findings = SimulatedFindings(Simulation((100.0,) * 4, 64), 2, images_per_core=150.0, n_cores=2)
    for n, rate in ((1, 100.0), (2, 190.0), (4, 240.0)):
        for work in (SAME, AS_MUCH_EACH):
            findings.rows[work, n] = [_run(n, rate), _run(n, rate)]
    assert [findings.bound(n) for n in (1, 2, 4)] == [100, 200, 300]
    rows = list(cells(findings))
    assert [row[1:3] for row in rows] == [("1", "100"), ("2", "190"), ("4", "240")] * 2
    assert [row[3].split()[0] for row in rows[:3]] == ["1.000", "0.950", "0.600"]
    assert [row[-1] for row in rows[:3]] == ["100.0%", "95.0%", "80.0%"]
    assert {fit.law for fit in findings.fits()} == {"Amdahl", "Gustafson"}
    assert any(line.startswith("Amdahl: P = 0.") for line in headline(findings))
    json.dumps(findings.to_json())


@pytest.mark.slow
def test_the_command_measures_prints_and_writes(tmp_path: Path) -> None:
    arguments = ["bench", "embed", "--simulate", "1x2000", "--images", "300", "--repeats", "1", "--set", "size=16"]
    done = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "simulated devices, up to 1, of 2,000 pictures/s; pictures of 16 x 16" in done.output
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [row["devices"] for row in report["rows"]] == [1]
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.slow
def test_devices_are_kept_busy_on_a_quiet_machine() -> None:
    with Bars() as bars:
        goals = measure_feeding(SetUp("64 px", 64), repeats=3, bars=bars)
    assert [goal.name for goal in goals if not goal.is_met] == []
