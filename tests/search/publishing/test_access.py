"""A real server that lets in only who has a token, over TLS with a certificate that no system knows."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from milvus_standalone import free_port, install, running
from published_icons import here, library, own_cache  # noqa: F401 - fixtures
from tools import lacking

from indexer.library.folder import TOKEN, Library
from search.engine import SearchEngine
from search.generation.milvus.connection import AUTHORITY, TOKEN_FILE
from search.publishing.publish import publish
from search.query import Query

pytestmark = pytest.mark.slow
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
def address(
    library: Library, certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Of a library that was published with the token; ICONS_TEST_MILVUS_FOLDER names where a server was installed."""
    folder = Path(os.environ.get("ICONS_TEST_MILVUS_FOLDER") or tmp_path_factory.mktemp("milvus"))
    install(folder)
    given = {"server_pem_path": str(certificate[0]), "server_key_path": str(certificate[1])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TOKEN, RIGHT)
        patch.setenv(AUTHORITY, str(certificate[0]))
        guarded = {"authorization_enabled": True, "tls_mode": 1, **given}
        with running(folder, port=free_port(), settings=guarded) as server:
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
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
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
    assert f'"{address}" lets nobody in without the right token' in line
    assert TOKEN in line
    assert "other" not in line


def test_a_server_of_another_authority_is_refused(address: str, tmp_path: Path) -> None:
    other, _ = make_certificate(tmp_path / "other")
    for authority in ({AUTHORITY: str(other)}, {}):
        line = refused(search(address, **{TOKEN: RIGHT, **authority}))
        assert f'"{address}" shows a certificate that nothing here trusts; {AUTHORITY} names' in line


def test_a_certificate_that_is_not_there_is_named(address: str, tmp_path: Path) -> None:
    line = refused(search(address, **{TOKEN: RIGHT, AUTHORITY: str(tmp_path / "none.pem")}))
    assert f'"{tmp_path / "none.pem"}"' in line


def test_a_server_with_tls_is_not_asked_without(address: str) -> None:
    plain = address.replace("milvus+tls", "milvus")
    line = refused(search(plain, **{TOKEN: RIGHT}))
    assert f'"{plain}" does not answer' in line
    assert "milvus+tls://" in line
