"""Names, sets, tags, reasons and queries that would order a terminal, a table or a page: shown, never obeyed."""

import json
import os
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import build_library, disc
from hypothesis import given
from hypothesis import strategies as st
from terminal import in_terminal

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.folder import Library
from search.cli import main
from search.commands.serve import labels_beginning
from search.engine import Query, SearchEngine

EVIL = "dot \x1b[31m\x1b]0;title\x07 [red]b[/blue] \u202egvs.\u2066 \x9b2J \r\x08 <b>&\"'</b> \u2028 z"
SHOWN = (
    r"dot \x1b[31m\x1b]0;title\x07 [red]b[/blue] \u202egvs.\u2066 \x9b2J \r\x08 <b>&"
    r""""'</b> \u2028 z"""
)
ODD = disc(12, 12).replace("</svg>", "<!-- \u009b31m\u202e -->\n</svg>")
SET = "set\x1b[2J[bold]\u202e"
OBEYED = {*map(chr, range(32)), *map(chr, range(127, 160)), *"\u061c\u200e\u200f\u2028\u2029\u202d\u202e\u2066\u2069"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
    """A library of icons that are called what nobody should be called, and of files that can't be read."""
    folder = tmp_path_factory.mktemp("texts")
    icons = folder / "icons"
    icons.mkdir()
    for number, name in enumerate((EVIL, "two\nlines", "tab\there", "plain")):
        (icons / f"{number}.svg").write_text(disc(4 + 3 * number, 12))
        row = {"file_path": f"{number}.svg", "name": name, "set": SET, "tags": [f"tag\x1b[1m{number}\nx"]}
        row |= {"licence": "own\x9b31m", "style": "sty\x1ble", "category": "cat\u202e\x1b", "caption": EVIL}
        with (icons / "rows.jsonl").open("a") as rows:
            rows.write(json.dumps(row) + "\n")
    broken = folder / "broken\x1b[31m[red]\u202e"
    broken.mkdir()
    (broken / "two\nlines.svg").write_text("<svg")
    (broken / "esc\x1b[2J.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><\x1b[31m/></svg>')
    (broken / os.fsdecode(b"latin-\xe9\xff.svg")).write_text("<svg")
    (icons / "3.svg").write_text(ODD)
    build_library(Library(folder / "library"), tiny_model, [icons / "rows.jsonl", broken])
    return folder / "library"


def run(library: Path, *arguments: str) -> Result:
    done = CliRunner().invoke(main, [*arguments, "--library", str(library)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def obeyed(text: str) -> list[str]:
    """Signs that a terminal would not just draw; ends of lines and of cells aside."""
    return sorted(OBEYED.intersection(text) - {"\n", "\t"})


@pytest.mark.parametrize(
    "asked",
    [
        ("search", "dot", "--min-score", "0", "--facets"),
        ("search", "dot", "--min-score", "0", "--long"),
        ("search", "--like", "plain", "--min-score", "0"),
        ("show", "plain"),
        ("show", EVIL),
        ("status", "--failures"),
        ("sources",),
        ("status",),
        ("doctor", "--sample", "0"),
        ("index", "--only", "scan"),
        ("search", EVIL, "--keyword"),
        ("search", "dot", "--set", EVIL),
        ("search", EVIL, EVIL, "--min-score", "1"),
        ("search", "dot", f"--{EVIL}"),
        (EVIL,),
        ("show", f"x:{EVIL}"),
        ("show", "9" * 5_000),
        ("sources", "--forget", EVIL),
    ],
    ids=lambda asked: "-".join(asked)[:20].encode("ascii", "replace").decode(),
)
def test_nothing_that_is_printed_orders_a_terminal(hostile: Path, asked: tuple[str, ...]) -> None:
    done = run(hostile, *asked)
    assert done.exit_code in (0, 1, 2)
    assert done.output.strip()
    assert obeyed(done.output) == []


def test_names_and_reasons_are_shown_sign_by_sign(hostile: Path) -> None:
    assert SHOWN in run(hostile, "show", EVIL).stdout
    assert r"two\nlines" in run(hostile, "search", "two", "--min-score", "0").stdout
    lines = run(hostile, "status", "--failures").stdout.splitlines()
    assert len(lines) == 3
    assert all(len(line.split("\t")) == 2 and r"broken\x1b[31m[red]\u202e/" in line for line in lines)
    files = [line.split("\t")[0].rpartition("/")[2] for line in lines]
    assert sorted(files) == [r"esc\x1b[2J.svg", r"latin-\xe9\xff.svg", r"two\nlines.svg"]


def test_json_tells_the_exact_text(hostile: Path) -> None:
    told = run(hostile, "search", "dot", "--min-score", "0", "--json").stdout
    assert obeyed(told) == []
    hits = json.loads(told)["hits"]
    assert {hit["set"] for hit in hits} == {SET}
    assert EVIL in {hit["name"] for hit in hits}
    details = json.loads(run(hostile, "show", EVIL, "--json").stdout)
    assert details["caption"] == EVIL


def test_a_sheet_shows_names_and_the_query_and_is_no_other_page_for_them(hostile: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.html"
    script = f"plain <script>alert(1)</script>{EVIL}"
    run(hostile, "search", script, "--min-score", "0", "--sheet", str(sheet))
    content = sheet.read_text("utf-8")
    assert obeyed(content) == []
    assert "<script" not in content
    assert SHOWN in unescape(content)
    assert f'icons: "{printable(script[:50])}' in unescape(content)


def test_no_value_is_completed_that_a_shell_or_terminal_would_obey(hostile: Path) -> None:
    assert labels_beginning(Library(hostile), "set", "") == []
    assert labels_beginning(Library(hostile), "set", "\udcff") == []


@pytest.mark.parametrize("text", ["\udcff", "dot\ud800", "\udcff:x"])
def test_what_is_no_unicode_text_is_refused_as_a_query(hostile: Path, text: str) -> None:
    searches = [["search", text], *(["search", "dot", option, text] for option in ("--not", "--style", "--set"))]
    for command in (*searches, ["search", "--like", text], ["show", text]):
        done = run(hostile, *command)
        assert done.exit_code == 2
        assert done.stderr == f'Error: "{printable(text)}" is not Unicode text; type it again, in UTF-8\n'
    with pytest.raises(IconsError, match="is not Unicode text"):
        SearchEngine.open(hostile).ask(Query(words=text, keyword=True))


def test_an_svg_is_printed_exactly_to_a_pipe_and_without_orders_to_a_terminal(hostile: Path) -> None:
    assert run(hostile, "show", "plain", "--svg").stdout.rstrip("\n") == ODD
    _, shown = in_terminal("show", "plain", "--svg", "--library", hostile, TERM="dumb")
    assert shown.replace("\r\n", "\n").rstrip("\n") == ODD.replace("\u009b31m\u202e", r"\x9b31m\u202e")


@given(st.text())
def test_a_printable_text_has_nothing_to_obey_can_be_written_and_is_settled(text: str) -> None:
    shown = printable(text)
    assert obeyed(shown) == [] and "\n" not in shown and "\t" not in shown
    shown.encode()
    assert printable(shown) == shown


@pytest.mark.parametrize(
    "text",
    ["arrow-left", "größe", "家", "👩\u200d💻", "\u0645\u06cc\u200c\u062e\u0648", "a\u00a0b", "[red]", r"C:\icons"],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
