"""Several ranks under torchrun on the CPU: the same shards as one process, and a dead rank loses only its own block."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import Silent, kill_rank
from shared_work import assert_same, draw_many, of_one_process, options_of, scanned, vectors_of

from indexer.embedding.embed import embed_here, plan_command
from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.worker import Worker
from indexer.encoders.devices import HOST, Devices
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE, Plan, write_plan
from indexer.library.shards import read_coverage
from indexer.pipeline import embed, plan_only
from indexer.ranks import Rank


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty pictures in blocks of eight."""
    monkeypatch.setitem(BLOCK_SIZE, "images", 8)
    return draw_many(tmp_path / "many", 60)


def test_two_ranks_make_the_shards_of_one(many: Path, tiny_model: Path, tmp_path: Path) -> None:
    options, watcher = options_of(many, tiny_model, devices="cpu:2"), Silent()
    library = scanned(tmp_path / "library", options)
    found = vectors_of(library, embed(library, options, watcher).fingerprint)
    assert ([rank.rank for rank in watcher.ranks], sum(rank.images for rank in watcher.ranks)) == ([0, 1], 60)
    assert [*library.root.glob("work/*/runs/*/blocks")] == [], "of a run that is done no blocks are left"
    assert_same(found, of_one_process(tmp_path, many, tiny_model))


@pytest.mark.slow
def test_a_killed_rank_ends_the_stage_by_name_and_any_number_of_ranks_finishes_the_rest(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    options = options_of(many, tiny_model, devices="cpu:2")
    library = scanned(tmp_path / "library", options)
    killer = threading.Thread(target=kill_rank, args=("indexer.embedding.embed", library.root, "1"))
    killer.start()
    with pytest.raises(EmbedError, match=r"rank 1 was killed by SIGKILL.*finished blocks are kept"):
        embed(library, options, Silent())
    killer.join()
    rest = embed(library, options_of(many, tiny_model), Silent())
    assert len(vectors_of(library, rest.fingerprint)) == 120


def test_a_rank_that_finds_another_encoder_says_so(many: Path, tiny_model: Path, tmp_path: Path) -> None:
    options = options_of(many, tiny_model)
    library = scanned(tmp_path / "library", options)

    class Swap(Silent):
        """Changes the plan's fingerprint just before the ranks read it."""

        def stage(self, title: str) -> None:
            if title == "Embedding":
                path = next((library.root / "work").glob("*/plan.json"))
                path.write_text(json.dumps({**json.loads(path.read_text()), "fingerprint": "0" * 16}))

    with pytest.raises(EmbedError, match='the plan is for "0000000000000000"'):
        embed(library, options, Swap())


@pytest.mark.slow
def test_ranks_of_several_machines_do_one_plan_by_the_printed_line(
    many: Path, tiny_model: Path, tmp_path: Path
) -> None:
    """Two ranks started by hand, as two machines would start them over a shared folder."""
    options = options_of(many, tiny_model)
    library = scanned(tmp_path / "library", options)
    line = plan_only(library, options, Silent()).split()
    command = [sys.executable, *line[line.index("-m") :]]
    environment = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533"}
    ranks = [
        subprocess.Popen(command, env={**environment, "RANK": str(rank), "LOCAL_RANK": "0"}, stderr=subprocess.PIPE)
        for rank in range(2)
    ]
    assert [(rank.communicate()[1], rank.returncode)[1] for rank in ranks] == [0, 0]
    assert len(read_coverage(next((library.root / "vectors").iterdir())).images) == 60


def test_the_line_for_several_machines_names_library_rendezvous_and_gpus(tmp_path: Path) -> None:
    write_plan(Library(tmp_path), Plan("f00d", "{}", 0, 0, 0), [])
    line = plan_command(LibraryPlanStore(Library(tmp_path), "f00d"), Devices("cuda", 2, "GPU-1f 0,MIG-7"))
    assert line == (
        "CUDA_VISIBLE_DEVICES='GPU-1f 0,MIG-7' torchrun --nnodes N --rdzv-backend c10d --rdzv-endpoint HOST:29400 "
        f"--nproc-per-node 2 -m indexer.embedding.embed --library {tmp_path} --fingerprint f00d"
    )


def test_a_single_rank_embeds_on_the_gpu_that_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(tmp_path)
    write_plan(library, Plan("f00d", "{}", 0, 0, 0), [])

    def work(worker: Worker, _: LibraryPlanStore) -> None:
        assert worker.rank == Rank()
        raise EmbedError(worker.device)

    monkeypatch.setattr(Worker, "work", work)
    monkeypatch.setattr("indexer.embedding.embed.find_device", lambda _: HOST)
    with pytest.raises(EmbedError, match=r"^cuda:3$"):
        place = LibraryPlanStore(library, "f00d")
        embed_here(place, Devices("cuda", 1, "7", first=3), show=lambda *_: None, give_up=pytest.fail)


def test_a_rank_names_how_a_plan_of_another_program_is_written_anew(tmp_path: Path) -> None:
    library = Library(tmp_path)
    write_plan(library, Plan("f00d", "{}", 0, 0, 0, options={"is_timed": True}), [])
    with pytest.raises(EmbedError, match=r"plan.json\" is of another version .*is not known.*run `icons index` again"):
        LibraryPlanStore(library, "f00d")
