"""A real server, without docker: the same answers; publications and nodes that are killed; who is let in."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import milvus_cluster
import pytest
from called_icons import build_called
from conftest import save_tiny_model
from milvus_cluster import Cluster
from milvus_standalone import free_port, running
from published_icons import here, library, own_cache  # noqa: F401 - fixtures
from test_publishing import Drawn, answers, held
from test_same_answers import FILTERS, WORDS, same
from tools import lacking

from indexer.errors import LibraryError
from indexer.library.folder import TOKEN, Library, LibraryElsewhere
from search.engine import SearchEngine
from search.generation.milvus.connection import AUTHORITY, TOKEN_FILE
from search.generation.milvus.published import Published
from search.publishing.publish import publish
from search.publishing.rows import examine
from search.query import Filters, Query, Window

pytestmark = pytest.mark.slow
N_KILLS = 12


@pytest.fixture(scope="module")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a server is installed: ICONS_TEST_MILVUS_FOLDER, or a folder that goes."""
    return Path(os.environ.get("ICONS_TEST_MILVUS_FOLDER") or tmp_path_factory.mktemp("milvus"))


@pytest.fixture(scope="module")
def server(milvus: Path) -> Iterator[str]:
    """Address of an empty one."""
    with running(milvus, port=free_port()) as address:
        yield address


def test_a_real_server_gives_the_same_answers(library: Library, here: SearchEngine, server: str) -> None:
    address = f"{server}/called"
    assert publish(library, address).recall_at_10 == 1.0
    there = SearchEngine.open(address)
    for words in WORDS:
        for filters in FILTERS:
            same(here, there, Query(words=words), filters, Window(k=20, facets=True))
    assert (there.sets(), there.facets()) == (here.sets(), here.facets())
    assert examine(library, address, sample=50).is_sound


def test_a_publication_may_be_killed_at_any_moment(server: str, tmp_path: Path, tiny_model: Path) -> None:
    address, rng = f"{server}/killed", random.Random(4)
    drawn = Drawn(tmp_path, tiny_model)
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
    whole = f"{server}/whole"
    publish(drawn.library, whole)
    assert answers(address) == answers(whole) == answers(drawn.library)
    assert held(address, summary.generation) == held(whole, summary.generation)
    assert examine(drawn.library, address, sample=50).is_sound


RIGHT = "root:Milvus"
"""The token of a server that is new."""


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    folder.mkdir()
    certificate, key = folder / "server.pem", folder / "server.key"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if not shutil.which("openssl"):
        lacking("openssl makes the certificate")
    return make_certificate(tmp_path_factory.mktemp("own") / "certificate")


@pytest.fixture(scope="module")
def address(library: Library, certificate: tuple[Path, Path], milvus: Path) -> Iterator[str]:
    """Of a library that was published with the token."""
    guarded = {"authorization_enabled": True, "tls_mode": 1}
    guarded |= {"server_pem_path": str(certificate[0]), "server_key_path": str(certificate[1])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TOKEN, RIGHT)
        patch.setenv(AUTHORITY, str(certificate[0]))
        with running(milvus, port=free_port(), settings=guarded) as server:
            publish(library, f"{server}/called")
            yield f"{server}/called"


def search(address: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Search in a process of its own, which knows what it is given and nothing else."""
    known = {name: value for name, value in os.environ.items() if name not in (TOKEN, TOKEN_FILE, AUTHORITY)}
    return subprocess.run(
        [sys.executable, "-c", "from search.cli import main; main()", "search", "home", "--json", "--library", address],
        env={**known, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    """The one line that says why a search was refused."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.strip().splitlines()
    return line


def test_the_token_gives_the_hits(
    here: SearchEngine, address: str, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    wanted = [hit.key for hit in here.ask(Query(words="home")).hits]
    (tmp_path / "token").write_text(f"{RIGHT}\n")
    for token in ({TOKEN: RIGHT}, {TOKEN_FILE: str(tmp_path / "token")}):
        done = search(address, **token, **{AUTHORITY: str(certificate[0])})
        assert done.returncode == 0, done.stderr
        assert [hit["key"] for hit in json.loads(done.stdout)["hits"]] == wanted != []


@pytest.mark.parametrize("token", [{}, {TOKEN: "root:other"}, {TOKEN: "nobody:Milvus"}])
def test_without_the_right_token_nobody_is_let_in(
    address: str, certificate: tuple[Path, Path], token: dict[str, str]
) -> None:
    line = refused(search(address, **token, **{AUTHORITY: str(certificate[0])}))
    assert f'"{address}" lets nobody in without the right token' in line and TOKEN in line and "other" not in line


def test_a_server_of_another_authority_is_refused(address: str, tmp_path: Path) -> None:
    other, _ = make_certificate(tmp_path / "other")
    for authority in ({AUTHORITY: str(other)}, {}):
        line = refused(search(address, **{TOKEN: RIGHT, **authority}))
        assert f'"{address}" shows a certificate that nothing here trusts; {AUTHORITY} names' in line


def test_a_server_with_tls_is_not_asked_without(address: str) -> None:
    plain = address.replace("milvus+tls", "milvus")
    line = refused(search(plain, **{TOKEN: RIGHT}))
    assert f'"{plain}" does not answer' in line and "milvus+tls://" in line


N_ASKING = 4
BEFORE_SECONDS, AFTER_SECONDS = 5.0, 60.0
"""How long is asked before a node is killed, and after: a session of a node that is gone ends after 30 s."""


@pytest.fixture(scope="module")
def cluster(milvus: Path) -> Iterator[Cluster]:
    """An empty one."""
    if lacks := milvus_cluster.missing():
        lacking(lacks)
    with milvus_cluster.running(milvus) as running:
        yield running


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Its encoder has so few weights that the cluster's broker keeps them all, 2 MB: of a topic it keeps 5."""
    root = tmp_path_factory.mktemp("small")
    build_called(root, save_tiny_model(root / "model", seed=1, text_width=8))
    return Library(root / "library")


Question = tuple[str, Filters]
QUESTIONS: list[Question] = [(words, filters) for words in WORDS for filters in FILTERS]


def hits(engine: SearchEngine, question: Question) -> list[tuple[str, float]]:
    answer = engine.ask(Query(words=question[0]), filters=question[1], window=Window(k=20))
    return [(hit.key, hit.score) for hit in answer.hits]


def ask_until(
    over: threading.Event, engine: SearchEngine, answers: list[list[tuple[str, float]]], first: int
) -> list[str]:
    """Ask all questions in turn, beginning with one of them; what is wrong with each answer, "" where nothing is."""
    said: list[str] = []
    for place in count(first):
        if over.is_set():
            break
        question = QUESTIONS[place % len(QUESTIONS)]
        try:
            is_right = hits(engine, question) == answers[place % len(QUESTIONS)]
            said.append("" if is_right else f"{question} has other hits")
        except LibraryError as error:
            said.append(f"{question}: {error}")
    return said


def test_a_query_node_may_be_killed_while_searches_go_on(small: Library, cluster: Cluster) -> None:
    address = f"{cluster.address}/called"
    publish(small, address, replicas=2)
    server = Published(LibraryElsewhere(address))
    number = publish(small, address).generation  # as many as before
    collections = (*server.names.of(number), server.names.files)
    assert [server.connection.replicas(collection) for collection in collections] == [2, 2, 2]
    here, there = SearchEngine.open(small), SearchEngine.open(address)
    expected = [hits(here, question) for question in QUESTIONS]
    over = threading.Event()
    with ThreadPoolExecutor(N_ASKING) as pool:
        asking = [pool.submit(ask_until, over, there, expected, 17 * n) for n in range(N_ASKING)]
        try:
            time.sleep(BEFORE_SECONDS)
            cluster.kill("query-1")
            time.sleep(AFTER_SECONDS)
        finally:
            over.set()
    said = [one for future in asking for one in future.result()]
    assert len(said) > 2 * N_ASKING and not any(said), [one for one in said if one][:5]
    assert examine(small, address, sample=50).is_sound


def test_more_replicas_than_query_nodes_are_refused(library: Library, cluster: Cluster) -> None:
    with pytest.raises(LibraryError, match=r"`icons lab publish --replicas` says how many query nodes"):
        publish(library, f"{cluster.address}/many", replicas=3)
