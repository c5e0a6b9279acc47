"""What `icons search` and `show` write to stdout, to stderr, and with which exit code."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from conftest import disc, index_by_command

from indexer.languages.words import printable
from indexer.library.folder import Library

Run = Callable[..., Result]
ALL = ("--min-score", "0")


def hits(run: Run, *arguments: str | Path, **how: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("search", *arguments, "--json", **how).stdout)["hits"]
    return found


def keys(run: Run, *arguments: str | Path, **how: Any) -> set[str]:
    return {hit["key"] for hit in hits(run, *arguments, *ALL, "-k", "50", **how)}


def test_a_table_has_rank_score_key_set_style_and_licence(run: Run) -> None:
    done = run("search", "house", *ALL, "-k", "3")
    assert done.exit_code == 0, done.output
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["#", "score", "key", "set", "style", "licence"]
    first = rows[0].split()
    assert first[0] == "1" and 0 <= float(first[1]) <= 1
    assert first[2] in ("own:house", "other:house") and first[3] in ("own", "other")
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]


def test_icons_that_are_browsed_have_no_score(run: Run) -> None:
    done = run("search", "--set", "own", "--sort", "name")
    head, *rows = done.stdout.splitlines()
    assert (done.exit_code, head.split()) == (0, ["#", "key", "set", "style", "licence"])
    assert [row.split()[1] for row in rows] == ["own:arrow-left", "own:arrow-right", "own:house"]
    assert run("search", "--sort", "newest", "-k", "1").exit_code == 0
    nothing = run("search", "--set", "own", "--only", "tag=west", "--only", "category=places")
    assert (nothing.exit_code, nothing.stderr) == (1, "no icon of this library passes these filters\n")


def test_long_has_files_and_variants_on_lines_of_their_own(run: Run, asked: Path) -> None:
    lines = run("search", "arrow left", "--set", "own", "--long").stdout.splitlines()
    assert lines[0].split()[2] == "own:arrow-left"
    assert lines[1].strip().startswith("own, ") and lines[1].endswith("MIT, 2 variants")
    assert lines[2].strip().startswith(str(asked.parent / "icons"))
    flat = run("search", "arrow left", "--set", "own", "--flat", *ALL, "--long")
    assert "variants" not in flat.stdout
    assert "arrow-left-filled" in flat.stdout


def test_json_is_one_answer_with_the_names_of_the_http_api(run: Run) -> None:
    from search.web.answers import SearchAnswer

    names = set(getattr(SearchAnswer, "model_fields", None) or (field.name for field in fields(SearchAnswer)))
    for command in (("house",), ("--like", "own:house"), ("--set", "own")):
        printed = run("search", *command, "--json", "--facets", *ALL, "-k", "2").stdout.splitlines()
        assert len(printed) == 1
        answer = json.loads(printed[0])
        assert set(answer) == names
        assert {one["value"] for one in answer["facets"]["set"]} <= {"own", "other"}
        assert len(answer["hits"]) <= 2
    assert (answer["query"], answer["n_found"], answer["spelled"]) == ("", 3, None)
    nothing = run("search", "house", "--keyword", "--set", "own", "--only", "tag=west", "--json")
    assert nothing.exit_code == 1
    answer = json.loads(nothing.stdout)
    assert (answer["query"], answer["hits"], answer["n_found"]) == ("house", [], 0)


def test_an_icon_inside_a_file_is_shown_with_its_key(
    run: Run, own_iconify: Path, tmp_path: Path, tiny_model: Path
) -> None:
    library = index_by_command(own_iconify, tmp_path / "iconify", tiny_model)
    [hit] = hits(run, "shape c", "-k", "1", *ALL, library=library)
    assert (hit["path"], hit["member"]) == (str(own_iconify), "shape-c")
    assert f"{own_iconify}#shape-c\n" in run("search", "shape c", "-k", "1", "--long", library=library).stdout


def test_an_svg_is_printed_byte_for_byte_unpacked_and_a_bitmap_is_refused(run: Run, asked: Path) -> None:
    icons = asked.parent / "icons"
    assert run("show", "own:arrow-left", "--svg").stdout_bytes.removesuffix(b"\n") in {
        path.read_bytes() for path in icons.glob("*.svg")
    }
    assert run("show", "other:packed", "--svg").stdout_bytes.strip() == gzip.decompress(
        (icons / "packed.svgz").read_bytes()
    )
    bitmap = run("show", "other:logo", "--svg")
    assert (bitmap.exit_code, bitmap.stdout) == (2, "")
    assert '"other:logo" is no SVG' in bitmap.stderr and "`icons export` copies it as it is" in bitmap.stderr


@pytest.mark.parametrize("before", ["", '<?xml version="1.0"?>\n<!-- a house -->\n'])
def test_a_pasted_svg_finds_its_icon(run: Run, asked: Path, before: str) -> None:
    drawing = (asked.parent / "icons" / "house.svg").read_text()
    assert hits(run, before + drawing, "-k", "1")[0]["key"] == "own:house"
    broken = run("search", "<svg >no picture")
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert 'picture "pasted SVG" can\'t be looked for' in broken.stderr


def test_facets_count_what_is_found_in_the_table_and_in_json(run: Run) -> None:
    options = ("search", "arrow", *ALL, "--facets")
    assert "found by" in run(*options).stdout
    facets = json.loads(run(*options, "--json").stdout)["facets"]
    assert {count["value"]: count["n"] for count in facets["set"]} == {"own": 3, "other": 4}


def test_notes_go_to_stderr_and_results_to_stdout(run: Run) -> None:
    done = run("search", "house", *ALL, "-k", "2")
    assert "--offset 2 goes on" in done.stderr
    assert "--offset" not in done.stdout
    rest = run("search", "house", *ALL, "-k", "2", "--offset", "2")
    assert rest.stdout.splitlines()[1].split()[0] == "3"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["house", "--keyword", "--set", "own", "--only", "tag=west"],
            'nothing found for "house" with these filters\n',
        ),
        (["a query that no icon means", "--min-score", "1"], "--min-score 0 shows what is nearest"),
        (["house", *ALL, "--offset", "500"], "--offset 500 leaves out all of them"),
    ],
)
def test_nothing_found_is_exit_code_1_an_empty_stdout_and_a_reason(run: Run, arguments: list[str], reason: str) -> None:
    done = run("search", *arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert reason in done.stderr


def test_names_are_shown_as_they_are_and_order_the_terminal_nothing(run: Run) -> None:
    done = run("search", "odd", "--set", "other", *ALL)
    assert r"[red]odd[/nothing] \x1b[31mname" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("--set other --licence copyleft", {"other:house", "other:logo"}),
        ("--license GPL-3.0-only", {"other:house", "other:logo"}),
        ("--only tag=Home", {"own:house"}),
        ("--only category=places", {"own:house"}),
        ("--only size=24 --set own", {"own:house"}),
        ("--only coloured=yes", {"other:logo"}),
        ("--only coloured=yes --only animated=yes", set()),
        ("--only tag=Home --only tag=west --only coloured=no", {"own:house", "own:arrow-left"}),
    ],
)
def test_filters_hold(run: Run, options: str, found: set[str]) -> None:
    assert keys(run, "arrow", *options.split()) == found


def test_styles_have_several_names(run: Run) -> None:
    assert keys(run, "arrow", "--style", "filled") == keys(run, "arrow", "--style", "solid")
    assert "own:arrow-left-filled" in keys(run, "arrow", "--style", "filled", "--flat")
    assert "other:logo" not in keys(run, "arrow", "--style", "filled")


def test_a_picture_finds_its_icon_from_a_file_and_from_stdin(run: Run, shot: Path) -> None:
    from_file = hits(run, "--image", shot, "-k", "1", *ALL)
    assert from_file[0]["key"] == "own:house"
    assert hits(run, "--image", "-", "-k", "1", *ALL, given=shot.read_bytes()) == from_file


def test_icons_like_one_leave_it_out_and_similar_is_another_word_for_that(run: Run) -> None:
    found = hits(run, "--like", "own:house", *ALL)
    assert found and "own:house" not in {hit["key"] for hit in found}
    assert json.loads(run("similar", "own:house", *ALL, "--json").stdout)["hits"] == found
    assert (
        hits(run, "arrow", "--like", "own:house", *ALL)
        == (json.loads(run("similar", "own:house", "arrow", *ALL, "--json").stdout)["hits"])
    )


def test_show_has_all_that_is_known(run: Run, asked: Path) -> None:
    shown = run("show", "own:arrow-left").stdout
    for fact in ("own:arrow-left", "arrows", "back, west", "MIT (permissive)", str(asked.parent), "variants"):
        assert fact in shown
    assert "own:arrow-left-filled" in shown


def test_a_source_that_has_gone_or_changed_stops_no_table_and_is_not_given_out(
    run: Run, own: Path, tmp_path: Path
) -> None:
    house, sheet = tmp_path / "icons" / "house.svg", tmp_path / "sheet.html"
    house.write_text('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    done = run("show", "own:house", "--svg", library=own)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has changed since it was indexed; run `icons index`" in done.stderr
    house.unlink()
    done = run("search", "house", "--set", "own", *ALL, "--sheet", sheet, library=own)
    assert done.exit_code == 0
    assert f'Warning: "{house}" can\'t be read' in done.stderr
    assert "gone" in sheet.read_text()
    svg = run("show", "own:house", "--svg", library=own)
    assert (svg.exit_code, svg.stdout) == (2, "")
    assert "run `icons index`" in svg.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "say what to look for"),
        (["   "], "say what to look for"),
        (["house", "-k", "0"], "0 is not in the range 1<=x<=10000"),
        (["house", "-k", "1000000"], "1000000 is not in the range 1<=x<=10000"),
        (["house", "-k", "many"], "'many' is not a valid integer"),
        (["house", "-k", "6000", "--offset", "6000"], 'k "6000" at offset "6000"'),
        (["house", "--offset", "-1"], "-1 is not in the range"),
        (["house", "--min-score", "1.5"], "1.5 is not in the range 0<=x<=1"),
        (["house", "--set", "othr"], 'no set "othr" in this library; near: other'),
        (["house", "--style", "fild"], 'no style "fild" in this library; near: filled'),
        (["house", "--style", "thin"], 'no style "thin" in this library; near: '),
        (["house", "--sort", "size"], "'size' is not one of 'relevance', 'name', 'set', 'newest'"),
        (["house", "--only", "corner=round"], 'no corner "round" in this library: no icon of it states one'),
        (["house", "--only", "tag=hom"], 'no tag "hom" in this library; near: home'),
        (["house", "--only", "category=arow"], 'no category "arow" in this library; near: arrows'),
        (["house", "--licence", "GPL"], 'no licence "GPL" in this library; near: '),
        (["house", "--only", "size=0"], '"size=0" is none of category=NAME, tag=TAG'),
        (["house", "--only", "animated=perhaps"], '"animated=perhaps" is none of '),
        (["house", "--only", "colour=red"], '"colour=red" is none of '),
        (["house", "--image", "shot.png", "--like", "own:house"], "--image and --like are two things to look like"),
        (["house", "--why", "own:house", "--set", "own"], "--why asks the whole library"),
        (["house", "--sheet", "hits.pdf"], '"hits.pdf" ends neither in .html nor in .png'),
        (["house", "--sheet", "/proc/hits.png"], '"/proc/hits.png" can\'t be written'),
        (["--image", "/nowhere.png"], '"/nowhere.png" can\'t be read: No such file or directory'),
        (["--image", "/proc"], "File '/proc' is a directory"),
        (["--image", __file__], f'"{__file__}" can\'t be looked for: not a picture'),
        (["--image", "/dev/zero"], '"/dev/zero" can\'t be read: it has more than 67 MB'),
        (["--image", "/dev/null"], '"/dev/null" can\'t be looked for: empty file'),
        (["--like", "own:hous"], 'no icon "own:hous" in this library; near: own:house'),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(run: Run, arguments: list[str], reason: str) -> None:
    done = run("search", *arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert reason in done.stderr
    assert "Traceback" not in done.output


def test_an_unknown_icon_is_not_shown_and_near_ones_are_named(run: Run) -> None:
    done = run("show", "own:hous")
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'no icon "own:hous" in this library; near: own:house' in done.stderr


@pytest.mark.parametrize(
    "query", ["->", "c++", "'; DROP TABLE icons; --", "AND OR NOT", "🎉", "שלום", "x" * 10_000, "\x07\x1b[2J", "*", '"']
)
def test_odd_queries_are_answered_or_refused_in_a_line(run: Run, query: str) -> None:
    assert run("search", *ALL, "--", query).exit_code == 0
    done = run("search", *ALL, "--keyword", "--", query)
    assert done.exit_code in (0, 1, 2), done.output
    assert "Traceback" not in done.output
    assert "\x1b" not in done.output


COMMANDS = [["search", "house"], ["search", "--like", "own:house"], ["show", "own:house"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_library_that_is_missing_says_what_to_run(run: Run, tmp_path: Path, command: list[str]) -> None:
    done = run(*command, library=tmp_path / "none")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "`icons index SOURCE` builds one" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_library_of_an_older_schema_says_how_to_mend_it(run: Run, copied: Path, command: list[str]) -> None:
    manifest = Library(copied).generation(1).manifest
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema": "0000"}))
    done = run(*command, library=copied)
    assert (done.exit_code, done.stdout) == (2, "")
    assert '"0000"' in done.stderr and "`icons" in done.stderr


def test_a_library_that_is_half_written_says_how_to_mend_it(run: Run, copied: Path) -> None:
    Library(copied).generation(1).icons.write_bytes(b"half")
    done = run("search", "house", library=copied)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has 4 bytes, its manifest says" in done.stderr
    shutil.rmtree(Library(copied).generations)
    done = run("search", "house", library=copied)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "was never published; `icons index` does it" in done.stderr


def test_a_library_that_is_being_written_answers(run: Run, copied: Path) -> None:
    with Library(copied).writing():
        assert run("search", "house", "--min-score", "0", library=copied).exit_code == 0


# Whatever is printed leads back


NAMES = (
    "42",
    "7",
    "a:b",
    "mdi:home",
    " edges ",
    "arrow-up-filled",
    "ArrowUp_24px",
    "tab\there",
    "back\\slash",
    "#3",
    "x#1",
)


@pytest.fixture(scope="module")
def oddly_named(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
    """A set and its copy under another key: every name stands for two icons."""
    folder = tmp_path_factory.mktemp("oddly")
    bodies = {name: {"body": f'<path d="M2 2h{n + 4}v{n + 3}z"/>'} for n, name in enumerate(NAMES)}
    for prefix in ("odd", "even"):
        (folder / f"{prefix}.json").write_text(json.dumps({"prefix": prefix, "icons": bodies}), "utf-8")
    return index_by_command(folder / "odd.json", folder / "library", tiny_model)


@pytest.mark.parametrize("name", NAMES)
def test_show_takes_every_name_as_search_prints_it_and_every_key(run: Run, oddly_named: Path, name: str) -> None:
    options = (name, *ALL, "-k", "50")
    hit = next(found for found in hits(run, *options, library=oddly_named) if found["name"] == name)
    assert printable(name).strip() in run("search", *options, library=oddly_named).stdout
    for spelling in (name, printable(name), hit["key"]):
        shown = json.loads(run("show", "--json", "--", spelling, library=oddly_named).stdout)
        assert shown["hit"]["name"] == name


def test_an_icon_that_shares_set_and_name_has_its_number_in_its_key(run: Run, tmp_path: Path, tiny_model: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / "twice" / place).mkdir(parents=True)
        (tmp_path / "twice" / place / "bell.svg").write_text(disc(4 if place == "a" else 9, 12))
    library = index_by_command(tmp_path / "twice", tmp_path / "library", tiny_model)
    found = hits(run, "bell", "--flat", *ALL, library=library)
    assert sorted(hit["key"] for hit in found) == ["twice:bell", f"twice:bell#{max(hit['id'] for hit in found)}"]
    for hit in found:
        for spelling in (hit["key"], str(hit["id"])):
            assert json.loads(run("show", spelling, "--json", library=library).stdout)["hit"]["id"] == hit["id"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--long"], ["--long", "--facets"], ["--json"]])
def test_colours_that_are_forced_make_no_terminal_of_a_pipe(asked: Path, options: list[str]) -> None:
    command = [sys.executable, "-c", "from search.cli import main; main()", "search", "house", *options]
    environment = {**os.environ, "FORCE_COLOR": "1", "ICONS_LIBRARY": str(asked)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "house" in done.stdout and "\x1b" not in done.stdout
    assert str(asked.parent / "icons") in done.stdout


def test_a_query_of_another_language_is_read_in_english_and_that_is_said(run: Run) -> None:
    found = run("search", "Pfeil links", "--long")
    assert found.stderr.startswith("Pfeil: arrow")
    assert "links: left" in found.stderr and found.stderr.splitlines()[0].endswith("(German)")
    assert "arrow-left" in found.stdout.splitlines()[0]


CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


def test_the_language_of_the_environment_decides_where_a_word_is_two_languages(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert "chat: cat, chat (French)\n" in run("search", "chat", "--like", "own:house").stderr
    assert json.loads(run("search", "chat", *ALL, "--json").stdout)["read_as"] == CAT
    why = ("search", "chat", "--why", "own:house")
    assert run(*why).stdout.splitlines()[:2] == ["chat: cat, chat (French)", "asked: cat"]
    assert json.loads(run(*why, "--json").stdout)["read_as"] == CAT
    for language in ("C.UTF-8", "german", "en_GB"):  # some systems still call de_DE.ISO8859-1 "german"
        monkeypatch.setenv("LANG", language)
        assert json.loads(run("search", "chat", *ALL, "--json").stdout)["read_as"] is None
