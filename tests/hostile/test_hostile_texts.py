"""Names, reasons, queries and SVGs that would order a terminal, a table, a page or code: shown, never obeyed."""

import json
import os
import re
from html import unescape
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner, Result
from conftest import build_library, disc
from hostile_svgs import SQUARE, svg, svgs
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import in_terminal

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.folder import Library
from search.cli import main
from search.commands.options import labels_beginning
from search.drawings.frameworks import AS_IT_IS, FRAMEWORKS, NamedIcon
from search.drawings.write import comment, write
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
    return CliRunner().invoke(main, [*arguments, "--library", str(library)], catch_exceptions=False)


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
    assert done.exit_code in (0, 1, 2) and done.output.strip()
    assert obeyed(done.output) == []


def test_names_and_reasons_are_shown_sign_by_sign(hostile: Path) -> None:
    assert SHOWN in run(hostile, "show", EVIL).stdout
    assert r"two\nlines" in run(hostile, "search", "two", "--min-score", "0").stdout
    lines = run(hostile, "status", "--failures").stdout.splitlines()
    assert all(len(line.split("\t")) == 2 and r"broken\x1b[31m[red]\u202e/" in line for line in lines)
    files = [line.split("\t")[0].rpartition("/")[2] for line in lines]
    assert sorted(files) == [r"esc\x1b[2J.svg", r"latin-\xe9\xff.svg", r"two\nlines.svg"]


def test_json_tells_the_exact_text(hostile: Path) -> None:
    told = run(hostile, "search", "dot", "--min-score", "0", "--json").stdout
    hits = json.loads(told)["hits"]
    assert (obeyed(told), {hit["set"] for hit in hits}) == ([], {SET}) and EVIL in {hit["name"] for hit in hits}
    assert json.loads(run(hostile, "show", EVIL, "--json").stdout)["caption"] == EVIL


def test_a_sheet_shows_names_and_the_query_and_is_no_other_page_for_them(hostile: Path, tmp_path: Path) -> None:
    script = f"plain <script>alert(1)</script>{EVIL}"
    run(hostile, "search", script, "--min-score", "0", "--sheet", str(tmp_path / "sheet.html"))
    content = (tmp_path / "sheet.html").read_text("utf-8")
    assert obeyed(content) == [] and "<script" not in content
    assert SHOWN in unescape(content) and f'icons: "{printable(script[:50])}' in unescape(content)


def test_no_value_is_completed_that_a_shell_or_terminal_would_obey(hostile: Path) -> None:
    assert labels_beginning(Library(hostile), "set", "") == []
    assert labels_beginning(Library(hostile), "set", "\udcff") == []


@pytest.mark.parametrize("text", ["\udcff", "dot\ud800", "\udcff:x"])
def test_what_is_no_unicode_text_is_refused_as_a_query(hostile: Path, text: str) -> None:
    searches = [["search", text], *(["search", "dot", option, text] for option in ("--not", "--style", "--set"))]
    for command in (*searches, ["search", "--like", text], ["show", text]):
        done = run(hostile, *command)
        refusal = f'Error: "{printable(text)}" is not Unicode text; type it again, in UTF-8\n'
        assert (done.exit_code, done.stderr) == (2, refusal)
    with pytest.raises(IconsError, match="is not Unicode text"):
        SearchEngine.open(hostile).ask(Query(words=text, keyword=True))


def test_an_svg_is_printed_exactly_to_a_pipe_and_without_orders_to_a_terminal(hostile: Path) -> None:
    assert run(hostile, "show", "plain", "--svg").stdout.rstrip("\n") == ODD
    _, shown = in_terminal("show", "plain", "--svg", "--library", hostile, TERM="dumb")
    assert shown.replace("\r\n", "\n").rstrip("\n") == ODD.replace("\u009b31m\u202e", r"\x9b31m\u202e")


@given(st.text())
def test_a_printable_text_has_nothing_to_obey_can_be_written_and_is_settled(text: str) -> None:
    shown = printable(text)
    assert not OBEYED.intersection(shown) and printable(shown).encode() == shown.encode()


def test_what_people_write_stays_as_it_is() -> None:
    for text in (
        "arrow-left",
        "größe",
        "家",
        "👩\u200d💻",
        "\u0645\u06cc\u200c\u062e\u0648",
        "a\u00a0b",
        r"[C:\icons]",
    ):
        assert printable(text) == text


DRAWN = [one for one in FRAMEWORKS.values() if one.needs_svg]
_ACTIVE = re.compile(
    r"<script(?! >|>\n  let props)|javascript:|\son\w+=|foreignObject|<iframe|<!ENTITY|<!DOCTYPE|<\?|xi:include|@import"
    r"|(?:href|src)=[\"'{]*(?!#|data:image/(?:png|jpeg|gif|webp))[^\"'\s#d]|url\((?!\s*[\"']?(?:#|data:image/svg\+xml,))",
    re.IGNORECASE,
)


@pytest.mark.parametrize("one", DRAWN, ids=lambda one: one.name)
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_that_runs_or_reads_reaches_code(one: object, every: int, tmp_path: Path) -> None:
    n, first = 0, DRAWN.index(one) % every  # type: ignore[arg-type]
    for name, content, _ in islice(svgs(tmp_path / "secret", 9), first, None, every):
        try:
            code = write([NamedIcon(f"own:{name}", "own", name, content)], one, AS_IT_IS).code  # type: ignore[arg-type]
        except IconsError as error:
            assert f'"own:{name}"' in str(error)
            continue
        assert not _ACTIVE.search(unquote(code)), f"{name}: {code[:500]}"
        assert str(tmp_path) not in code and "127.0.0.1" not in code
        n += 1
    assert n > 100 // every or one.name == "path"  # type: ignore[attr-defined]


def test_what_is_nested_without_end_is_refused_before_it_grows() -> None:
    deep = svg("<g>" * 100_000 + "</g>" * 100_000)
    for one in DRAWN:
        with pytest.raises(IconsError, match="nested more than 200 deep"):
            write([NamedIcon("own:deep", "own", "deep", deep)], one, AS_IT_IS)


_KEEPING = "@keyframes k{to{opacity:0}}"
"""What lets a style sheet stay in a page."""


@pytest.mark.parametrize(
    ("body", "others"),
    [
        ("<style>.a{}<g/>@import url(//x.example);</style>", ("x.example",)),
        (f"<style>{_KEEPING}.a{{b:u<g/>rl(//x.example)}}</style>", ("rl(",)),
        ("<desc><rect/><image/></desc><title>a<path/></title>", ("<desc><", "<path")),  # HTML never ends these
        (f"<style>{_KEEPING}svg{{background:image-set('#a' 2x,'//x.example' 1x)}}</style>", ("x.example",)),
        (f"<style>{_KEEPING}@scope (html){{p{{top:0}}}}@media all{{@scope{{p{{top:0}}}}}}</style>", ("top:0",)),
        (f"<style>{_KEEPING}svg{{:not(&amp;){{top:0}}}}@starting-style{{p{{top:0}}}}</style>", ("top:0",)),
        (
            f"<style>{_KEEPING}@font-face{{font-family:a;src:local(b)}}@property --a{{top:0}}</style>",
            ("@font", "@prop"),
        ),
        (
            f"<style>{_KEEPING}@KEYFRAMES spin{{}}@keyframes/**/spin{{}}@keyframes 'spin'{{}}</style>",
            (" spin", "/spin"),
        ),
        (f"<style>{_KEEPING}:not([a='{{']){{top:0}}</style>", ("]){",)),
        ('<set href="#other" attributeName="display" to="none"/><use href="#other"/>', ("#other",)),
    ],
)
def test_no_drawing_reaches_the_page_around_it(body: str, others: tuple[str, ...]) -> None:
    code = write([NamedIcon("own:a", "own", "a", svg(body + SQUARE))], FRAMEWORKS["html"], AS_IT_IS).code
    assert "<rect" in code and [one for one in others if one in code] == []


@pytest.mark.parametrize(
    "body",
    [
        f"<style>.{'a' * 60}:hover{{}}</style>",
        f"<style>{'*,' * 1_999}*{{fill:red}}</style>{'<g/>' * 20_000}",
        f"<style>*{{--a:{'x' * 100_000}}}</style>{'<g/>' * 20_000}",
        "".join(f'<g id="{n:b}"/>'.translate({48: ".", 49: "-"}) for n in range(20_000)),
        f"<style>{''.join(f'@keyframes a{n}{{}}' for n in range(9_000))}g{{animation:{'b ' * 200_000}}}</style>",
        f'<set begin=";{" " * 200_000}x"/>',
        f'<g fill="{"url(#" * 100_000}" data-x="url(#{" " * 200_000}x"/>',
        f'<g style="a:{"(" * 100_000}"/>',
        f"<style>{'@media all{' * 20_000}</style>",
    ],
    ids=["selector", "rules", "long-rule", "ids", "frames", "begin", "urls", "brackets", "groups"],
)
def test_what_is_costly_to_read_is_read_in_time_and_stays_small(body: str) -> None:
    content = svg(body + SQUARE)
    code = write([NamedIcon("own:a", "own", "a", content)], FRAMEWORKS["html"], AS_IT_IS).code
    assert "<rect" in code and len(code) < 2 * len(content)


def test_no_remark_ends_its_comment_or_holds_two_hyphens() -> None:
    assert comment("a---->b", FRAMEWORKS["svg"]) == "<!-- a- - - -)b -->\n"


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=60), st.integers(0, 300))
def test_no_bytes_break_more_than_themselves(noise: bytes, text: str, place: int) -> None:
    whole = svg(f"<text>{text}</text>{SQUARE}" if text.isprintable() else SQUARE)
    content = whole[:place] + noise + whole[place:]
    for one in DRAWN:
        try:
            code = write([NamedIcon("own:noise", "own", "noise", content)], one, AS_IT_IS).code
        except IconsError:
            continue
        assert not _ACTIVE.search(unquote(code))
