"""The server answers over HTTP what the engine answers, and keeps to its limits whatever it is sent."""

import asyncio
import io
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest
from conftest import build_library, disc
from PIL import Image, ImageDraw
from serving import HOSTILE, client, engine, icon_library, index_icons, serving  # noqa: F401 - fixtures
from small_icons import SLOW

from indexer.library.folder import Library
from search.engine import Query, SearchEngine
from search.web.service import AskedLately, SentAnswer, first_layers

API = "/api/v1"


@pytest.fixture(scope="module")
def ids(engine: SearchEngine) -> dict[str, int]:
    names = ("dot-a", "arrow-up", "hostile", "current", "packed", "photo", "own:shape-a", "own:turned")
    return {name: engine.find(name) for name in names}


def test_a_search_answers_what_the_engine_does_with_addresses_of_the_pictures(
    client: httpx.Client, engine: SearchEngine
) -> None:
    answer = client.get(f"{API}/search", params={"q": "arrowUp", "k": 3}).json()
    assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in engine.search("arrow up", k=3)]
    assert answer["hits"][0]["name"] in ("arrow-up", "arrow-up-filled")
    assert (answer["query"], answer["generation"], answer["ms"] > 0) == ("arrowUp", 1, True)
    for hit in answer["hits"]:
        assert client.get(hit["svg_url"]).headers["content-type"] == "image/svg+xml"
        assert client.get(hit["png_url"]).headers["content-type"] == "image/png"


def test_no_folder_of_the_machine_is_told(client: httpx.Client, icon_library: Library, ids: dict[str, int]) -> None:
    folder = str(icon_library.root.parent)
    for path in ("search?q=dot", f"icons/{ids['photo']}", f"icons/{ids['own:shape-a']}", "facets"):
        answer = client.get(f"{API}/{path}")
        assert answer.status_code == 200 and folder not in answer.text
    assert client.get(f"{API}/icons/{ids['photo']}").json()["path"] == "photo.png"


def test_why_an_icon_stands_where_it_stands_is_told(
    client: httpx.Client, engine: SearchEngine, ids: dict[str, int]
) -> None:
    answer = client.get(f"{API}/icons/{ids['photo']}/why", params={"q": "arrow up", "not": ["dot", "shape"]})
    told = answer.json()
    explained = engine.explain(Query(words="arrow up", without=("dot", "shape")), ids["photo"])
    assert (told["typed"], told["without"], told["shown"]) == ("arrow up", ["dot", "shape"], explained.shown)
    assert told["icon"]["evidence"] == explained.icon.evidence
    assert (told["icon"]["hit"]["path"], told["icon"]["hit"]["svg_url"]) == ("photo.png", None)
    assert str(engine.library.root.parent) not in answer.text
    asked = {"q": "arrow up", "set": "own", "flat": True, "min_score": 0}
    hits = client.get(f"{API}/search", params={**asked, "k": 50}).json()["hits"]
    for path, rank in ((hits[1]["id"], 2), (ids["photo"], None)):
        told = client.get(f"{API}/icons/{path}/why", params=asked).json()
        assert (told["icon"]["rank"], told["first"]["hit"]["key"]) == (rank, hits[0]["key"])
    assert told["shown"] == "not a hit: the filters leave it out"


def test_a_pasted_svg_finds_its_icon(client: httpx.Client) -> None:
    answer = client.get(f"{API}/search", params={"q": disc(4, 12), "k": 1}).json()
    assert [hit["name"] for hit in answer["hits"]] == ["dot-a"]


def test_a_colour_is_given_to_what_an_icon_leaves_open(client: httpx.Client, ids: dict[str, int]) -> None:
    assert client.get(f"{API}/icons/{ids['packed']}/svg").text.startswith("<svg ")
    coloured = client.get(f"{API}/icons/{ids['current']}/svg", params={"colour": "#08f"}).text
    assert client.get(f"{API}/icons/{ids['current']}/svg", params={"color": "#08f"}).text == coloured
    assert 'fill="#08f"' in coloured and "currentColor" not in coloured
    drawn = client.get(f"{API}/icons/{ids['dot-a']}/png", params={"colour": "red", "size": 24})
    with Image.open(io.BytesIO(drawn.content)) as image:
        assert image.size == (24, 24)
        assert image.getpixel((4, 12)) == (255, 0, 0, 255)
    assert client.get(f"{API}/icons/{ids['current']}/svg", params={"colour": '"><script>'}).status_code == 422


def test_a_bitmap_has_a_png_and_no_svg(client: httpx.Client, ids: dict[str, int]) -> None:
    assert client.get(f"{API}/icons/{ids['photo']}").json()["svg_url"] is None
    assert client.get(f"{API}/icons/{ids['photo']}/svg").status_code == 404
    with Image.open(io.BytesIO(client.get(f"{API}/icons/{ids['photo']}/png?size=30").content)) as image:
        assert image.size == (30, 20)


def test_a_script_in_an_svg_is_sent_where_it_can_not_run(client: httpx.Client, ids: dict[str, int]) -> None:
    answer = client.get(f"{API}/icons/{ids['hostile']}/svg")
    assert answer.text == HOSTILE
    assert {"default-src 'none'", "sandbox"} <= set(answer.headers["content-security-policy"].split("; "))
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
    key = "own:turned"
    for path in ("icons/{}", "icons/{}/svg", "icons/{}/png", "icons/{}/why?q=dot"):
        by_key, by_id = (client.get(f"{API}/{path.format(icon)}") for icon in (key, ids[key]))
        assert (by_key.status_code, by_key.content) == (200, by_id.content)
    by_key, by_id = (client.get(f"{API}/similar/{icon}").json()["hits"] for icon in (key, ids[key]))
    assert by_key == by_id == client.get(f"{API}/search?icon={key}").json()["hits"]


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
        ("search?q=<svg >no picture", 422, "can't be drawn"),
        ("search?q=dot&k=0", 422, 'k is "0"'),
        ("search?q=dot&k=1000000", 422, 'k is "1000000"'),
        ("search?q=dot&k=ten", 422, 'k is "ten"'),
        ("search?q=dot&min_score=2", 422, 'min_score is "2"'),
        ("search?q=dot&colour=red", 422, 'colour is "red": no parameter of this path; it takes animated, category'),
        ("icons/icons:dot-a/svg?colour=javascript", 422, 'colour is "javascript": no colour; give a name'),
        ("facets?k=1", 422, 'k is "1": no parameter of this path; it takes none'),
        ("icons/icons:dot-a/svg?color=red&size=2", 422, 'size is "2": no parameter of this path; it takes color, '),
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
        ("nothing/here", 404, 'nothing is at "/api/v1/nothing/here"; /api/v1/openapi.json'),
    ],
)
def test_what_can_not_be_answered_is_refused_in_one_sentence(
    client: httpx.Client, path: str, status: int, told: str
) -> None:
    answer = client.get(f"{API}/{path}")
    assert answer.status_code == status and told in answer.json()["error"]


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
    assert client.send(request).status_code == 404
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
    told = (
        'icons_requests_total{method="GET",route="/api/v1/icons/{icon}",status="404"}',
        'icons_request_seconds_bucket{le="0.1",route="/api/v1/search"}',
        *("icons_generation 1.0", "process_resident_memory_bytes"),
    )
    assert [one for one in told if one not in figures] == [] and "icons/999999" not in figures


# Pictures that are sent


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def test_a_picture_finds_the_icon_that_it_shows(client: httpx.Client, ids: dict[str, int]) -> None:
    picture = client.get(f"{API}/icons/{ids['dot-a']}/png?size=96").content
    as_body = client.post(f"{API}/search?k=3", content=picture, headers={"Content-Type": "image/png"}).json()
    assert (as_body["hits"][0]["id"], as_body["note"]) == (ids["dot-a"], None)
    as_form = client.post(f"{API}/search?k=3", files={"picture": ("x.png", picture, "image/png")}).json()
    assert [hit["id"] for hit in as_form["hits"]] == [hit["id"] for hit in as_body["hits"]]
    lost = client.post(f"{API}/search?min_score=1", content=_png(Image.effect_noise((400, 300), 90))).json()
    assert (lost["hits"], f"{API}/locate" in lost["note"]) == ([], True)


@pytest.mark.parametrize(
    ("picture", "status", "told"),
    [
        (b"", 422, "empty"),
        (b"no picture", 422, "not a picture"),
        (b"x" * 300_000, 413, "0.2 MB"),
        (_png(Image.new("1", (10_000, 10_000))), 422, "more than 64 million pixels"),
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
        assert answer.status_code == status and told in answer.json()["error"], answer.text
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
    assert answer.status_code == 422 and '"picture"' in answer.json()["error"]
    broken = client.post(f"{API}/search", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert broken.status_code == 400


# Servers of their own


@pytest.mark.slow
def test_a_new_generation_answers_without_a_failed_request(tmp_path: Path, tiny_model: Path) -> None:
    library = index_icons(tmp_path, tiny_model)
    statuses: list[int] = []
    seen: set[tuple[int, int]] = set()
    stop = threading.Event()
    with serving(library) as (client, _), ThreadPoolExecutor(4) as asking:
        first = client.get(f"{API}/search?q=dot&k=1").json()["hits"][0]

        def ask() -> None:
            while not stop.wait(0.02):
                found = client.get(f"{API}/search?q=star").json()
                seen.add((found["generation"], sum(hit["name"].startswith("star") for hit in found["hits"])))
                statuses.append(client.get(first["svg_url"]).status_code)

        for _ in range(4):
            asking.submit(ask)
        for generation in (2, 3, 4):
            (tmp_path / "icons" / f"star-{generation}.svg").write_text(disc(20, 3 + generation))
            build_library(library, tiny_model, [])
            _wait_for(lambda number=generation: client.get("/health").json()["generation"] == number)
            assert client.get(f"{API}/search", params={"q": f"star {generation}"}).json()["hits"][0]["exact"]
        stop.set()
    assert set(statuses) == {200} and len(statuses) > 25
    assert seen <= {(1, 0), (2, 1), (3, 2), (4, 3)} and (4, 3) in seen


def _wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.mark.slow
def test_a_changed_file_is_not_handed_out(tmp_path: Path, tiny_model: Path) -> None:
    library = index_icons(tmp_path, tiny_model)
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
                assert answer.status_code == 410 and str(tmp_path) not in answer.text


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


def _keys(client: httpx.Client, **asked: str | int) -> list[str]:
    return [hit["key"] for hit in client.get(f"{API}/search", params={"k": 50, **asked}).json()["hits"]]


def test_a_set_is_browsed_without_words(client: httpx.Client) -> None:
    shapes = [f"own:shape-{letter}" for letter in "abcde"]
    assert _keys(client, set="own", sort="name") == [*shapes, "own:turned"]
    assert _keys(client, set="own", sort="newest") == ["own:turned", *reversed(shapes)]
    assert _keys(client, set="own", sort="name", k=2, offset=4) == [shapes[4], "own:turned"]


def test_sets_come_as_cards_whose_pictures_can_be_asked_for(client: httpx.Client) -> None:
    answer = client.get(f"{API}/sets").json()
    cards = {card["key"]: card for card in answer["sets"]}
    assert {key: card["n"] for key, card in cards.items()} == {"icons": 15, "own": 6}
    assert (answer["generation"], len(cards["own"]["sample"])) == (1, 6)
    for icon in cards["own"]["sample"]:
        assert client.get(icon["svg_url"]).status_code == 200


# Languages

CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


@pytest.mark.parametrize(
    "asked", [{"language": "fr"}, {"language": "fr-CH"}, {"language": ["fr", "en"]}, {"language": "fr, en-GB"}]
)
def test_a_search_reads_words_in_the_languages_that_are_named(client: httpx.Client, asked: dict[str, str]) -> None:
    answer = client.get(f"{API}/search", params={"q": "chat", "min_score": 0, **asked}).json()
    assert (answer["query"], answer["read_as"]) == ("chat", CAT)


@pytest.mark.parametrize("path", ["search", "icons/1/why"])
@pytest.mark.parametrize(
    ("languages", "status", "told"),
    [
        ("french", 400, 'language is "french"; give a code as de or pt-BR'),
        ("", 400, 'language is ""'),
        ("fr;q=0.9", 400, 'language is "fr;q=0.9"'),
        ("fr-" + "a" * 40, 400, 'language is "fr-aaa'),
        ("x" * 201, 422, "200"),
        (",".join(["fr"] * 11), 422, "10"),
        (["fr"] * 11, 422, "10"),
    ],
)
def test_what_names_no_language_is_refused_in_a_sentence(
    client: httpx.Client, path: str, languages: str | list[str], status: int, told: str
) -> None:
    answer = client.get(f"{API}/{path}", params={"q": "chat", "language": languages})
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert "language" in answer.json()["error"] and told in answer.json()["error"]


# Screens

PLACES = [(40, 30), (300, 34), (40, 160)]
"""Of three icons, in the order in which one reads."""


def _screen() -> bytes:
    image = Image.new("RGB", (480, 240), "white")
    pen = ImageDraw.Draw(image)
    for left, top in PLACES:
        pen.ellipse((left, top, left + 23, top + 23), outline="black", width=3)
        pen.line((left + 12, top + 6, left + 12, top + 18), fill="black", width=2)
        pen.line((left + 6, top + 12, left + 18, top + 12), fill="black", width=2)
    return _png(image)


def test_every_icon_of_a_screen_is_told_with_its_box_and_hits(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?k=2&min_score=0", content=_screen()).json()
    whole = {"file": None, "width": 480, "height": 240, "kind": "screen", "n_found": 3, "is_cut": False}
    assert told == {**told, **whole, "generation": 1}
    for icon, (left, top) in zip(told["icons"], PLACES, strict=True):
        assert icon["box"] == pytest.approx([left, top, left + 24, top + 24], abs=4)
        assert len(icon["hits"]) == 2
        assert all(hit["svg_url"] in (None, f"{API}/icons/{hit['id']}/svg?v={hit['digest']}") for hit in icon["hits"])
        assert "/" not in icon["hits"][0]["path"]
    as_form = client.post(f"{API}/locate?k=2&min_score=0", files={"picture": ("x.png", _screen(), "image/png")}).json()
    assert as_form["icons"] == told["icons"]


def test_who_asks_may_say_what_a_picture_is(client: httpx.Client) -> None:
    told = client.post(f"{API}/locate?as_kind=icon&min_score=0", content=_screen()).json()
    assert (told["kind"], [icon["box"] for icon in told["icons"]]) == ("icon", [[0, 0, 480, 240]])
    alone = client.get(f"{API}/icons/icons:dot-c/png?size=64").content
    assert client.post(f"{API}/locate", content=alone).json()["kind"] == "icon"


@pytest.mark.parametrize(
    ("asked", "picture", "status", "told"),
    [
        ("", b"", 422, "empty"),
        ("", b"no picture", 422, "not a picture"),
        ("", b"x" * 300_000, 413, "0.2 MB"),
        ("", _png(Image.new("RGB", (300, 200), "white")), 422, "of one colour all over"),
        ("", _png(Image.new("1", (9_000, 9_000))), 422, "million pixels"),
        ("set=gone", _screen(), 400, 'no set "gone"'),
        ("k=0", _screen(), 422, 'k is "0"'),
        ("k=101", _screen(), 422, 'k is "101"'),
        ("as_kind=photo", _screen(), 422, 'as_kind is "photo"'),
        ("q=dot", _screen(), 422, 'q is "dot"'),
    ],
)
def test_what_can_not_be_answered_is_told_in_a_sentence(
    client: httpx.Client, asked: str, picture: bytes, status: int, told: str
) -> None:
    answer = client.post(f"{API}/locate?{asked}", content=picture)
    assert (answer.status_code, list(answer.json())) == (status, ["error"]) and told in answer.json()["error"]
    assert client.get("/health").status_code == 200


# Pictures of an answer

FIRST, OTHER = (7, "a"), (7, "b")
"""Generations of two libraries, of one number."""
LAYER = "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("asked", [{"q": "arrow up"}, {"q": "dot", "min_score": 0, "k": 60}, {"set": "own"}, {}])
def test_the_pictures_of_an_answer_are_those_of_its_first_hits(
    client: httpx.Client, engine: SearchEngine, asked: dict[str, str]
) -> None:
    hits = engine.hits([hit["id"] for hit in client.get(f"{API}/search", params=asked).json()["hits"]])
    answer = client.get(f"{API}/search/svgs", params=asked)
    layers = [layer.get("id") for layer in ElementTree.fromstring(answer.text).findall(LAYER)]
    left_out = answer.headers.get("Icons-Left-Out", "").split(",")
    assert layers == [f"i{layer}" for layer in first_layers(hits) if str(layer.image) not in left_out] != []
    assert answer.headers["content-type"] == "image/svg+xml" and "sandbox" in answer.headers["content-security-policy"]
    again = client.get(f"{API}/search/svgs", params=asked, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_who_asks_the_same_at_once_is_answered_by_one_search() -> None:
    asked: list[str] = []
    lately = AskedLately()

    async def search() -> SentAnswer:
        asked.append("search")
        await asyncio.sleep(0.05)
        return SentAnswer(b"{}", (), FIRST)

    async def scene() -> None:
        pictures = asyncio.create_task(lately.lately("q", search, edition=FIRST))
        words = asyncio.create_task(lately.now("q", search))
        assert await words == await pictures
        assert asked == ["search"]
        await lately.lately("q", search, edition=FIRST)  # a moment later
        assert asked == ["search"]
        await lately.lately("q", search, edition=OTHER)  # another library answers by then
        await lately.now("q", search)  # who asks for hits gets new ones
        assert asked == ["search"] * 3
        left, stays = (asyncio.create_task(lately.now("q", search)) for _ in range(2))
        await asyncio.sleep(0.01)
        left.cancel()  # who leaves takes no answer from the other
        assert (await stays).content == b"{}"

    asyncio.run(scene())
