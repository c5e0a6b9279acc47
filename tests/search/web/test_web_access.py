"""Who may ask the server, and what strangers hear; in this process, through the app itself."""

import asyncio
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from serving import engine, icon_library  # noqa: F401 - fixtures

from indexer.errors import LateError, LibraryError
from search.cli import main
from search.engine import SearchEngine
from search.query import Query, refuse_late, until
from search.web.connections import BusyError, Gate, Limits, TooSlowError
from search.web.guard import cookie_name
from search.web.serve import Access, ServeOptions, access_of, create_app
from search.web.svg import svg_text

TOKEN = "correct horse"
Headers = dict[str, str] | dict[str, bytes]


Asking = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def ask(engine: SearchEngine) -> Iterator[Asking]:
    """Send one request to an app of some access; a route that fails is there too."""
    apps: dict[Access | None, FastAPI] = {}

    def app_of(access: Access | None) -> FastAPI:
        app = create_app(engine, Limits(threads=1), access)

        @app.get("/fails")
        async def fails() -> None:
            raise RuntimeError("secret of the inside")

        return app

    def send(
        path: str, *, access: Access | None = None, method: str = "GET", headers: Headers | None = None
    ) -> httpx.Response:
        if access not in apps:
            apps[access] = app_of(access)
        app = apps[access]

        async def one() -> httpx.Response:
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, headers=headers)

        return asyncio.run(one())

    yield send
    for app in apps.values():
        app.state.service.close()


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/v1/search?q=dot", "/metrics", "/api/v1/openapi.json"])
def test_nothing_is_told_without_the_token(ask: Asking, path: str) -> None:
    access = Access(token=TOKEN)
    assert ask(path, access=access).status_code == 401
    for wrong in (b"Bearer wrong", f"Basic {TOKEN}".encode(), b"Bearer", f"Bearer {TOKEN} ü".encode()):
        assert ask(path, access=access, headers={"Authorization": wrong}).status_code == 401
    assert ask(path, access=access, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize("stated", [["--token", ""], ["--token", " "], ["--host", ""], ["--allow-origin", ""]])
def test_a_stated_value_that_is_empty_opens_no_server(stated: list[str]) -> None:
    done = CliRunner().invoke(main, ["serve", *stated], env={"ICONS_TOKEN": TOKEN})
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"Error: {stated[0]} ") and "would let everybody in" in done.stderr


def test_an_empty_variable_is_no_token(tmp_path: Path) -> None:
    for variable, told in (("", "--token or ICONS_TOKEN is"), (TOKEN, "no library at")):
        done = CliRunner().invoke(main, ["serve", "--library", str(tmp_path / "none")], env={"ICONS_TOKEN": variable})
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1) and told in done.stderr


def test_a_browser_is_let_in_by_an_address_and_then_by_a_cookie(ask: Asking) -> None:
    access = Access(token=TOKEN)
    assert ask("/?token=wrong", access=access).status_code == 401
    let_in = ask("/?token=correct%20horse&q=go+back", access=access)
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/?q=go+back")
    cookie = let_in.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")} and TOKEN not in cookie
    given = cookie.partition(";")[0]
    assert ask("/api/v1/search?q=dot", access=access, headers={"Cookie": given}).status_code == 200
    name = given.partition("=")[0]
    assert ask("/api/v1/search?q=dot", access=access, headers={"Cookie": f"{name}=0"}).status_code == 401
    assert ask("/api/v1/search?q=dot&token=correct%20horse", access=access).status_code == 401


@pytest.mark.parametrize(
    "foreign", ['theme={"dark": true}', "a b=c d", 'quoted="x; y"', "name=grüße", "=", "__Host-x=1; bad[name]=1"]
)
def test_a_cookie_of_another_server_on_this_machine_does_not_hide_ours(ask: Asking, foreign: str) -> None:
    access = Access(token=TOKEN)
    own = ask("/?token=correct%20horse", access=access).headers["set-cookie"].partition(";")[0]
    for cookies in (f"{foreign}; {own}", f"{own}; {foreign}"):
        headers = {"Cookie": cookies.encode()}
        assert ask("/api/v1/search?q=dot", access=access, headers=headers).status_code == 200


def test_a_session_is_of_one_process_and_its_cookie_of_one_port(ask: Asking) -> None:
    first, second = (
        ask("/?token=correct%20horse", access=access).headers["set-cookie"].partition(";")[0].partition("=")[2]
        for access in (Access(token=TOKEN), Access(token=TOKEN, hosts=("localhost",)))
    )
    assert first != second
    servers = (("127.0.0.1", 8000), ("127.0.0.1", 8001), ("/run/icons.sock", None))
    names = ["icons_session_8000", "icons_session_8001", "icons_session"]
    assert [cookie_name({"server": server}) for server in servers] == names


EVIL, OWN = "https://evil.example", "http://localhost"
PICTURE = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
FRAME = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none", **LINK}, 200),
        ({"Sec-Fetch-Site": "cross-site", **LINK}, 200),
        ({"Sec-Fetch-Site": "cross-site", **PICTURE}, 403),
        ({"Sec-Fetch-Site": "cross-site", **FRAME}, 403),
        ({"Sec-Fetch-Site": "same-site", **PICTURE}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": EVIL}, 403),
        ({"Origin": EVIL}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": OWN}, 200),
        ({"Referer": f"{EVIL}/page"}, 403),
        ({"Referer": f"{OWN}/?q=dot"}, 200),
        ({"Sec-Fetch-Site": "cross-site", **LINK, "Sec-Purpose": "prefetch;prerender"}, 403),
        ({"Origin": "https://icons.example", "Host": "icons.example:443"}, 200),
        ({"Origin": "https://icons.example:8443", "Host": "icons.example"}, 403),
        ({"Origin": "https://icons.example:x", "Host": "icons.example"}, 403),
    ],
)
def test_a_page_of_another_server_makes_no_browser_ask(ask: Asking, headers: Headers, status: int) -> None:
    answer = ask("/api/v1/search?q=dot", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert "may not ask this server; see --allow-origin" in answer.json()["error"]


def test_a_link_to_the_page_is_followed_from_anywhere(ask: Asking) -> None:
    assert ask("/?q=dot", headers={"Referer": f"{EVIL}/page"}).status_code == 200
    assert ask("/?q=dot", headers={"Sec-Fetch-Site": "cross-site", **LINK}).status_code == 200
    assert ask("/?q=dot", headers={"Sec-Fetch-Site": "cross-site", **FRAME}).status_code == 403


@pytest.mark.parametrize("origins", [(EVIL,), ("https://Evil.Example/",), ("*",)])
def test_a_page_that_was_allowed_asks_by_script_and_by_picture(ask: Asking, origins: tuple[str, ...]) -> None:
    access = Access(origins=origins)
    for headers in (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": EVIL},
        {"Sec-Fetch-Site": "cross-site", **PICTURE, "Referer": f"{EVIL}/"},
        {"Origin": EVIL},
    ):
        answer = ask("/api/v1/search?q=dot", access=access, headers=headers)
        assert answer.status_code == 200
        if "Origin" in headers:
            assert answer.headers["access-control-allow-origin"] in (EVIL, "*")


@pytest.mark.parametrize("path", ["/", "/api/v1/search?q=dot", "/api/v1/facets", "/static/app.css", "/health"])
def test_a_head_is_answered_as_a_get_without_a_body(ask: Asking, path: str) -> None:
    asked, told = ask(path), ask(path, method="HEAD")
    assert (told.status_code, told.content) == (200, b"")
    assert told.headers["content-type"] == asked.headers["content-type"]
    assert ask("/api/v1/nothing", method="HEAD").status_code == 404


def test_health_says_when_no_search_is_answered(
    ask: Asking, engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LibraryError("the disk has gone")

    with monkeypatch.context() as broken:
        broken.setattr(engine, "search", fail)
        answer = ask("/health", access=Access(hosts=("localhost",)))
        assert (answer.status_code, answer.json()["status"]) == (503, "failing")
    with monkeypatch.context() as full:
        full.setattr(Gate, "is_full", True)
        answer = ask("/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "busy")
    assert ask("/health").json()["status"] == "ok"


@pytest.mark.parametrize("path", ["/api/v1/search?", "/health?", "/?"])
def test_more_parameters_than_any_path_takes_are_refused_unread(ask: Asking, path: str) -> None:
    assert ask(path + "&".join(f"p{n}" for n in range(501))).status_code == 400
    for refusing in ("/api/v1/search", "/health"):
        answer = ask(f"{refusing}?{'&'.join(f'p{n}' for n in range(400))}")
        assert answer.status_code == 422 and answer.json()["error"].startswith('p0 is "": no parameter of this path')


def test_pages_of_a_named_origin_may_ask_and_others_may_not(ask: Asking) -> None:
    access = Access(token=TOKEN, origins=("https://design.example",))
    wanted = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    for origin, allowed in (("https://design.example", "https://design.example"), (EVIL, None)):
        answer = ask("/api/v1/search", access=access, method="OPTIONS", headers={"Origin": origin, **wanted})
        assert answer.headers.get("access-control-allow-origin") == allowed


def test_a_defect_tells_nothing_of_the_inside(ask: Asking) -> None:
    answer = ask("/fails")
    told = {"error": "something went wrong here; the server's log says what"}
    assert (answer.status_code, answer.json()) == (500, told)


@pytest.mark.parametrize("path", ["/", "/api/v1/search?q=dot", "/nothing", "/static/app.css", "/health"])
def test_every_answer_tells_a_browser_what_it_may_not_do(ask: Asking, path: str) -> None:
    headers = ask(path).headers
    assert (headers["x-content-type-options"], headers["cross-origin-resource-policy"]) == ("nosniff", "same-origin")
    assert "frame-ancestors 'none'" in headers["content-security-policy"] and "cache-control" in headers


@pytest.mark.parametrize(
    ("access", "answered", "refused"),
    [
        (Access(hosts=("icons.example", "::1")), ("icons.example:80", "ICONS.example", "[::1]:8000"), ("localhost",)),
        (
            ServeOptions(host="0.0.0.0"),  # without a name: addresses, and what the machine is called
            ("192.168.1.7:8000", "[fe80::1]:8000", "[::1]", "localhost", "desk.lan:8000", "DESK"),
            ("evil.example", "192.168.1.7.evil.example", "127.1", "desk.lan.evil.example", ""),
        ),
        (
            ServeOptions(host="0.0.0.0", names=("Icons.example",)),
            ("icons.example", "localhost"),
            ("192.168.1.7", "desk.lan"),
        ),
        (ServeOptions(), ("127.0.0.1:8000",), ("192.168.1.7", "desk.lan")),
    ],
)
def test_a_server_answers_to_its_own_names_alone(
    ask: Asking,
    monkeypatch: pytest.MonkeyPatch,
    access: Access | ServeOptions,
    answered: tuple[str, ...],
    refused: tuple[str, ...],
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "Desk.lan")
    of = access_of(access) if isinstance(access, ServeOptions) else access
    for host in (*answered, *refused):
        status = 200 if host in answered else 421
        assert ask("/health", access=of, headers={"Host": host}).status_code == status, host


# The gate


def test_work_that_ran_out_of_time_keeps_its_place_until_its_thread_is_free() -> None:
    gate = Gate(threads=1, waiting=0, seconds=0.1)
    release = threading.Event()

    async def scene() -> None:
        with pytest.raises(TooSlowError, match=r"no answer within 0\.1 s"):
            await gate.run(lambda: release.wait(10))
        assert len(gate.inside) == 1
        with pytest.raises(BusyError):
            await gate.run(lambda: None)
        release.set()
        while gate.inside:
            await asyncio.sleep(0.01)
        assert await gate.run(lambda: "free") == "free"

    asyncio.run(scene())
    gate.close()


def test_work_that_looks_on_the_way_ends_when_nobody_waits_and_frees_its_thread() -> None:
    gate = Gate(threads=1, waiting=0, seconds=0.1)

    def work() -> None:
        while True:
            refuse_late()
            time.sleep(0.005)

    async def scene() -> None:
        with pytest.raises(TooSlowError):
            await gate.run(work)
        for _ in range(200):
            if not gate.inside:
                break
            await asyncio.sleep(0.01)
        assert await gate.run(lambda: "free") == "free"

    asyncio.run(scene())
    gate.close()


def test_a_statement_of_sqlite_ends_when_nobody_waits(engine: SearchEngine) -> None:
    endless = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    with until(time.monotonic() + 0.1), pytest.raises(sqlite3.OperationalError, match="interrupted"):
        engine._opened.snapshot._connection.execute(endless).fetchone()
    with until(time.monotonic() - 1), pytest.raises(LateError):
        engine.ask(Query(words="do*", keyword=True))
    assert engine.search("dot a")


# SVG in a colour


@pytest.mark.parametrize(
    ("drawn", "coloured"),
    [
        (b'<svg><path d="M0 0"/></svg>', b'<svg fill="red"><path d="M0 0"/></svg>'),
        (b'<svg fill="none" stroke="currentColor"/>', b'<svg fill="none" stroke="red"/>'),
        (b'<!-- <svg> --><svg style="fill:none"/>', b'<!-- <svg> --><svg style="fill:none"/>'),
        (b'<x:svg xmlns:x="u" stroke="currentcolor"/>', b'<x:svg fill="red" xmlns:x="u" stroke="red"/>'),
    ],
)
def test_a_colour_goes_where_an_icon_states_none(drawn: bytes, coloured: bytes) -> None:
    assert svg_text(drawn, colour="red") == coloured
    assert svg_text(drawn) == drawn
