"""A server still answers while hundreds of connections ask for nothing, or read nothing."""

import asyncio
import resource
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import disc
from serving import serving
from starlette.exceptions import HTTPException
from starlette.requests import Request

from indexer.bench import processes
from indexer.library.folder import Library
from search.web.connections import HEADER_SECONDS, MOST_CONNECTIONS, READING_SECONDS, BusyError, Limits
from search.web.parameters import _PATIENCE_SECONDS, Uploads

HALF_A_REQUEST = b"GET /api/v1/search?q=house HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
PATHS_WITH_BODIES = ("search", "locate", "code", "export")


def half_a_body(path: str) -> bytes:
    return b"POST /api/v1/%b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{" % path.encode()


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


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", marks=pytest.mark.slow),
        pytest.param(HALF_A_REQUEST, marks=pytest.mark.slow),
        half_a_body("search"),
    ],
)
def test_connections_that_ask_for_nothing_keep_nobody_out(
    asked: Path, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where none of them runs out of time."""
    patient = (
        "from search.web import connections, parameters; parameters._PATIENCE_SECONDS = 3600; "
        "connections._SECONDS.update(request=3600, body=3600); "
    )
    monkeypatch.setattr(processes, "_ICONS", patient + processes._ICONS)
    with serving(Library(asked)) as (server, _), connections(server, MOST_CONNECTIONS + 100, said=said):
        for path in ("/health", "/api/v1/search?q=house", "/"):
            assert httpx.get(f"{server.base_url}{path}", timeout=60).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("more", [b"", b"G"])
def test_who_asks_a_hundred_times_and_reads_nothing_keeps_nobody_out(server: httpx.Client, more: bytes) -> None:
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connections(server, MOST_CONNECTIONS - 20, said=request * 100) as deaf:
        for connection in deaf:
            connection.sendall(more)
        with connections(server, 50, said=b""):
            for path in ("/health", "/api/v1/search?q=house"):
                assert answered(f"{server.base_url}{path}") == 200


def answered(url: str) -> int:
    """Ask as a client that comes back, as 503 bids it, while the server still writes what was asked before."""
    ends = time.monotonic() + 3 * READING_SECONDS
    while (status := httpx.get(url, timeout=60).status_code) == 503 and time.monotonic() < ends:
        time.sleep(1)
    return status


def test_bodies_that_arrive_slowly_keep_no_picture_out(server: httpx.Client) -> None:
    picture = disc(4, 12).encode()
    for path in PATHS_WITH_BODIES:
        with connections(server, 100, said=half_a_body(path)) as slow:
            for _ in range(4):
                for connection in slow:
                    connection.sendall(b"xx")
                assert server.post("/api/v1/search?k=1", content=picture).status_code == 200


@pytest.mark.parametrize(
    "path", [PATHS_WITH_BODIES[0], *(pytest.param(path, marks=pytest.mark.slow) for path in PATHS_WITH_BODIES[1:])]
)
def test_who_sends_a_body_letter_by_letter_hears_so_and_is_hung_up_on(server: httpx.Client, path: str) -> None:
    with connections(server, 1, said=half_a_body(path)) as (slow,):
        slow.settimeout(0.5)
        started, said = time.monotonic(), b""
        while time.monotonic() - started < 3 * _PATIENCE_SECONDS:
            with suppress(TimeoutError):
                if time.monotonic() - started < _PATIENCE_SECONDS - 1:
                    slow.sendall(b"x")
                said += (got := slow.recv(4096))
                if not got:
                    break
        assert _PATIENCE_SECONDS - 1 < time.monotonic() - started < 2 * _PATIENCE_SECONDS
        assert said.startswith(b"HTTP/1.1 408") and b"did not arrive within 20 s, at 4 kB/s or more" in said


def test_bodies_take_room_as_they_arrive_and_give_it_back() -> None:
    uploads = Uploads(Limits(threads=1, upload_bytes=1_000_000))

    async def body(n: int) -> AsyncIterator[bytes]:
        async with uploads.picture(_request([b"x" * 100_000] * n)) as picture:
            yield picture

    async def scene() -> None:
        held = [body(10) for _ in range(4)]
        assert [len(await anext(one)) for one in held] == [1_000_000] * 4
        with pytest.raises(BusyError):
            await anext(body(10))
        await held[0].aclose()
        for refused in (b"", b"x" * 5_000_000):
            with pytest.raises(HTTPException):
                await anext(body(len(refused) // 100_000))
        assert len(await anext(body(10))) == 1_000_000

    asyncio.run(scene())


def _request(chunks: list[bytes]) -> Request:
    messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    coming = iter([*messages, {"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        return next(coming)

    return Request({"type": "http", "headers": []}, receive)


@pytest.mark.slow
def test_an_upload_that_breaks_off_leaves_no_trace_in_the_log(asked: Path) -> None:
    post = b"POST /api/v1/search HTTP/1.1\r\nHost: localhost\r\n"
    broken = [post + b"Content-Length: 9\r\n\r\nab", post + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n"]
    with processes.serving(str(asked)) as running:
        for said in broken * 3:
            with socket.create_connection((running.host, running.port)) as connection:
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(10)
                while connection.recv(4096):
                    pass
        assert httpx.get(f"http://{running.host}:{running.port}/health", timeout=30).status_code == 200
        assert "Traceback" not in running.log_text()


@pytest.mark.parametrize("charset", ["punycode", "undefined", "idna", "utf-16", "rot13", "no such"])
def test_a_form_is_read_as_utf_8_whatever_codec_it_names(server: httpx.Client, charset: str) -> None:
    field = "picture-" + "a" * 100_000
    form = f'--XBX\r\nContent-Disposition: form-data; name="{field}"\r\n\r\nx\r\n--XBX--\r\n'
    kind = f"multipart/form-data; boundary=XBX; charset={charset}"
    answer = server.post("/api/v1/search", content=form.encode(), headers={"Content-Type": kind})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"].startswith(("the form holds no file", "the form can't be read"))


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
        assert HEADER_SECONDS - 1 < time.monotonic() - started < 3 * HEADER_SECONDS


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
