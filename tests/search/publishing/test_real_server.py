"""A real server, which starts without docker: the same answers, and publications that are killed at any moment."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from milvus_standalone import free_port, install, running
from published_icons import here, library, own_cache  # noqa: F401 - fixtures
from test_publishing import Drawn, answers, held
from test_same_answers import FILTERS, WORDS, same

from indexer.encoders.checkpoint import ModelChoice
from indexer.library.folder import Library
from search.engine import SearchEngine
from search.publishing.publish import publish
from search.publishing.rows import examine
from search.query import Query, Window

pytestmark = pytest.mark.slow
N_KILLS = 12


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address: ICONS_TEST_MILVUS names one that runs, and ICONS_TEST_MILVUS_FOLDER where one was installed."""
    if given := os.environ.get("ICONS_TEST_MILVUS"):
        yield given
        return
    folder = Path(os.environ.get("ICONS_TEST_MILVUS_FOLDER") or tmp_path_factory.mktemp("milvus"))
    install(folder)
    with running(folder, port=free_port()) as address:
        yield address


def named(server: str, name: str) -> str:
    """An address that no other run of these tests has used."""
    return f"{server}/{name}_{os.getpid()}_{time.time_ns() % 10**9}"


def test_a_real_server_gives_the_same_answers(library: Library, here: SearchEngine, server: str) -> None:
    address = named(server, "called")
    assert publish(library, address).recall_at_10 == 1.0
    there = SearchEngine.open(address)
    for words in WORDS:
        for filters in FILTERS:
            same(here, there, Query(words=words), filters, Window(k=20, facets=True))
    assert (there.sets(), there.facets()) == (here.sets(), here.facets())
    assert examine(library, address, sample=50).is_sound


def test_a_publication_may_be_killed_at_any_moment(server: str, tmp_path: Path, tiny_model: Path) -> None:
    address, rng = named(server, "killed"), random.Random(4)
    drawn = Drawn(tmp_path, ModelChoice(f"local-dir:{tiny_model}"))
    drawn.edit(rng, n=14)
    publish(drawn.library, address)
    command = [sys.executable, "-c", "from search.cli import main; main()", "lab", "publish", address]
    for _ in range(N_KILLS):
        before = answers(address)
        drawn.edit(rng, n=3)
        process = subprocess.Popen([*command, "--library", str(drawn.library.root)], stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(1.0, 12.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert answers(address) in (before, answers(drawn.library))
    summary = publish(drawn.library, address)
    whole = named(server, "whole")
    publish(drawn.library, whole)
    assert answers(address) == answers(whole) == answers(drawn.library)
    assert held(address, summary.generation) == held(whole, summary.generation)
    assert examine(drawn.library, address, sample=50).is_sound
