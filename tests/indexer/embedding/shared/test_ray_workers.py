"""Workers on a real Ray cluster on loopback, which outlive the command that has started them."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Silent
from shared_work import draw_many, options_of, scanned

from indexer.embedding.shared.ray_workers import start_on_ray
from indexer.errors import EmbedError
from indexer.library.plans import BLOCK_SIZE
from indexer.pipeline import collect, plan_only


@pytest.fixture
def work(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield str(tmp_path / "work")


@pytest.fixture
def cluster(work: str) -> Iterator[str]:
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
def test_a_plan_is_done_by_actors_that_remove_themselves(
    cluster: str, work: str, tmp_path: Path, tiny_model: Path
) -> None:
    import ray

    options = options_of(draw_many(tmp_path / "many", 60), tiny_model, work=work)
    library = scanned(tmp_path / "library", options)
    plan_only(library, options, Silent())
    assert start_on_ray(cluster, work, n_workers=2) == "2 workers on Ray"
    until = time.monotonic() + 240
    found = collect(library, work)
    while found.blocks < found.of and time.monotonic() < until:
        time.sleep(1)
        found = collect(library, work)
    assert (found.blocks, found.of) == (9, 9)
    ray.init(address=cluster, namespace="icons", log_to_driver=False)
    try:
        from ray.util import list_named_actors

        while list_named_actors(all_namespaces=True) and time.monotonic() < until:
            time.sleep(0.5)
        assert list_named_actors(all_namespaces=True) == []
    finally:
        ray.shutdown()


def test_without_a_plan_or_without_ray_there_is_one_line(
    work: str, tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbedError, match="holds no plan"):
        start_on_ray("127.0.0.1:1", work)
    options = options_of(draw_many(tmp_path / "many", 3), tiny_model, work=work)
    plan_only(scanned(tmp_path / "library", options), options, Silent())
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EmbedError, match=r"--ray needs Ray; `pip install"):
        start_on_ray("127.0.0.1:1", work)
