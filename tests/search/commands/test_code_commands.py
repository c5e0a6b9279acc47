"""What `icons map` and `pick` print and write, with which exit code; and what `icons config` keeps for them."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from indexer.library.durable import with_checksum
from indexer.library.folder import Library
from search.engine import SearchEngine

Run = Callable[..., Result]
CODE = 'import { FaBell } from "react-icons/fa6";\nexport const keys = ["mdi:bell", `mdi:${name}`];\n'


@pytest.fixture
def map_icons(run: Run, called: Library) -> Run:
    def mapping(*arguments: str, given: str | None = None) -> Result:
        return run("map", "--to", "lucide", *arguments, given=given, library=called.root)

    return mapping


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    file = tmp_path / "mapping.csv"
    file.write_text("source,target\nfa6-solid:bell,lucide:bell-plus\nmdi:bell,lucide:bell\nmdi:star,\n")
    return file


def test_names_get_a_line_each(map_icons: Run, chosen: Path) -> None:
    done = map_icons("--from", "mdi", "--mapping", str(chosen), "bell", "star")
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    assert lines[1:3] == [["mdi:bell", "bell", "chosen"], ["mdi:star", "-", "chosen"]]
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (0, "2 mapped to lucide, 0 of them doubtful")


def test_names_come_from_stdin_and_without_a_picture_that_is_said(map_icons: Run) -> None:
    done = map_icons("--names", "-", "--json", given="# mine\nti:bell\nplus\n")
    assert [one["target"] for one in json.loads(done.stdout)["icons"]] == ["lucide:bell", "lucide:plus"]
    assert done.exit_code == 0 and "2 by name alone: the library has no picture of these" in done.stderr


def test_a_whole_set_as_csv_comes_back_with_mapping(map_icons: Run, tmp_path: Path) -> None:
    done = map_icons("--from", "mdi", "--csv")
    sources = {row["source"] for row in csv.DictReader(done.stdout.splitlines())}
    assert sources >= {"mdi:star", "mdi:bell", "mdi:account"}
    (tmp_path / "mapping.csv").write_text(done.stdout)
    assert map_icons("--from", "mdi", "--csv", "--mapping", str(tmp_path / "mapping.csv")).exit_code == 0


def test_code_is_shown_as_a_diff_first_and_written_when_told(map_icons: Run, chosen: Path, tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.tsx").write_text(CODE)
    done = map_icons(str(folder), "--mapping", str(chosen))
    assert '+import { BellPlus as FaBell } from "lucide-react";' in done.stdout.splitlines()
    assert (done.exit_code, (folder / "a.tsx").read_text()) == (0, CODE)
    told = ("places to change: 2; files: 1; --write changes them", "mdi:${name}: by hand", "npm install lucide-react")
    told += ("found: 3 = 2 to change + 0 doubtful + 1 not changed", "a.tsx:2: mdi:bell: to change, lucide:bell")
    assert [one for one in told if one not in done.stderr] == []
    code = json.loads(map_icons(str(folder), "--mapping", str(chosen), "--json").stdout)["code"]
    assert (code["files"][0]["n_places"], [one["text"] for one in code["computed"]]) == (2, ["mdi:${name}"])
    done = map_icons(str(folder), "--mapping", str(chosen), "--write")
    assert "places changed: 2; files: 1" in done.stderr and '"lucide:bell"' in (folder / "a.tsx").read_text()
    again = map_icons(str(folder), "--write")
    assert again.exit_code == 1 and "no icon to map: the code names none; 2 of its names are of lucide" in again.stderr


def test_of_many_places_the_first_are_shown_unless_all_are_asked_for(map_icons: Run, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<i class="fa-solid fa-bell"></i>\n' * 12)
    some, whole = (map_icons(str(tmp_path), *more).stderr.splitlines() for more in ((), ("--long",)))
    assert "... and 2 more not changed: --long" in some and len(whole) == len(some) + 1
    assert "found: 12 = 0 to change + 0 doubtful + 12 not changed" in whole


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "no name to map"),
        (("--from", "lucide"), '"lucide" is both'),
        (("--from", "mdi", "home", "--write"), "--write changes source code"),
        (("--from", "no-such", "home"), "no-such"),
        (("home", "--mapping", "missing.csv"), '"missing.csv" can\'t be read: No such file or directory'),
        (("home", "--mapping", "/dev/zero"), '"/dev/zero" can\'t be read: it has more than 8 MB'),
        (("--from", "mdi", "--names", "/dev/zero"), '"/dev/zero" can\'t be read: it has more than 8 MB'),
        (("--from", "mdi", "--names", "missing.txt"), '"missing.txt" can\'t be read: No such file or directory'),
        (("names.txt",), '--names "names.txt" reads the names in it'),
        (("names",), '--names "names" reads the names in it'),
        ((".", "bell"), '"." is source code, and others are names; give one kind'),
        (("nams/",), 'no file or folder "nams/"; near: "names"'),
        (("App.tsx",), 'no file or folder "App.tsx"; name your sources, as icons map src --to lucide'),
        (("srcc",), 'no file or folder "srcc"; near: "src"'),
        (("mdi:hoem", "mdi:houze"), 'mdi has no icon "hoem" (near: mdi:home); mdi has no icon "houze"'),
        (("mdi:home", "--json", "--csv"), "two forms of output"),
    ],
)
def test_what_can_not_be_mapped_is_an_error(
    map_icons: Run, arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("names.txt", "names", "src/a.ts"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("bell\n")
    done = map_icons(*arguments)
    assert done.exit_code == 2 and why in done.stderr


NEEDS = "# a page\n- bell\n\nstar\n"


@pytest.fixture
def library(called: Library) -> Iterator[Library]:
    """A library of which nobody prefers a set yet."""
    yield called
    called.preferences.unlink(missing_ok=True)


@pytest.fixture
def pick(run: Run, library: Library) -> Run:
    def picking(*arguments: str, given: str | bytes | None = None, command: str = "pick") -> Result:
        return run(command, *arguments, given=given, library=library.root)

    return picking


def test_the_best_three_are_shown_with_their_numbers(pick: Run) -> None:
    done = pick("--set", "lucide", given=NEEDS)
    lines = done.stdout.splitlines()
    assert lines[0] == "bell" and lines[1].startswith("  1  ") and "lucide:bell  outline" in lines[1]
    told = 'to take one of each: --first, or --choose "1 1"; --format FORMAT writes code\n'
    assert (done.exit_code, done.stderr, "star" in lines) == (0, told, True)


def test_needs_become_code_behind_their_needs(pick: Run) -> None:
    done = pick("--format", "lucide-react", "--size", "20", "map pin", "bell")
    assert done.stdout == (
        'import { MapPin, Bell } from "lucide-react";\n\n'
        "{/* map pin */}\n<MapPin size={20} />\n{/* bell */}\n<Bell size={20} />\n"
    )
    assert (done.exit_code, done.stderr) == (0, "to install: npm install lucide-react\n")


def test_the_format_of_the_configuration_is_taken_where_none_is_named(pick: Run) -> None:
    chosen = pick("--first", "bell", "cigarette", "map pin")
    assert chosen.stdout.splitlines() == ["lucide:bell", "lucide:cigarette", "lucide:map-pin"]
    assert chosen.stderr == "set: lucide, which answers 3 of 3 needs well; --set KEY takes another\n"
    assert pick("format", "vue", command="config").stdout == "sets    -\nformat  vue\n"
    assert "<template>" in pick("--set", "mdi", "--first", "bell").stdout
    assert pick("--set", "mdi", "bell").stdout.startswith("bell\n  1  ")  # nothing is chosen
    assert pick("--set", "mdi", "--format", "name", "bell").stdout == "mdi:bell\n"
    assert "<template>" in pick("--set", "mdi", "--choose", "1", "bell").stdout  # the other was for once


def test_a_need_that_finds_nothing_is_told_and_costs_the_exit_code(pick: Run) -> None:
    done = pick("--set", "lucide", "--format", "unocss", "bell", "jrctpxwjv")
    assert (done.exit_code, done.stdout) == (1, '<!-- bell -->\n<span class="i-lucide-bell"></span>\n')
    assert 'nothing found for "jrctpxwjv"' in done.stderr


def test_json_is_one_object(pick: Run) -> None:
    done = pick("--json", "--set", "lucide", "--format", "lucide-react", given=NEEDS)
    told = json.loads(done.stdout)
    assert (told["set"], told["format"], told["missing"], told["refused"]) == (None, "lucide-react", [], [])
    assert [need["chosen"] for need in told["needs"]] == ["lucide:bell", "lucide:star"]
    assert (len(told["needs"][0]["hits"]), done.stderr) == (3, "")
    assert (told["uses"], told["install"]) == (["<Bell />", "<Star />"], "npm install lucide-react")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--first", "--choose", "1", "bell"], "two ways to choose"),
        (["--choose", "1 x", "bell"], '"x" is none of 0, 1, 2, 3'),
        (["--choose", "1 2", "bell"], "2 numbers chosen for 1 needs"),
        (["--first", "--only", "tag=no-such", "bell"], 'no tag "no-such"'),
        (["--first", "--colour", "red", "bell"], "say which with --format"),
        (["--format", "lucide-raect", "bell"], 'no format "lucide-raect"; near: lucide-react'),
        (["--format", "svg", "--colour", "url(x)", "bell"], 'colour is "url(x)"'),
        (["--set", "mdi", "--format", "lucide-react", "bell"], '"mdi" is no set that the format serves'),
    ],
)
def test_what_cannot_be_asked_is_refused(pick: Run, arguments: list[str], why: str) -> None:
    done = pick(*arguments)
    assert (done.exit_code, done.stdout) == (2, "") and why in " ".join(done.stderr.split())


def test_one_icon_is_written_by_show(pick: Run) -> None:
    shown = pick("mdi:bell", "--format", "@mdi/js", "--colour", "navy", command="show").stdout
    left_out = pick("mdi:bell", "--format", "unocss", "--corner", "sharp", command="show").stderr
    copied = pick("mdi:bell", "--format", "svg", "--size", "48", command="show").stdout
    assert shown.endswith('<Icon path={mdiBell} color="navy" />\n')
    assert left_out == "--corner left out: unocss has no way to say it; --format react does\n"
    assert copied.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"')


def first_set(run: Run, library: Library) -> str:
    return str(json.loads(run("search", "star", "--json", library=library.root).stdout)["hits"][0]["set"])


def configured(run: Run, library: Library, *arguments: str) -> dict[str, Any]:
    done = run("config", *arguments, "--json", library=library.root)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_choice_is_kept_and_counts_for_every_search(run: Run, library: Library) -> None:
    before = first_set(run, library)
    other = next(one for one in ("mdi", "fa6-solid", "lucide") if one != before)
    chosen = run("config", "sets", other, library=library.root)
    assert (chosen.exit_code, chosen.stdout) == (0, f"sets    {other}\nformat  -\n")
    assert first_set(run, library) == other
    both = {"sets": ["fa6-solid", "mdi"], "format": "vue"}
    assert configured(run, library, "sets", "Font Awesome 6 Solid", "mdi")["sets"] == both["sets"]
    assert [hit.set for hit in SearchEngine.open(library.root).search("star", k=2)] == both["sets"]
    assert configured(run, library, "format", "VUE") == both
    assert configured(run, library, "sets", "--none") == configured(run, library) == {"sets": [], "format": "vue"}
    assert configured(run, library, "format", "--none") == {"sets": [], "format": None}
    assert first_set(run, library) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("sets", "mdii"), 'no set "mdii"'),
        (("sets", "mdi", "--none"), "VALUE and --none are a choice and none"),
        (("--none",), "--none needs to know of what"),
        (("format", "vue", "svg"), "code has one format"),
        (("format", "vu-e-x"), 'no format "vu-e-x"'),
        (("colours",), "'sets', 'format'"),
    ],
)
def test_what_can_not_be_chosen_changes_nothing(
    run: Run, library: Library, arguments: tuple[str, ...], reason: str
) -> None:
    configured(run, library, "sets", "mdi")
    done = run("config", *arguments, library=library.root)
    assert (done.exit_code, done.stdout) == (2, "") and reason in done.stderr
    assert configured(run, library) == {"sets": ["mdi"], "format": None}


DAMAGES = {
    "empty": "",
    "a number for a set": '{"sets": [1]}',
    "a number for a format": '{"sets": [], "format": 5}',
    "another name": '{"setz": ["mdi"]}',
    "no JSON": "\0",
    "nested without end": "[" * 100_000,
    "a changed letter": json.dumps(with_checksum({"sets": ["mdi"], "format": None})).replace("mdi", "mdj"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_search_answers_without_a_damaged_file_and_says_so_in_one_line(
    run: Run, library: Library, damage: str
) -> None:
    library.preferences.write_text(DAMAGES[damage])
    done = run("search", "star", library=library.root)
    [warning] = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert f'"{library.preferences}" can\'t be read' in warning and "`icons config sets SET...`" in warning
    assert (done.exit_code, run("pick", "star", "--first", library=library.root).exit_code) == (0, 0)
    shown = run("config", library=library.root)
    assert (shown.exit_code, shown.stdout) == (2, "") and configured(run, library, "sets", "mdi")["sets"] == ["mdi"]
