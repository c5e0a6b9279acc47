"""What goes to stdout, what to stderr, and with which exit code?"""

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from conftest import disc, index_by_command

from indexer.languages.words import printable
from indexer.library.folder import Library

Run = Callable[..., Result]


def test_a_table_tells_rank_score_key_set_style_and_licence(run: Run) -> None:
    done = run("search", "house", "--min-score", "0", "-k", "3")
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
    nothing = run("search", "--set", "own", "--tag", "west", "--category", "places")
    assert (nothing.exit_code, nothing.stderr) == (
        1,
        "no icon of this library passes these filters\n",
    )


def test_long_tells_files_and_variants_on_lines_of_their_own(run: Run, asked: Path) -> None:
    lines = run("search", "arrow left", "--set", "own", "--long").stdout.splitlines()
    assert lines[0].split()[2] == "own:arrow-left"
    assert lines[1].strip().startswith("own, ") and lines[1].endswith("MIT, 2 variants")
    assert lines[2].strip().startswith(str(asked.parent / "icons"))
    flat = run("search", "arrow left", "--set", "own", "--flat", "--min-score", "0", "--long")
    assert "variants" not in flat.stdout
    assert "arrow-left-filled" in flat.stdout


def test_json_is_one_answer_with_the_names_of_the_http_api(run: Run) -> None:
    from dataclasses import fields

    from search.web.answers import SearchAnswer

    for command in (("search", "house"), ("similar", "own:house"), ("search", "--set", "own")):
        told = run(*command, "--json", "--facets", "--min-score", "0", "-k", "2").stdout.splitlines()
        assert len(told) == 1
        answer = json.loads(told[0])
        assert set(answer) == {field.name for field in fields(SearchAnswer)}
        assert {one["value"] for one in answer["facets"]["set"]} <= {"own", "other"}
        assert len(answer["hits"]) <= 2
    assert (answer["query"], answer["n_found"], answer["spelled"]) == ("", 3, None)


def test_json_of_nothing_is_an_answer_too(run: Run) -> None:
    done = run("search", "house", "--keyword", "--set", "own", "--tag", "west", "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert (answer["query"], answer["hits"], answer["n_found"]) == ("house", [], 0)


def test_jsonl_is_a_hit_a_line_with_the_key_that_finds_it_again(run: Run) -> None:
    lines = run("search", "house", "--jsonl", "--min-score", "0", "-k", "2").stdout.splitlines()
    hits = [json.loads(line) for line in lines]
    assert {hit["key"] for hit in hits} == {"own:house", "other:house"}
    whole = json.loads(run("search", "house", "--json", "--min-score", "0", "-k", "2").stdout)
    assert whole["hits"] == hits
    again = json.loads(run("show", hits[0]["key"], "--json").stdout)
    assert again["hit"]["id"] == hits[0]["id"]


def test_paths_are_lines_that_a_shell_can_use(run: Run) -> None:
    paths = run("search", "arrow left", "--paths", "--set", "own", "-k", "2").stdout.splitlines()
    assert len(paths) == 2
    assert all(Path(path).is_file() for path in paths)


def test_an_icon_inside_a_file_is_told_with_its_key(
    run: Run, own_iconify: Path, tmp_path: Path, tiny_model: Path
) -> None:
    library = tmp_path / "iconify"
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu"]
    assert run("index", own_iconify, *options, library=library).exit_code == 0
    paths = run("search", "shape c", "--paths", "-k", "1", "--min-score", "0", library=library).stdout
    assert paths == f"{own_iconify}#shape-c\n"


def test_svg_is_the_first_hit_byte_for_byte_and_nothing_else(run: Run, asked: Path) -> None:
    done = run("search", "arrow left", "--svg", "--set", "own", "-k", "5")
    stored = {path.read_bytes() for path in (asked.parent / "icons").glob("*.svg")}
    assert done.stdout_bytes.removesuffix(b"\n") in stored
    assert done.stdout.count("<svg") == 1


def test_a_packed_svg_is_unpacked_and_a_bitmap_is_refused_with_what_to_do(run: Run, asked: Path) -> None:
    packed = run("show", "other:packed", "--svg")
    assert packed.stdout_bytes.strip() == gzip.decompress((asked.parent / "icons" / "packed.svgz").read_bytes())
    bitmap = run("show", "other:logo", "--svg")
    assert (bitmap.exit_code, bitmap.stdout) == (2, "")
    assert '"other:logo" is no SVG' in bitmap.stderr and "--copy-to" in bitmap.stderr


@pytest.mark.parametrize("before", ["", '<?xml version="1.0"?>\n<!-- a house -->\n'])
def test_a_pasted_svg_finds_its_icon(run: Run, asked: Path, before: str) -> None:
    drawing = (asked.parent / "icons" / "house.svg").read_text()
    done = run("search", before + drawing, "--jsonl", "-k", "1")
    assert json.loads(done.stdout)["key"] == "own:house"
    broken = run("search", "<svg >no picture")
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert 'picture "pasted SVG" can\'t be looked for' in broken.stderr


def test_facets_count_what_is_found_in_the_table_and_in_json(run: Run) -> None:
    options = ("search", "arrow", "--min-score", "0", "--facets")
    table = run(*options).stdout
    assert "found by" in table
    told = json.loads(run(*options, "--json").stdout)
    assert {count["value"]: count["n"] for count in told["facets"]["set"]} == {"own": 3, "other": 4}


def test_notes_go_to_stderr_and_results_to_stdout(run: Run) -> None:
    done = run("search", "house", "--min-score", "0", "-k", "2")
    assert "--offset 2 goes on" in done.stderr
    assert "--offset" not in done.stdout
    rest = run("search", "house", "--min-score", "0", "-k", "2", "--offset", "2")
    assert rest.stdout.splitlines()[1].split()[0] == "3"


def test_nothing_found_is_exit_code_1_and_an_empty_stdout(run: Run) -> None:
    done = run("search", "house", "--keyword", "--set", "own", "--tag", "west")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == 'nothing found for "house" with these filters\n'


def test_a_score_that_nothing_reaches_says_how_to_see_the_nearest(run: Run) -> None:
    done = run("search", "a query that no icon means", "--min-score", "1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--min-score 0 shows what is nearest" in done.stderr


def test_an_offset_beyond_all_hits_says_how_many_there_are(run: Run) -> None:
    done = run("search", "house", "--min-score", "0", "--offset", "500")
    assert (done.exit_code, done.stdout) == (1, "")
    assert '"house" finds ' in done.stderr and "--offset 500" in done.stderr


def test_names_are_shown_as_they_are_and_order_the_terminal_nothing(run: Run) -> None:
    done = run("search", "odd", "--set", "other", "--min-score", "0")
    assert r"[red]odd[/nothing] \x1b[31mname" in done.stdout
    assert "\x1b" not in done.stdout


def test_filters_hold(run: Run) -> None:
    def keys(*options: str) -> set[str]:
        lines = run("search", "arrow", "--min-score", "0", "--jsonl", "-k", "50", *options).stdout.splitlines()
        return {json.loads(line)["key"] for line in lines}

    assert keys("--set", "other", "--licence", "copyleft") == {"other:house", "other:logo"}
    assert keys("--license", "GPL-3.0-only") == {"other:house", "other:logo"}
    assert keys("--tag", "Home") == {"own:house"}
    assert keys("--category", "places") == {"own:house"}
    assert keys("--size", "24", "--set", "own") == {"own:house"}
    assert keys("--style", "filled") == keys("--style", "solid")
    assert "own:arrow-left-filled" in keys("--style", "filled", "--flat")
    assert "other:logo" not in keys("--style", "filled")
    assert keys("--coloured") == keys("--color") == {"other:logo"}
    assert keys("--animated") == set()


def test_a_picture_finds_its_icon_from_a_file_and_from_stdin(run: Run, shot: Path) -> None:
    options = ("--jsonl", "-k", "1", "--min-score", "0")
    from_file = run("search", "--image", shot, *options)
    from_stdin = run("search", "--image", "-", *options, given=shot.read_bytes())
    assert json.loads(from_file.stdout)["key"] == "own:house"
    assert from_stdin.stdout == from_file.stdout


def test_similar_leaves_the_icon_itself_out(run: Run) -> None:
    lines = run("similar", "own:house", "--jsonl", "--min-score", "0").stdout.splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert keys and "own:house" not in keys


def test_show_tells_all_that_is_known(run: Run, asked: Path) -> None:
    told = run("show", "own:arrow-left").stdout
    for fact in ("own:arrow-left", "arrows", "back, west", "MIT (permissive)", str(asked.parent), "variants"):
        assert fact in told
    assert "own:arrow-left-filled" in told


def test_a_source_that_has_gone_is_told_and_stops_no_table(run: Run, own: Path, tmp_path: Path) -> None:
    (tmp_path / "icons" / "house.svg").unlink()
    sheet = tmp_path / "sheet.html"
    done = run("search", "house", "--set", "own", "--min-score", "0", "--sheet", sheet, library=own)
    assert done.exit_code == 0
    assert f'Warning: "{tmp_path}/icons/house.svg" can\'t be read' in done.stderr
    assert "gone" in sheet.read_text()
    svg = run("show", "own:house", "--svg", library=own)
    assert (svg.exit_code, svg.stdout) == (2, "")
    assert "run `icons index`" in svg.stderr


def test_a_picture_that_was_changed_is_not_given_out(run: Run, own: Path, tmp_path: Path) -> None:
    (tmp_path / "icons" / "house.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    done = run("show", "own:house", "--svg", library=own)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has changed since it was indexed; run `icons index`" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
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
        (["house", "--jsonl", "--facets"], "--jsonl has hits alone"),
        (["house", "--sort", "size"], "'size' is not one of 'relevance', 'name', 'set', 'newest'"),
        (["house", "--corner", "round"], 'no corner "round" in this library: no icon of it states one'),
        (["house", "--tag", "hom"], 'no tag "hom" in this library; near: home'),
        (["house", "--category", "arow"], 'no category "arow" in this library; near: arrows'),
        (["house", "--licence", "GPL"], 'no licence "GPL" in this library; near: '),
        (["house", "--size", "0"], "0 is not in the range"),
        (["house", "--json", "--paths"], "--json and --paths are two forms of output"),
        (["house", "--sheet", "hits.pdf"], '"hits.pdf" ends neither in .html nor in .png'),
        (["house", "--sheet", "/proc/hits.png"], '"/proc/hits.png" can\'t be written'),
        (["house", "--copy-to", "/proc/hits"], '"/proc/hits" can\'t be written'),
        (["house", "--pictures"], "--pictures needs a terminal"),
        (["--image", "/nowhere.png"], '"/nowhere.png" can\'t be read: No such file or directory'),
        (["--image", "/proc"], "File '/proc' is a directory"),
        (["--image", __file__], f'"{__file__}" can\'t be looked for: not a picture'),
        (["--image", "/dev/zero"], '"/dev/zero" can\'t be read: it has more than 67 MB'),
        (["--image", "/dev/null"], '"/dev/null" can\'t be looked for: empty file'),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(run: Run, arguments: list[str], told: str) -> None:
    done = run("search", *arguments)
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.output


@pytest.mark.parametrize("command", ["similar", "show"])
def test_an_unknown_icon_names_near_ones(run: Run, command: str) -> None:
    done = run(command, "own:hous")
    assert (done.exit_code, done.stdout) == (2, "")
    assert 'no icon "own:hous" in this library; near: own:house' in done.stderr


@pytest.mark.parametrize(
    "query", ["->", "c++", "'; DROP TABLE icons; --", "AND OR NOT", "🎉", "שלום", "x" * 10_000, "\x07\x1b[2J", "*", '"']
)
@pytest.mark.parametrize("kind", [[], ["--keyword"]])
def test_odd_queries_are_answered_or_refused_in_a_line(run: Run, query: str, kind: list[str]) -> None:
    done = run("search", "--min-score", "0", *kind, "--", query)
    assert done.exit_code in (0, 1, 2), done.output
    assert "Traceback" not in done.output
    assert "\x1b" not in done.output
    assert kind or done.exit_code == 0


COMMANDS = [["search", "house"], ["similar", "own:house"], ["show", "own:house"], ["repl"]]


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
    hits = run("search", name, "--jsonl", "--min-score", "0", "-k", "50", library=oddly_named).stdout.splitlines()
    (hit,) = (found for line in hits if (found := json.loads(line))["name"] == name)
    table = run("search", name, "--min-score", "0", "-k", "50", library=oddly_named).stdout
    assert printable(name).strip() in table
    for spelling in (name, printable(name), hit["key"]):
        shown = json.loads(run("show", "--json", "--", spelling, library=oddly_named).stdout)
        assert shown["hit"]["name"] == name


def test_an_icon_that_shares_set_and_name_has_its_number_in_its_key(run: Run, tmp_path: Path, tiny_model: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / "twice" / place).mkdir(parents=True)
        (tmp_path / "twice" / place / "bell.svg").write_text(disc(4 if place == "a" else 9, 12))
    library = index_by_command(tmp_path / "twice", tmp_path / "library", tiny_model)
    lines = run("search", "bell", "--flat", "--jsonl", "--min-score", "0", library=library).stdout.splitlines()
    hits = [json.loads(line) for line in lines]
    assert sorted(hit["key"] for hit in hits) == ["twice:bell", f"twice:bell#{max(hit['id'] for hit in hits)}"]
    for hit in hits:
        for spelling in (hit["key"], str(hit["id"])):
            assert json.loads(run("show", spelling, "--json", library=library).stdout)["hit"]["id"] == hit["id"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--long"], ["--long", "--facets"], ["--json"]])
def test_colours_that_are_forced_make_no_terminal_of_a_pipe(asked: Path, options: list[str]) -> None:
    command = [sys.executable, "-c", "from search.cli import main; main()", "search", "house", *options]
    environment = {**os.environ, "FORCE_COLOR": "1", "ICONS_LIBRARY": str(asked)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "house" in done.stdout
    assert str(asked.parent / "icons") in done.stdout
    refused = subprocess.run([*command, "--pictures"], env=environment, capture_output=True, text=True, check=False)
    if "--json" not in options:
        assert (refused.returncode, "--pictures needs a terminal" in refused.stderr) == (2, True)


def test_a_query_of_another_language_is_read_in_english_and_that_is_said(run: Callable[..., Result]) -> None:
    found = run("search", "Pfeil links", "--paths")
    assert found.stderr.startswith("Pfeil: arrow")
    assert "links: left" in found.stderr and found.stderr.splitlines()[0].endswith("(German)")
    assert found.stdout.splitlines()[0].endswith("arrow-left.svg")


def test_the_language_of_the_environment_decides_where_a_word_is_two_languages(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert "chat: cat" in run("search", "chat").stderr
    assert "(French)" in run("search", "chat").stderr
    assert "cat" not in run("search", "chat", "--language", "en").stderr
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert "cat" not in run("search", "chat").stderr
