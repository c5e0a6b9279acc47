"""Workers on a real Ray cluster on loopback, which outlive the command that has started them."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent
from shared_work import assert_same, vectors_of

from indexer.embedding.crew import start_on_ray
from indexer.embedding.plan_store import open_work
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.stores import open_store
from indexer.pipeline import IndexOptions, embed, plan_only


@pytest.fixture
def cluster(work: Path) -> Iterator[str]:
    """A cluster of one node, its head; it gets the environment of this test."""
    pytest.importorskip("ray")
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    head = ["--head", "--port=26379", "--num-cpus=2", "--num-gpus=0", "--include-dashboard=false"]
    subprocess.run([*ray, "start", *head, "--disable-usage-stats"], check=True, capture_output=True)
    try:
        yield "127.0.0.1:26379"
    finally:
        subprocess.run([*ray, "stop", "--force"], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_plan_is_done_by_actors_that_remove_themselves_also_where_they_fail(
    cluster: str,
    work: Path,
    library: Library,
    options: IndexOptions,
    expected: dict[tuple[str, int], np.ndarray],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(work.parent)
    options = replace(options, work="work")
    plan_only(library, options, Silent())
    [weights] = work.rglob("encoders/*/open_clip_model.safetensors")
    content = weights.read_bytes()
    weights.unlink()
    place = open_work(open_store(str(work)))
    with suppress(EmbedError):  # or it is up for a moment
        start_on_ray(cluster, "work", n_workers=1)
    wait_until(lambda: bool(place.ends()))
    [(name, reason)] = place.ends().items()
    assert name.startswith(f"icons-{place.plan.run}-0")
    assert 'open_clip_model.safetensors" is missing' in reason
    wait_until(lambda: actors(cluster) == [])  # its device is free
    weights.write_bytes(content)

    class Watched(Silent):
        def embedded(self, *_: object) -> None:
            assert time.monotonic() < until

    until, watcher = time.monotonic() + 240, Watched()
    tally = embed(library, replace(options, ray=cluster), watcher)  # the same plan, as after Ctrl-C
    assert "Embedding elsewhere, by 1 worker on Ray" in watcher.stages
    assert (tally.images, tally.names) == (60, 60), "all of it was under way"
    assert_same(vectors_of(library, tally.fingerprint), expected)
    wait_until(lambda: actors(cluster) == [])


def wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.5)


def actors(cluster: str) -> list[object]:
    import ray
    from ray.util import list_named_actors

    ray.init(address=cluster, namespace="icons", log_to_driver=False)
    try:
        return list(list_named_actors(all_namespaces=True))
    finally:
        ray.shutdown()


def test_without_a_plan_or_without_ray_there_is_one_line(
    library: Library, options: IndexOptions, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbedError, match="holds no plan"):
        start_on_ray("127.0.0.1:1", str(work))
    plan_only(library, options, Silent())
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EmbedError, match=r"--ray needs Ray; `pip install"):
        start_on_ray("127.0.0.1:1", str(work))
