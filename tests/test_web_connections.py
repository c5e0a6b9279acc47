"""Does a server still answer while hundreds of connections ask for nothing, or read nothing?"""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from serving import serving

from indexer.library import Library
from search.web.connections import HEADER_SECONDS, MOST_CONNECTIONS, READING_SECONDS

HALF_A_REQUEST = b"GET /api/v1/search?q=house HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@pytest.fixture(scope="module")
def server(asked: Path) -> Iterator[httpx.Client]:
    with serving(Library(asked)) as (client, _):
        yield client


@pytest.fixture(autouse=True)
def room() -> Iterator[None]:
    """Enough open files for all those connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def connections(server: httpx.Client, n: int, *, said: bytes) -> Iterator[list[socket.socket]]:
    """Open connections that say something and nothing more."""
    with ExitStack() as opened:
        found = []
        for _ in range(n):
            connection = opened.enter_context(socket.create_connection((server.base_url.host, server.base_url.port)))
            connection.sendall(said)
            found.append(connection)
        yield found


@pytest.mark.parametrize("said", [b"", HALF_A_REQUEST])
def test_connections_that_ask_for_nothing_keep_nobody_out(server: httpx.Client, said: bytes) -> None:
    with connections(server, MOST_CONNECTIONS + 100, said=said):
        for path in ("/health", "/api/v1/search?q=house", "/"):
            started = time.monotonic()
            assert httpx.get(f"{server.base_url}{path}", timeout=30).status_code == 200
            assert time.monotonic() - started < 5


@pytest.mark.slow
def test_who_sends_a_request_letter_by_letter_is_hung_up_on(server: httpx.Client) -> None:
    with connections(server, 1, said=HALF_A_REQUEST) as (slow,):
        slow.settimeout(0.5)
        started = time.monotonic()
        while time.monotonic() - started < 3 * HEADER_SECONDS:
            try:
                slow.sendall(b"x")
                if slow.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert HEADER_SECONDS - 1 < time.monotonic() - started < HEADER_SECONDS + 3


@pytest.mark.slow
def test_who_reads_nothing_is_hung_up_on(server: httpx.Client) -> None:
    """Answers to requests in a row fill all buffers between here and there."""
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connections(server, 1, said=request * 2000) as (deaf,):
        time.sleep(READING_SECONDS + 5)
        n_read, deaf_until = 0, time.monotonic() + 30
        with pytest.raises(ConnectionError):
            while time.monotonic() < deaf_until:
                got = len(deaf.recv(1 << 16))
                n_read += got
                if not got:
                    raise ConnectionResetError
    assert httpx.get(f"{server.base_url}/health", timeout=30).status_code == 200
