"""An assistant finds icons over MCP: by the SDK's own client in this process, and by lines to a server process."""

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import build_library, disc
from mcp import Client
from PIL import Image
from serving import START, engine, icon_library, index_icons  # noqa: F401 - fixtures

from indexer.library.folder import Library
from indexer.rendering.render import draw
from search.assistant.server import _INSTRUCTIONS, create_assistant
from search.engine import SearchEngine

Call = Callable[..., tuple[bool, str]]


def calling(engine: SearchEngine) -> Call:
    """Calls a tool of a server in this process: whether it failed, and what it said."""

    def run(tool: str, **arguments: Any) -> tuple[bool, str]:
        async def one() -> tuple[bool, str]:
            async with Client(create_assistant(engine)) as client:
                said = await client.call_tool(tool, arguments)
            [content] = said.content
            return bool(said.is_error), content.text

        return asyncio.run(one())

    return run


def _listing(engine: SearchEngine) -> Any:
    """The tools of a server, as a client sees them."""

    async def one() -> Any:
        async with Client(create_assistant(engine)) as client:
            return await client.list_tools()

    return asyncio.run(one())


@pytest.fixture
def call(engine: SearchEngine) -> Call:
    return calling(engine)


def answer(call: Call, tool: str, **arguments: Any) -> Any:
    """What a tool answers that does not fail."""
    failed, said = call(tool, **arguments)
    assert not failed, said
    return json.loads(said)


def test_an_assistant_searches_shows_and_gets_the_svg(call: Call) -> None:
    found = answer(call, "search_icons", query="arrowUp", k=3, set=["icons"])["icons"]
    assert found[0]["key"] in ("icons:arrow-up", "icons:arrow-up-filled")
    assert answer(call, "search_icons", query=disc(4, 12), k=1)["icons"][0]["key"] == "icons:dot-a"
    shown = answer(call, "show_icon", key="icons:arrow-up")
    assert (shown["name"], shown["variants"]) == ("arrow-up", ["icons:arrow-up-filled"])
    assert Path(shown["path"]).name == "arrow-up.svg"
    assert 'fill="navy"' in call("get_code", keys="icons:current", colour="navy")[1]
    for keys in (["icons:dot-a", "icons:dot-b"], "icons:dot-a, icons:dot-b"):
        assert call("get_code", keys=keys, format="react")[1].count("export function") == 2
    assert "script" not in call("get_code", keys="icons:hostile")[1]


def test_an_assistant_is_told_how_words_of_another_language_were_read(call: Call) -> None:
    for arguments, read in (
        ({"query": "chat", "language": "fr-FR"}, "chat: cat, chat (French)"),
        ({"query": "chat"}, None),
        ({"query": "Einstellungen"}, "Einstellungen: settings (German)"),
    ):
        assert answer(call, "search_icons", **arguments).get("read_as") == read


def test_an_assistant_finds_icons_that_look_like_one_or_like_a_picture(call: Call, tmp_path: Path) -> None:
    drawing = tmp_path / "drawing.svg"
    drawing.write_text(disc(4, 12))
    for arguments, first in (
        ({"key": "icons:dot-i", "set": "icons"}, "icons:"),
        ({"key": "icons:dot-i", "set": "own"}, "own:"),
        ({"picture": str(drawing)}, "icons:dot-a"),
        ({"picture": _as_data(disc(4, 12))}, "icons:dot-a"),
    ):
        [icon] = answer(call, "similar_icons", k=1, **arguments)["icons"]
        assert icon["key"].startswith(first)


def test_an_assistant_gets_the_icons_of_a_screenshot_as_code(icon_library: Library, tmp_path: Path, call: Call) -> None:
    image = Image.new("RGB", (480, 240), "white")
    for place, name in (((40, 30), "arrow-up"), ((300, 30), "arrow-up"), ((40, 160), "arrow-up-filled")):
        drawn = draw((icon_library.root.parent / "icons" / f"{name}.svg").read_bytes(), size=32)
        image.paste("black", place, Image.fromarray(drawn).getchannel("A"))
    file = tmp_path / "screen.png"
    image.save(file)
    as_data = "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()

    plain = answer(call, "locate", picture=str(file), set="icons")
    assert (plain["kind"], len(plain["icons"])) == ("screen", 3)
    assert answer(call, "locate", picture=as_data, set="icons") == plain
    sure = {icon["key"] for icon in plain["icons"] if "key" in icon and "note" not in icon} - {"icons:photo"}
    code = answer(call, "locate", picture=str(file), set="icons", format="react")
    assert code.get("code", "").count("export function") == len(sure)
    assert 'no set "gone"' in call("locate", picture=str(file), set="gone")[1]
    assert 'no format "reakt"' in call("locate", picture=str(file), format="reakt")[1]


def test_an_assistant_picks_icons_for_many_needs_in_one_call(call: Call) -> None:
    plain = answer(call, "pick_icons", needs=["arrow up", "dot a"], set="icons", format="react")
    assert [icon["need"] for icon in plain["icons"]] == ["arrow up", "dot a"]
    assert plain["icons"][0]["key"].startswith("icons:arrow-up") and plain["code"].count("export function") == 2
    assert call("pick_icons", needs=[])[0]


def test_an_assistant_maps_icons_of_one_set_to_another(call: Call) -> None:
    arguments = {"names": ["dot-a", "arrow-up"], "from": "icons", "to": "own"}
    plain = answer(call, "map_icons", **arguments)
    found = {**plain["icons"], **{key: others[0] for key, others in plain.get("doubtful", {}).items()}}
    assert {key: target.split(":")[0] for key, target in found.items()} == {
        "icons:dot-a": "own",
        "icons:arrow-up": "own",
    }
    assert 'no set "gone"' in call("map_icons", names="dot-a", to="gone")[1]


def test_an_assistant_checks_code_that_it_has_written(call: Call, tmp_path: Path) -> None:
    (file := tmp_path / "Menu.tsx").write_text('<Icon icon="lucide:arrow" /><img src="./gone.svg" />')
    assert answer(call, "check_icons", code='<img src="./gone.svg"/>', name="a.html") == {
        "findings": ['a.html:1:11: there is no file "./gone.svg"'],
        "n_findings": 1,
        "names": 1,
    }
    plain = answer(call, "check_icons", paths=str(file))
    findings = [f'{file}:1:39: there is no file "./gone.svg"']
    assert (plain["sets_not_in_this_library"], plain["findings"]) == (["lucide"], findings)
    assert "either paths or code" in call("check_icons")[1]
    broken = {"code": "const a = `mdi:home\nconst b = 1", "name": "a.ts"}
    assert answer(call, "check_icons", **broken)["not_read"]["a.ts"].startswith("line 1 is no valid code")


def test_an_assistant_looks_for_what_is_wrong_in_icons(icon_library: Library, call: Call) -> None:
    folder = icon_library.root.parent / "odd"
    folder.mkdir()
    for name in ("dot", "point"):
        (folder / f"{name}.svg").write_text(disc(12, 12))
    (folder / "cut.svg").write_text("<svg")
    plain = answer(call, "lint_icons", paths=str(folder))
    assert plain["n_icons"] == 3
    assert plain["findings"]["identical"] == ["2 icons show the same picture: dot.svg, point.svg"]
    assert plain["findings"]["broken"][0].startswith(f"{folder / 'cut.svg'}: ")
    assert answer(call, "lint_icons", set="icons", rule="broken")
    assert answer(call, "list_sets", query="own") == {"sets": {"own": "Own Set, 6 icons"}}


def test_what_an_assistant_reads_before_it_asks_is_less_than_3_kb_and_the_message_with_it_4(
    engine: SearchEngine,
) -> None:
    listed = _listing(engine)
    assert {tool.name for tool in listed.tools if tool.annotations and tool.annotations.read_only_hint} == {*NEEDED}
    texts = [
        text
        for tool in listed.tools
        for text in (tool.name, tool.description or "", json.dumps(tool.input_schema, separators=(",", ":")))
    ]
    assert sum(len(text.encode()) for text in (*texts, _INSTRUCTIONS)) < 3000
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < 4000
    assert {"title", "minimum", "maximum"}.isdisjoint(_keywords([tool.input_schema for tool in listed.tools]))


def _keywords(schema: Any) -> set[str]:
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return {*(schema if isinstance(schema, dict) else ()), *(name for part in parts for name in _keywords(part))}


def test_what_an_assistant_gets_wrong_is_told_in_a_sentence(call: Call) -> None:
    for tool, arguments, told in (
        ("get_code", {"keys": "icons:arow-up"}, "near: icons:arrow-up"),
        ("get_code", {"keys": "../../etc/passwd"}, 'no icon "../../etc/passwd"'),
        ("get_code", {"keys": "icons:photo"}, "is a bitmap and no SVG"),
        ("get_code", {"keys": "icons:dot-a", "format": "reakt"}, 'no format "reakt"; near: react'),
        ("get_code", {"keys": "icons:dot-a", "format": "lucide-react"}, '"icons:dot-a" is not of lucide'),
        ("get_code", {"keys": "icons:dot-a", "colour": "url(#x)"}, 'colour is "url(#x)"'),
        ("show_icon", {"key": ""}, 'no icon ""'),
        ("search_icons", {"query": "dot", "set": ["icon"]}, 'no set "icon"'),
        ("search_icons", {"query": "dot", "k": 0}, 'k "0": input should be greater than or equal to 1'),
        ("search_icons", {"query": "dot", "k": "two"}, 'k "two": input should be a valid integer'),
        ("search_icons", {"query": "dot", "not": ["x"] * 17}, "not: value should have at most 16 items"),
        (
            "search_icons",
            {"query": "dot", "sets": ["icons"]},
            'search_icons has no argument "sets"; it takes query, k',
        ),
        ("similar_icons", {"query": "dot"}, "either key or picture"),
        ("similar_icons", {"key": "icons:dot-a", "picture": "shot.png"}, "either key or picture"),
        ("similar_icons", {"picture": "/nowhere/shot.png"}, 'picture "/nowhere/shot.png" can\'t be read'),
        ("similar_icons", {"picture": __file__}, 'picture "test_assistant.py" can\'t be looked for'),
        ("similar_icons", {"picture": "data:image/png;base64,####"}, "is not base64"),
        ("search_icons", {"query": "dot", "language": "german"}, 'language is "german"; give a code'),
        ("locate", {"picture": "/nowhere/shot.png"}, "can't be read"),
        ("locate", {"picture": __file__}, 'no icons can be found in "test_assistant.py"'),
        (
            "locate",
            {"picture": __file__, "sets": "icons"},
            'locate has no argument "sets"; it takes picture, set, format',
        ),
        ("lint_icons", {}, "paths of folders, or a set"),
        ("lint_icons", {"set": "icon"}, 'no set "icon"'),
        ("lint_icons", {"set": "icons", "rule": "strok"}, '"strok" is no rule'),
        ("lint_icons", {"paths": "/nowhere"}, '"/nowhere"'),
    ):
        failed, said = call(tool, **arguments)
        assert failed and told in said
        assert [part for part in ("Traceback", "Error executing", "Errno", "http", "\n") if part in said] == []


def _as_data(picture: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"


NEEDED: dict[str, dict[str, Any]] = {
    "search_icons": {"query": "dot"}, "similar_icons": {"key": "icons:dot-a"}, "pick_icons": {"needs": ["dot"]},
    "map_icons": {"names": ["icons:dot-a"], "to": "own"}, "locate": {"picture": _as_data(disc(4, 12))},
    "show_icon": {"key": "icons:dot-a"}, "get_code": {"keys": ["icons:dot-a"]}, "check_icons": {"code": "<p/>"},
    "lint_icons": {"set": ["own"]}, "list_sets": {},
}  # fmt: skip


@pytest.mark.parametrize("tool", NEEDED)
def test_what_is_null_or_empty_is_not_given(engine: SearchEngine, call: Call, tool: str) -> None:
    [schema] = [one.input_schema for one in _listing(engine).tools if one.name == tool]
    usual = call(tool, **NEEDED[tool])
    assert not usual[0] and set(schema.get("required", ())) <= {*NEEDED[tool]} <= {*schema["properties"]}
    optional = [name for name in schema["properties"] if name not in NEEDED[tool]]
    for absent in (None, ""):
        assert call(tool, **NEEDED[tool], **dict.fromkeys(optional, absent)) == usual
    assert all(call(tool, **{**NEEDED[tool], name: None})[0] for name in schema.get("required", ()))


@pytest.mark.parametrize(
    ("tool", "sent", "meant"),
    [
        ("search_icons", {"query": 404, "k": "2", "set": '["icons"]'}, {"query": "404", "k": 2, "set": ["icons"]}),
        ("search_icons", {"query": "dot", "k": 2.0, "set": "['icons', 'own']"}, {"query": "dot", "k": 2}),
        ("get_code", {"size": "48px", "stroke_width": "2"}, {"size": 48, "stroke_width": 2}),
        ("search_icons", {"k": "null", "set": "null", "not": "null"}, {}),
        ("pick_icons", {"needs": ["dot", 404]}, {"needs": '["dot", "404"]'}),
        ("pick_icons", {"needs": "dot\n404"}, {"needs": ["dot", "404", None, ""]}),
        ("search_icons", {"set": "icons, own"}, {"set": ["icons", "own"]}),
        ("map_icons", {"names": "icons:dot-a,icons:dot-b"}, {"names": ["icons:dot-a", "icons:dot-b"]}),
    ],
)
def test_numbers_and_lists_as_text_and_text_as_numbers_are_taken(
    call: Call, tool: str, sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert call(tool, **{**NEEDED[tool], **sent}) == call(tool, **{**NEEDED[tool], **meant})
    assert not call(tool, **{**NEEDED[tool], **sent})[0]


@pytest.mark.parametrize("tool", ["similar_icons", "locate"])
def test_a_picture_that_is_a_pipe_or_a_device_is_not_waited_for(call: Call, tmp_path: Path, tool: str) -> None:
    os.mkfifo(tmp_path / "pipe.png")

    for picture in (tmp_path / "pipe.png", "/dev/zero", tmp_path):
        assert call(tool, picture=str(picture)) == (True, f'picture "{picture}" can\'t be read: not a regular file')


def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(icon_library: Library) -> None:
    call = b'{"jsonrpc": "2.0", "id": %b, "method": "tools/call", "params": {"name": "list_sets", "arguments": %b}}'
    lines = {
        call % (b"1", rb'{"query": "\ud800"}'): (1, -32700),
        call % (b'"two"', rb'{"query": "\udc00 \ud83d\ude00"}'): ("two", -32700),
        call % (rb'"\ud800"', b"{}"): (None, -32700),
        b'{"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": []}': (4, -32600),
        b'{"jsonrpc": "2.0", "id": 5}': (5, -32600),
        b'{"jsonrpc": "2.0", "id": true, "method": 6}': (None, -32600),
        b"no json": (None, -32700),
        b"[" * 100_000: (None, -32700),
        b"\xff\x00": (None, -32700),
        b'{"jsonrpc": "2.0", "id": 10, "method": "nothing"}': (10, -32601),
    }
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    first = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode()
    command = [sys.executable, "-c", START, "mcp", "--library", str(icon_library.root)]
    said = b"\n".join([first, *lines, b"", b""])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        done.stdin.write(said)
        done.stdin.flush()  # it stays open: what is under way when it ends is not answered
        answers = [json.loads(done.stdout.readline()) for _ in range(len(lines) + 1)]
        done.stdin.close()
        rest, warned = done.stdout.read(), done.stderr.read()
    refused = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    assert sorted(refused, key=str) == sorted(lines.values(), key=str)  # they come as they are ready
    assert [answer["id"] for answer in answers if "result" in answer] == [0]
    assert (done.returncode, rest, warned) == (0, b"", b"")


def test_a_line_without_end_is_not_read_to_its_end(icon_library: Library) -> None:
    with Path("/dev/zero").open("rb") as endless:
        command = [sys.executable, "-c", START, "mcp", "--library", str(icon_library.root)]
        done = subprocess.run(command, stdin=endless, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"Error: stdin has a line of more than 32 MB, which is no message\n"


@pytest.mark.slow
def test_an_assistant_finds_what_was_indexed_while_it_was_connected(tmp_path: Path, tiny_model: Path) -> None:
    library = index_icons(tmp_path, tiny_model)
    call = calling(SearchEngine.open(library.root))
    assert call("show_icon", key="icons:star")[0]
    (tmp_path / "icons" / "star.svg").write_text(disc(20, 4))
    build_library(library, tiny_model, [])
    assert not call("show_icon", key="icons:star")[0]
