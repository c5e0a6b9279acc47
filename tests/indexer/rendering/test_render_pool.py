import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from indexer.embedding.device import configure_ring, in_batches
from indexer.errors import EmbedError
from indexer.library.shards import digest_of
from indexer.rendering import pool as slots
from indexer.rendering.pool import Failure, Job, RenderPool
from indexer.rendering.render import render
from indexer.sources.records import PictureAddress, content_digest


def icon(number: int) -> bytes:
    body = f'<circle cx="12" cy="12" r="{2 + number % 40 / 4}" stroke="currentColor" fill="#{number * 37 % 4096:03x}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'.encode()


def slow_icon() -> bytes:
    """Ten million uses of one square: librsvg gives up on it after some seconds."""
    groups = "".join(f'<g id="g{i}">{f"""<use href="#g{i - 1}"/>""" * 10}</g>' for i in range(1, 8))
    body = f'<defs><g id="g0"><rect width="1" height="1"/></g>{groups}</defs><use href="#g7"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'.encode()


def job(folder: Path, number: int, content: bytes) -> Job:
    (folder / f"{number}.svg").write_bytes(content)
    return Job(number, PictureAddress("folder", str(folder), f"{number}.svg", "", content_digest(content)))


def jobs_of(folder: Path, numbers: Iterable[int]) -> list[Job]:
    return [job(folder, number, icon(number)) for number in numbers]


def everything(pool: RenderPool, blocks: Sequence[Sequence[Job]]) -> tuple[dict[int, np.ndarray], list[Failure]]:
    pixels: dict[int, np.ndarray] = {}
    failures: list[Failure] = []
    for chunk in pool.render(blocks):
        pixels |= dict(zip(chunk.ids.tolist(), chunk.pixels.copy(), strict=True))
        failures += chunk.failures
    return pixels, failures


def assert_drawn(pixels: dict[int, np.ndarray], numbers: Iterable[int], *, size: int = 32) -> None:
    """Bit for bit what the plain loop gives, and nothing else."""
    expected = {number: render(icon(number), size=size).pixels for number in numbers}
    assert pixels.keys() == expected.keys()
    np.testing.assert_array_equal([pixels[number] for number in expected], [*expected.values()])


def worker_ids() -> list[int]:
    children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    numbers = [int(child) for group in children for child in group]
    return [number for number in numbers if b"rendering.pool" in Path(f"/proc/{number}/cmdline").read_bytes()]


@pytest.fixture(scope="module")
def two_workers() -> Iterator[RenderPool]:
    """Two workers for all tests that end none of them."""
    with RenderPool(size=32, workers=2, chunk=4) as pool:
        yield pool


def test_pictures_equal_those_of_a_plain_loop(tmp_path: Path, two_workers: RenderPool) -> None:
    jobs = jobs_of(tmp_path, range(50))
    with RenderPool(size=32, workers=0, chunk=8) as alone:
        for pool in (alone, two_workers):
            pixels, failures = everything(pool, [jobs])
            assert pool.waited_seconds > 0 and failures == []
            assert_drawn(pixels, range(50))


def test_chunks_come_block_by_block_and_in_order(tmp_path: Path, two_workers: RenderPool) -> None:
    jobs = jobs_of(tmp_path, range(20))
    blocks = [jobs[:5], [], jobs[5:9], jobs[9:20]]
    assert [(chunk.block, chunk.ids.tolist(), chunk.ends_block) for chunk in two_workers.render(blocks)] == [
        (0, [0, 1, 2, 3], False),
        (0, [4], True),
        (1, [], True),
        (2, [5, 6, 7, 8], True),
        (3, [9, 10, 11, 12], False),
        (3, [13, 14, 15, 16], False),
        (3, [17, 18, 19], True),
    ]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_chunk_tells_pictures_and_failures_apart(tmp_path: Path, workers: int) -> None:
    white = icon(0).replace(b"currentColor", b"#fff").replace(b"#000", b"#fff")
    jobs = [
        job(tmp_path, 1, icon(1)),
        job(tmp_path, 2, b"no picture"),
        job(tmp_path, 3, white),
        job(tmp_path, 4, icon(4)[:-3]),
        Job(5, PictureAddress("folder", str(tmp_path), "gone.svg", "", b"")),
        Job(6, job(tmp_path, 6, icon(6)).address._replace(digest=content_digest(b"as it was"))),
    ]
    with RenderPool(size=32, workers=workers) as pool:
        [chunk] = pool.render([jobs])
    assert (chunk.ids.dtype, chunk.ids.tolist()) == (np.int64, [1, 3])
    np.testing.assert_array_equal(chunk.pixels, [render(icon(1), size=32).pixels, render(white, size=32).pixels])
    digests = [digest_of(pixels.copy()) for pixels in chunk.pixels]
    assert chunk.traits[["coloured", "animated", "drawing"]].tolist() == [(1, 0, digests[0]), (0, 0, digests[1])]
    assert chunk.traits["ink"].tolist() == [list(render(content, size=32).ink) for content in (icon(1), white)]
    assert [(failure.id, failure.reason[:37], failure.is_final) for failure in chunk.failures] == [
        (2, "not a picture", True),
        (4, chunk.failures[1].reason[:37], True),
        (5, "can't be read: No such file or direct", False),
        (6, "can't be read: changed since the scan", False),
    ]
    assert chunk.failures[1].reason.startswith("svg: XML parse error")


def test_a_slow_picture_is_given_up_and_its_neighbours_are_untouched(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, range(30))
    jobs[11] = job(tmp_path, 11, slow_icon())
    with RenderPool(size=32, workers=1, chunk=8, seconds_per_item=0.7) as pool:
        pixels, failures = everything(pool, [jobs])
    assert failures == [Failure(11, "took longer than 0.7 s")]
    assert_drawn(pixels, set(range(30)) - {11})


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGSEGV, "the renderer crashed (signal 11)"),
        (signal.SIGKILL, "the renderer was killed (signal 9), perhaps for want of memory"),
    ],
)
def test_a_crash_costs_the_picture_that_was_drawn_and_no_other(
    tmp_path: Path, number: signal.Signals, reason: str
) -> None:
    jobs = jobs_of(tmp_path, range(30))
    jobs[3] = job(tmp_path, 3, slow_icon())
    with RenderPool(size=32, workers=1, chunk=8, seconds_per_item=60) as pool:

        def kill() -> None:
            while pool._slots.notes["state"][3] != slots.STARTED:
                time.sleep(0.01)
            pool._workers[0].process.send_signal(number)

        killer = threading.Thread(target=kill)
        killer.start()
        pixels, failures = everything(pool, [jobs])
        killer.join()
    assert failures == [Failure(3, reason, is_final=number != signal.SIGKILL)]
    assert_drawn(pixels, set(range(30)) - {3})


def test_workers_that_die_between_pictures_are_replaced(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, range(20))
    with RenderPool(size=32, workers=2, chunk=4) as pool:
        everything(pool, [jobs])
        for worker in pool._workers:
            worker.process.kill()
        pixels, _ = everything(pool, [jobs])
    assert_drawn(pixels, range(20))


def test_a_picture_beyond_the_memory_limit_fails_alone(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, range(4))
    Image.new("RGBA", (5000, 5000), "red").save(tmp_path / "large.png", compress_level=1)
    content = (tmp_path / "large.png").read_bytes()
    jobs.insert(2, Job(99, PictureAddress("folder", str(tmp_path), "large.png", "", content_digest(content))))
    with RenderPool(size=32, workers=1, memory_bytes=64 << 20) as pool:
        pixels, failures = everything(pool, [jobs])
    assert [failure.id for failure in failures] == [99]
    assert_drawn(pixels, range(4))


def test_workers_that_cannot_start_are_an_error_not_a_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "indexer").mkdir()
    (tmp_path / "indexer" / "__init__.py").write_text("raise ImportError('half installed')")
    monkeypatch.syspath_prepend(tmp_path)
    with RenderPool(size=32, workers=2) as pool, pytest.raises(EmbedError) as ended:
        everything(pool, [jobs_of(tmp_path, range(1))])
    told = "a render worker ended at its start: ImportError: half installed"
    assert (str(ended.value), capfd.readouterr().err) == (told, "")


def test_a_consumer_may_stop_half_way_and_ask_again(tmp_path: Path, two_workers: RenderPool) -> None:
    jobs = jobs_of(tmp_path, range(40))
    assert next(iter(two_workers.render([jobs]))).ids.tolist() == [0, 1, 2, 3]
    pixels, _ = everything(two_workers, [jobs[20:]])
    assert_drawn(pixels, range(20, 40))


def test_closing_ends_the_workers_and_leaves_no_memory_behind(tmp_path: Path) -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    def is_shared() -> bool:
        return "/memfd:icons-render" in Path("/proc/self/maps").read_text()

    at_first, others, is_other = descriptors(), worker_ids(), is_shared()
    with RenderPool(size=32, workers=2) as pool:
        [chunk] = pool.render([jobs_of(tmp_path, range(3))])
        assert (len(worker_ids()), is_shared()) == (2 + len(others), True)
    pool.close()
    assert worker_ids() == others
    np.testing.assert_array_equal(chunk.pixels[2], render(icon(2), size=32).pixels)  # until nobody has them
    del chunk
    assert (descriptors(), is_shared()) == (at_first, is_other)


RUN_FROM_A_SCRIPT = """
import os, sys, time
from pathlib import Path
import torch
from indexer.library.shards import digest_of
from indexer.rendering.pool import Job, RenderPool
from indexer.sources.records import PictureAddress, content_digest
Path(sys.argv[1], f"main-{os.getpid()}").touch()
folder = Path(sys.argv[1])
digests = [content_digest((folder / f"{number}.svg").read_bytes()) for number in range(4)]
places = [PictureAddress("folder", str(folder), f"{number}.svg", "", digest) for number, digest in enumerate(digests)]
jobs = [Job(number, place) for number, place in enumerate(places)]
with RenderPool(size=32, workers=2, chunk=2, seconds_per_item=2) as pool:
    for chunk in pool.render([jobs]):
        print(chunk.ids.tolist(), flush=True)
        for failure in chunk.failures:
            print(failure.reason, flush=True)
"""


def start_script(folder: Path) -> subprocess.Popen[str]:
    """A program that imports torch, without a guard for its main part. This torch writes down who imports it."""
    (folder / "torch.py").write_text(
        f"import os; open(os.path.join({str(folder)!r}, f'torch-{{os.getpid()}}'), 'w').close()"
    )
    (folder / "script.py").write_text(RUN_FROM_A_SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(folder / "script.py"), str(folder)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_workers_import_neither_the_main_module_nor_torch(tmp_path: Path) -> None:
    jobs_of(tmp_path, range(4))
    with start_script(tmp_path) as script:
        out, errors = script.communicate(timeout=60)
    assert (out, errors, script.returncode) == ("[0, 1]\n[2, 3]\n", "", 0)
    assert [len(list(tmp_path.glob(f"{name}-*"))) for name in ("torch", "main")] == [1, 1]


def processes_of(folder: Path) -> list[int]:
    """Every process whose command line or environment names the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (process / "cmdline").read_bytes() + (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL])
def test_no_worker_outlives_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    jobs_of(tmp_path, range(4))
    job(tmp_path, 3, slow_icon())
    with start_script(tmp_path) as script:
        assert script.stdout.readline() == "[0, 1]\n"
        os.killpg(script.pid, number)
        script.communicate(timeout=60)
    assert script.returncode == -number
    deadline = time.monotonic() + 10
    while processes_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("workers", [0, 1])
def test_chunks_lie_one_after_the_other_and_keep_the_place_of_what_failed(tmp_path: Path, workers: int) -> None:
    jobs = jobs_of(tmp_path, range(20))
    jobs[3] = job(tmp_path, 3, b"no picture")
    with RenderPool(size=32, workers=workers, chunk=8, n_slots=4) as pool:
        pool.held = 3
        chunks = list(pool.render([jobs]))  # the pixels of three stay while others are drawn
        drawn = pool.memory[chunks[0].place.start : chunks[-1].place.stop]
    assert [chunk.place for chunk in chunks] == [slice(0, 8), slice(8, 16), slice(16, 20)]
    assert [chunk.rows.tolist() for chunk in chunks] == [[0, 1, 2, 4, 5, 6, 7], [*range(8)], [*range(4)]]
    for number in set(range(20)) - {3}:
        np.testing.assert_array_equal(drawn[number], render(icon(number), size=32).pixels)


def test_workers_begin_before_the_first_chunk_is_asked_for(tmp_path: Path) -> None:
    taken: list[int] = []

    def blocks() -> Iterable[list[Job]]:
        for number in range(20):
            taken.append(number)
            yield jobs_of(tmp_path, [number])

    with RenderPool(size=32, workers=1, chunk=1, n_slots=8) as pool:
        pool.ahead = 3
        chunks = pool.render(blocks())
        assert (taken[:], [chunk.ids.tolist() for chunk in chunks]) == (
            [0, 1, 2, 3],
            [[number] for number in range(20)],
        )
        pool.render([jobs_of(tmp_path, range(5))])  # and is given up
        pixels, _ = everything(pool, [jobs_of(tmp_path, range(7))])
    assert_drawn(pixels, range(7))


def test_what_was_drawn_beyond_the_slots_that_are_kept_is_given_out_in_place(tmp_path: Path) -> None:
    with RenderPool(size=32, workers=1, chunk=2, n_slots=24) as pool:
        pool.ahead = 16  # 17 chunks are drawn, and room for the 18th is left, so that batches of three are whole
        chunks = pool.render([jobs_of(tmp_path, range(72))])
        pool.usual_ahead = 2
        configure_ring(pool, n_under_way=2, n_chunks=3)
        pixels, places = {}, []
        for batch in in_batches(chunks, chunk=2, n_chunks=lambda: 3):
            places.append(batch.chunks[0].place.start)
            pixels |= dict(zip(range(6 * len(places) - 6, 6 * len(places)), batch.pixels.copy(), strict=True))
    assert places == [*range(0, 36, 6), 0, 6, 12, 18, 0, 6]
    assert_drawn(pixels, range(72))
