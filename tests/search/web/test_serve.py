"""The server answers over HTTP what the engine answers, and keeps to its limits whatever it is sent."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from conftest import disc
from PIL import Image
from serving import HOSTILE, START, index_into, serving, write_icons, write_set
from small_icons import SLOW

from indexer.library.folder import Library
from search.engine import Query, SearchEngine

API = "/api/v1"


@pytest.fixture(scope="module")
def icon_library(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    folder = tmp_path_factory.mktemp("served")
    write_icons(folder / "icons")
    write_set(folder / "own.json")
    library = Library(folder / "library")
    index_into(library, folder / "icons", folder / "own.json", model=tiny_model)
    return library


@pytest.fixture(scope="module")
def client(icon_library: Library) -> Iterator[httpx.Client]:
    with serving(icon_library, "--upload-mb", "0.2", "--seconds", "6") as (opened, _):
        yield opened


@pytest.fixture(scope="module")
def ids(icon_library: Library) -> dict[str, int]:
    engine = SearchEngine.open(icon_library.root)
    names = ("dot-a", "arrow-up", "hostile", "current", "packed", "photo", "own:shape-a", "own:turned")
    return {name: engine.find(name) for name in names}


def test_a_search_answers_what_the_engine_does_with_addresses_of_the_pictures(
    client: httpx.Client, icon_library: Library
) -> None:
    answer = client.get(f"{API}/search", params={"q": "arrowUp", "k": 3}).json()
    hits = SearchEngine.open(icon_library.root).search("arrow up", k=3)
    assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in hits]
    assert answer["hits"][0]["name"] in ("arrow-up", "arrow-up-filled")
    assert (answer["query"], answer["generation"]) == ("arrowUp", 1)
    assert answer["ms"] > 0
    for hit in answer["hits"]:
        assert client.get(hit["svg_url"]).headers["content-type"] == "image/svg+xml"
        assert client.get(hit["png_url"]).headers["content-type"] == "image/png"


def test_no_folder_of_the_machine_is_told(client: httpx.Client, icon_library: Library, ids: dict[str, int]) -> None:
    folder = str(icon_library.root.parent)
    for path in ("search?q=dot", f"icons/{ids['photo']}", f"icons/{ids['own:shape-a']}", "facets"):
        answer = client.get(f"{API}/{path}")
        assert answer.status_code == 200
        assert folder not in answer.text
    assert client.get(f"{API}/icons/{ids['photo']}").json()["path"] == "photo.png"


def test_why_an_icon_stands_where_it_stands_is_told(
    client: httpx.Client, icon_library: Library, ids: dict[str, int]
) -> None:
    answer = client.get(f"{API}/icons/{ids['photo']}/why", params={"q": "arrow up", "not": ["dot", "shape"]})
    told = answer.json()
    engine = SearchEngine.open(icon_library.root)
    explained = engine.explain(Query(words="arrow up", without=("dot", "shape")), ids["photo"])
    assert (told["typed"], told["without"], told["shown"]) == ("arrow up", ["dot", "shape"], explained.shown)
    assert told["icon"]["cosines"] == explained.icon.cosines
    assert told["icon"]["evidence"] == explained.icon.evidence
    assert told["first"]["tier"] == "named"
    assert (told["icon"]["hit"]["path"], told["icon"]["hit"]["svg_url"]) == ("photo.png", None)
    assert str(icon_library.root.parent) not in answer.text
    assert client.get(told["icon"]["hit"]["png_url"]).status_code == 200


def test_a_pasted_svg_finds_its_icon(client: httpx.Client) -> None:
    for drawing in (disc(4, 12), f'<?xml version="1.0"?>\n<!-- a dot -->\n{disc(4, 12)}'):
        answer = client.get(f"{API}/search", params={"q": drawing, "k": 1}).json()
        assert [hit["name"] for hit in answer["hits"]] == ["dot-a"]
        assert answer["hits"][0]["similarity"] == pytest.approx(1, abs=1e-3)
    assert client.get(f"{API}/search", params={"q": "<svg >no picture"}).status_code == 422


def test_svgs_come_as_they_are_stored(client: httpx.Client, ids: dict[str, int]) -> None:
    assert client.get(f"{API}/icons/{ids['dot-a']}/svg").text == disc(4, 12)
    assert client.get(f"{API}/icons/{ids['packed']}/svg").text.startswith("<svg ")
    turned = client.get(f"{API}/icons/{ids['own:turned']}/svg").text
    assert '<g transform="rotate(90 12 12)">' in turned


def test_a_colour_is_given_to_what_an_icon_leaves_open(client: httpx.Client, ids: dict[str, int]) -> None:
    coloured = client.get(f"{API}/icons/{ids['current']}/svg", params={"colour": "#08f"}).text
    assert client.get(f"{API}/icons/{ids['current']}/svg", params={"color": "#08f"}).text == coloured
    assert 'fill="#08f"' in coloured and "currentColor" not in coloured
    drawn = client.get(f"{API}/icons/{ids['dot-a']}/png", params={"colour": "red", "size": 24})
    with Image.open(io.BytesIO(drawn.content)) as image:
        assert image.size == (24, 24)
        assert image.getpixel((4, 12)) == (255, 0, 0, 255)
    refused = client.get(f"{API}/icons/{ids['current']}/svg", params={"colour": '"><script>'})
    assert refused.status_code == 422


def test_a_bitmap_has_a_png_and_no_svg(client: httpx.Client, ids: dict[str, int]) -> None:
    assert client.get(f"{API}/icons/{ids['photo']}").json()["svg_url"] is None
    assert client.get(f"{API}/icons/{ids['photo']}/svg").status_code == 404
    with Image.open(io.BytesIO(client.get(f"{API}/icons/{ids['photo']}/png?size=30").content)) as image:
        assert image.size == (30, 20)


def test_a_script_in_an_svg_is_sent_where_it_can_not_run(client: httpx.Client, ids: dict[str, int]) -> None:
    answer = client.get(f"{API}/icons/{ids['hostile']}/svg")
    assert answer.text == HOSTILE
    policy = answer.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "sandbox"} <= set(policy)
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_many_pictures_come_as_one_svg_where_no_script_can_run(client: httpx.Client, ids: dict[str, int]) -> None:
    shown = {name: client.get(f"{API}/icons/{icon}").json() for name, icon in ids.items()}
    vectors = [f"{hit['image']}-{hit['digest']}" for name, hit in shown.items() if name != "photo"]
    answer = client.get(f"{API}/svgs", params={"image": vectors})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert {"default-src 'none'", "sandbox"} <= set(answer.headers["content-security-policy"].split("; "))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in answer.headers["cache-control"]
    layers = ElementTree.fromstring(answer.text).findall("{*}svg")
    assert [layer.attrib["id"] for layer in layers] == [f"i{image}" for image in vectors]
    assert "<script" not in answer.text and "onclick" not in answer.text


def test_a_picture_that_can_not_be_read_leaves_the_others(client: httpx.Client, ids: dict[str, int]) -> None:
    dot, photo, arrow = (client.get(f"{API}/icons/{ids[name]}").json() for name in ("dot-a", "photo", "arrow-up"))
    wrong = f"{arrow['image']}-{dot['digest']}"
    for asked in (dot["image"], f"{dot['image']}-{dot['digest']}"):
        answer = client.get(f"{API}/svgs", params={"image": [asked, photo["image"], 999_999, wrong]})
        layers = ElementTree.fromstring(answer.text).findall("{*}svg")
        assert [layer.attrib["id"] for layer in layers] == [f"i{asked}"]
        assert "no-cache" in answer.headers["cache-control"]
        assert answer.headers["icons-left-out"] == f"{photo['image']},999999,{arrow['image']}"


def test_an_icon_is_named_by_its_key_wherever_its_id_is_taken(client: httpx.Client, ids: dict[str, int]) -> None:
    for key in ("own:shape-a", "own:turned"):
        for path in ("icons/{}", "icons/{}/svg", "icons/{}/png", "similar/{}", "icons/{}/why?q=dot", "search?icon={}"):
            by_key, by_id = (client.get(f"{API}/{path.format(icon)}") for icon in (key, ids[key]))
            assert by_key.status_code == by_id.status_code == 200
            if by_key.headers["content-type"] != "application/json":
                assert by_key.content == by_id.content
                continue
            for timed in (told := [answer.json() for answer in (by_key, by_id)]):
                timed.pop("ms", None)
            assert told[0] == told[1]


def test_a_picture_is_kept_for_ever_under_an_address_that_names_it(client: httpx.Client, ids: dict[str, int]) -> None:
    hit = client.get(f"{API}/icons/{ids['dot-a']}").json()
    other = client.get(f"{API}/icons/{ids['dot-a'] + 1}").json()
    for url in ("svg_url", "png_url"):
        assert hit[url].endswith(f"?v={hit['digest']}")
        assert "immutable" in client.get(hit[url]).headers["cache-control"]
        for wrong in (other["digest"], hit["digest"][:31], hit["image"], ""):
            answer = client.get(f"{hit[url].partition('?')[0]}?v={wrong}")
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "private, no-cache")
    stack = client.get(f"{API}/svgs?image={hit['image']}-{hit['digest']}&image={other['image']}")
    assert stack.headers["cache-control"] == "private, no-cache"  # the other one may be any library's
    plain = client.get(hit["svg_url"].partition("?")[0])
    assert "no-cache" in plain.headers["cache-control"]
    again = client.get(hit["svg_url"].partition("?")[0], headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("search?q=dot&k=0", 422, 'k is "0"'),
        ("search?q=dot&k=1000000", 422, 'k is "1000000"'),
        ("search?q=dot&k=ten", 422, 'k is "ten"'),
        ("search?q=dot&min_score=2", 422, 'min_score is "2"'),
        ("search?q=dot&colour=red", 422, 'colour is "red"'),
        ("search?icon=icons:arow-up", 404, 'no icon "icons:arow-up" in this library; near: icons:arrow-up'),
        ("search?q=&not=dot", 400, "empty"),
        ("search?keyword=true", 400, "empty"),
        ("search?sort=size", 422, 'sort is "size"'),
        ("search?q=dot&offset=10000", 400, "beyond hit 10,000"),
        ("search?q=dot&set=icon", 400, 'no set "icon" in this library; near: icons'),
        ("icons/999999", 404, '"999999"'),
        ("icons/999999/svg", 404, '"999999"'),
        ("icons/own:shape-z", 404, 'no icon "own:shape-z" in this library; near: own:shape-'),
        ("icons/own:shape-z/png", 404, "near: own:shape-"),
        ("similar/own:shape-z", 404, "near: own:shape-"),
        ("icons/own:shape-z/why?q=dot", 404, "near: own:shape-"),
        ("icons/" + "x" * 501, 422, "icon is"),
        ("svgs?image=-1", 422, "-1"),
        ("svgs?image=1-ab", 422, "1-ab"),
        ("svgs?image=9999999999999999999", 422, "9999999999999999999"),
        ("svgs?" + "image=1&" * 101, 422, "100"),
        ("svgs", 422, "image"),
        ("icons/99999999999999999999", 404, "99999999999999999999"),
        ("icons/1/png?size=100000", 422, 'size is "100000"'),
        ("nothing/here", 404, "Not Found"),
    ],
)
def test_what_can_not_be_answered_is_refused_in_one_sentence(
    client: httpx.Client, path: str, status: int, told: str
) -> None:
    answer = client.get(f"{API}/{path}")
    assert answer.status_code == status
    assert told in answer.json()["error"]


ODD = [
    "->",
    "c++",
    "'; DROP TABLE icons; --",
    "AND OR NOT",
    "🎉",
    "שלום",
    "ж" * 10_000,
    "a\x00b",
    "*",
    '"',
    "%",
    "\u202e",
]


@pytest.mark.parametrize("query", ODD)
@pytest.mark.parametrize("keyword", [False, True])
def test_odd_queries_are_answered_or_refused_never_failed(client: httpx.Client, query: str, keyword: bool) -> None:
    answer = client.get(f"{API}/search", params={"q": query, "keyword": keyword})
    assert answer.status_code in (200, 400), answer.text
    assert "hits" in answer.json() or answer.json()["error"]


@pytest.mark.parametrize(
    "path", ["/static/../service.py", "/static/%2e%2e/service.py", "/static//etc/passwd", "/../../etc/passwd"]
)
def test_no_path_leads_out_of_the_folder_of_the_page(client: httpx.Client, path: str) -> None:
    request = client.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=path.encode())
    answer = client.send(request)
    assert answer.status_code == 404
    assert client.get("/static/app.js").status_code == 200


def test_the_body_of_an_answer_does_not_wait_for_its_headers_to_be_acknowledged(client: httpx.Client) -> None:
    in_time = 0
    with closing(HTTPConnection(client.base_url.host, client.base_url.port or 80)) as connection:
        for number in range(200):
            connection.request("GET", f"{API}/search?q=arrow&k=20")
            answer = connection.getresponse()
            began = time.monotonic()
            assert answer.read()
            # An acknowledgement may take 0.04 s, and takes it, but for the first packets of a connection.
            in_time += number >= 3 and time.monotonic() - began < 0.03
            if in_time == 3:
                break
    assert in_time == 3


def test_health_and_metrics_tell_how_the_server_is(client: httpx.Client, icon_library: Library) -> None:
    health = client.get("/health").json()
    assert (health["status"], health["generation"], health["icons"]) == ("ok", 1, 21)
    client.get(f"{API}/icons/999999")
    figures = client.get("/metrics").text
    assert 'icons_requests_total{method="GET",route="/api/v1/icons/{icon}",status="404"}' in figures
    assert 'icons_request_seconds_bucket{le="0.1",route="/api/v1/search"}' in figures
    assert "icons_generation 1.0" in figures and "process_resident_memory_bytes" in figures
    assert "icons/999999" not in figures


# Pictures that are sent


def _own_picture(client: httpx.Client, icon: int) -> bytes:
    return client.get(f"{API}/icons/{icon}/png?size=96").content


def test_a_picture_finds_the_icon_that_it_shows(client: httpx.Client, ids: dict[str, int]) -> None:
    picture = _own_picture(client, ids["dot-a"])
    as_body = client.post(f"{API}/search?k=3", content=picture, headers={"Content-Type": "image/png"}).json()
    assert as_body["hits"][0]["id"] == ids["dot-a"]
    as_form = client.post(f"{API}/search?k=3", files={"picture": ("x.png", picture, "image/png")}).json()
    assert [hit["id"] for hit in as_form["hits"]] == [hit["id"] for hit in as_body["hits"]]


def _many_pixels() -> bytes:
    written = io.BytesIO()
    Image.new("1", (10_000, 10_000)).save(written, "PNG")
    return written.getvalue()


@pytest.mark.parametrize(
    ("picture", "status", "told"),
    [
        (b"", 422, "empty"),
        (b"no picture", 422, "not a picture"),
        (b"x" * 300_000, 413, "0.2 MB"),
        (_many_pixels(), 422, "more than 64 million pixels"),
        (SLOW, 422, "took longer than"),
        (b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>', 422, "entities"),
    ],
    ids=["empty", "text", "bytes", "pixels", "time", "entities"],
)
def test_a_picture_beyond_a_limit_is_refused_and_the_server_goes_on(
    client: httpx.Client, picture: bytes, status: int, told: str
) -> None:
    for sent in ({"content": picture}, {"files": {"picture": ("x", picture)}}):
        answer = client.post(f"{API}/search", **sent)  # type: ignore[arg-type]
        assert answer.status_code == status, answer.text
        assert told in answer.json()["error"]
    assert client.get(f"{API}/search?q=dot").status_code == 200


def test_a_picture_without_a_stated_length_is_cut_off_at_the_limit(client: httpx.Client) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 10_000
            yield b"x" * 10_000

    with suppress(httpx.TransportError):  # the server has hung up: nobody reads on
        assert client.post(f"{API}/search", content=endless()).status_code == 413
    assert sent < 50_000_000


def test_a_form_without_a_picture_is_refused(client: httpx.Client) -> None:
    answer = client.post(f"{API}/search", files={"other": b"x"})
    assert answer.status_code == 422
    assert '"picture"' in answer.json()["error"]
    broken = client.post(f"{API}/search", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert broken.status_code == 400


# Servers of their own


@pytest.mark.slow
def test_a_new_generation_answers_without_a_failed_request(tmp_path: Path, tiny_model: Path) -> None:
    write_icons(tmp_path / "icons")
    library = Library(tmp_path / "library")
    index_into(library, tmp_path / "icons", model=tiny_model)
    statuses: list[int] = []
    stop = threading.Event()
    with serving(library) as (client, _), ThreadPoolExecutor(4) as asking:
        first = client.get(f"{API}/search?q=dot&k=1").json()["hits"][0]

        def ask() -> None:
            while not stop.wait(0.02):
                statuses.append(client.get(f"{API}/search?q=dot").status_code)
                statuses.append(client.get(first["svg_url"]).status_code)

        for _ in range(4):
            asking.submit(ask)
        for generation in (2, 3, 4):
            (tmp_path / "icons" / f"star-{generation}.svg").write_text(disc(20, 3 + generation))
            index_into(library, model=tiny_model)
            _wait_for(lambda number=generation: client.get("/health").json()["generation"] == number)
            assert client.get(f"{API}/search", params={"q": f"star {generation}"}).json()["hits"][0]["exact"]
        stop.set()
    assert set(statuses) == {200}
    assert len(statuses) > 50


def _wait_for(condition: object, seconds: float = 20) -> None:
    assert callable(condition)
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.mark.slow
def test_a_changed_file_is_not_handed_out(tmp_path: Path, tiny_model: Path) -> None:
    write_icons(tmp_path / "icons")
    library = Library(tmp_path / "library")
    index_into(library, tmp_path / "icons", model=tiny_model)
    icon = SearchEngine.open(library.root).find("dot-a")
    secret = tmp_path / "secret.svg"
    secret.write_text(disc(3, 3))
    file = tmp_path / "icons" / "dot-a.svg"
    with serving(library) as (client, _):
        assert client.get(f"{API}/icons/{icon}/svg").status_code == 200
        file.unlink()
        for change in (lambda: None, lambda: file.symlink_to(secret)):
            change()
            for kind in ("svg", "png"):
                answer = client.get(f"{API}/icons/{icon}/{kind}")
                assert answer.status_code == 410
                assert str(tmp_path) not in answer.text


@pytest.mark.slow
def test_too_many_at_once_are_told_so_quickly_and_all_others_are_answered(icon_library: Library) -> None:
    with serving(icon_library, "--threads", "1", "--waiting", "2") as (client, _):
        address = f"{client.base_url}{API}/search?q=dot&k=50"
        client.get(address)

        def ask(number: int) -> int:  # each for something else: who asks the same at once is answered at once
            with closing(HTTPConnection(client.base_url.host, client.base_url.port or 80, timeout=30)) as connection:
                connection.request("GET", f"{API}/search?q=dot+{number}&k=50")
                answer = connection.getresponse()
                assert answer.status != 503 or answer.headers["retry-after"] == "1"
                return answer.status

        with ThreadPoolExecutor(48) as pool:
            assert set(pool.map(ask, range(200))) == {200, 503}
        assert client.get(address).status_code == 200


def test_a_server_ends_on_ctrl_c_with_its_processes(icon_library: Library) -> None:
    with serving(icon_library) as (client, server):
        hit = client.get(f"{API}/search?q=dot&k=1").json()["hits"][0]
        assert client.get(hit["png_url"]).status_code == 200
        children = _children(server.pid)
        assert children
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
        _wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def _children(parent: int) -> list[str]:
    return Path(f"/proc/{parent}/task/{parent}/children").read_text().split() or [
        process.name
        for process in Path("/proc").glob("[0-9]*")
        if (process / "stat").exists() and (process / "stat").read_text().rpartition(")")[2].split()[1] == str(parent)
    ]


def _serve(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", START, "serve", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=dict(os.environ))


def test_a_library_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    done = _serve("--port", "0", "--library", str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "`icons index SOURCE` builds one" in done.stderr
