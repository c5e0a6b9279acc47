"""A real cluster: of two query nodes that hold the library each, one may be killed while searches go on."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import milvus_cluster
import pytest
from milvus_cluster import Cluster
from published_icons import here, library, own_cache  # noqa: F401 - fixtures
from test_same_answers import FILTERS, WORDS
from tools import lacking

from indexer.errors import LibraryError
from indexer.library.folder import Library, LibraryElsewhere
from search.engine import SearchEngine
from search.generation.milvus.published import Published
from search.publishing.publish import publish
from search.publishing.rows import examine
from search.query import Filters, Query, Window

pytestmark = pytest.mark.slow
N_ASKING = 4
BEFORE_SECONDS, AFTER_SECONDS = 5.0, 60.0
"""How long is asked before a node is killed, and after: a session of a node that is gone ends after 30 s."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An empty one; ICONS_TEST_MILVUS_FOLDER names where a server was installed."""
    if lacks := milvus_cluster.missing():
        lacking(lacks)
    folder = Path(os.environ.get("ICONS_TEST_MILVUS_FOLDER") or tmp_path_factory.mktemp("milvus"))
    with milvus_cluster.running(folder) as running:
        yield running


Question = tuple[str, Filters]
QUESTIONS: list[Question] = [(words, filters) for words in WORDS for filters in FILTERS]


def hits(engine: SearchEngine, question: Question) -> list[tuple[str, float]]:
    words, filters = question
    answer = engine.ask(Query(words=words), filters=filters, window=Window(k=20))
    return [(hit.key, hit.score) for hit in answer.hits]


@dataclass
class Asking:
    """Threads that ask until they are stopped, and hold each answer against what it should be."""

    engine: SearchEngine
    answers: list[list[tuple[str, float]]]
    seconds: list[tuple[float, float]] = field(default_factory=list)
    """When each search began, and how long it took."""
    failed: list[str] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def run(self, first: int) -> None:
        """Ask all questions in turn, beginning with one of them."""
        place = first
        while not self.is_over.is_set():
            began = time.monotonic()
            question, wanted = QUESTIONS[place % len(QUESTIONS)], self.answers[place % len(QUESTIONS)]
            try:
                if hits(self.engine, question) != wanted:
                    self.failed.append(f"{question} has other hits")
            except LibraryError as error:
                self.failed.append(f"{question} after {time.monotonic() - began:.1f} s: {error}")
            self.seconds.append((began, time.monotonic() - began))
            place += 1

    def longest(self, since: float) -> float:
        """How long the slowest search took that ended after a moment."""
        return max(took for began, took in self.seconds if began + took >= since)


def test_a_query_node_may_be_killed_while_searches_go_on(
    library: Library, here: SearchEngine, cluster: Cluster
) -> None:
    address = f"{cluster.address}/called"
    publish(library, address, replicas=2)
    server = Published(LibraryElsewhere(address))
    number = publish(library, address).generation  # as many as before
    collections = (*server.names.of(number), server.names.files)
    assert [server.connection.replicas(collection) for collection in collections] == [2, 2, 2]
    asking = Asking(SearchEngine.open(address), [hits(here, question) for question in QUESTIONS])
    threads = [threading.Thread(target=asking.run, args=(n * 17,), daemon=True) for n in range(N_ASKING)]
    for thread in threads:
        thread.start()
    time.sleep(BEFORE_SECONDS)
    n_before = len(asking.seconds)
    killed_at = time.monotonic()
    cluster.kill("query-1")
    time.sleep(AFTER_SECONDS)
    asking.is_over.set()
    for thread in threads:
        thread.join(30)
    n_after = len(asking.seconds) - n_before
    print(f"{n_before} searches before, {n_after} after; the slowest took {asking.longest(killed_at):.1f} s")
    assert not asking.failed, f"{len(asking.failed)} of {n_after}: {asking.failed[:5]}"
    assert n_before > N_ASKING
    assert n_after > N_ASKING
    assert examine(library, address, sample=50).is_sound


def test_more_replicas_than_query_nodes_are_refused(library: Library, cluster: Cluster) -> None:
    with pytest.raises(LibraryError, match=r"`icons lab publish --replicas` says how many query nodes"):
        publish(library, f"{cluster.address}/many", replicas=3)
