"""What does `icons map` print and write, and with which exit code? And does its page give back what was chosen?"""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from indexer.library.folder import Library

Map = Callable[..., Result]
CODE = 'import { FaBell } from "react-icons/fa6";\nexport const keys = ["mdi:bell", `mdi:${name}`];\n'


@pytest.fixture
def map_icons(run: Map, called: Library) -> Map:
    def mapping(*arguments: str, given: str | None = None) -> Result:
        return run("map", "--to", "lucide", *arguments, given=given, library=called.root)

    return mapping


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    file = tmp_path / "mapping.csv"
    file.write_text("source,target\nfa6-solid:bell,lucide:bell-plus\nmdi:bell,lucide:bell\nmdi:star,\n")
    return file


def test_names_get_a_line_each(map_icons: Map, chosen: Path) -> None:
    done = map_icons("--from", "mdi", "--mapping", str(chosen), "bell", "star")
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    assert lines[1:3] == [["mdi:bell", "bell", "chosen"], ["mdi:star", "-", "chosen"]]
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (0, "2 mapped to lucide, 0 of them doubtful")


def test_names_come_from_stdin_and_without_a_picture_that_is_said(map_icons: Map) -> None:
    done = map_icons("--names", "-", "--json", given="# mine\nti:bell\nplus\n")
    assert [one["target"] for one in json.loads(done.stdout)["icons"]] == ["lucide:bell", "lucide:plus"]
    assert done.exit_code == 0 and "2 by name alone: the library has no picture of these" in done.stderr


def test_a_whole_set_as_csv_comes_back_with_mapping(map_icons: Map, tmp_path: Path) -> None:
    done = map_icons("--from", "mdi", "--csv")
    sources = {row["source"] for row in csv.DictReader(done.stdout.splitlines())}
    assert sources >= {"mdi:star", "mdi:bell", "mdi:account"}
    (tmp_path / "mapping.csv").write_text(done.stdout)
    assert map_icons("--from", "mdi", "--csv", "--mapping", str(tmp_path / "mapping.csv")).exit_code == 0


def test_code_is_shown_as_a_diff_first_and_written_when_told(map_icons: Map, chosen: Path, tmp_path: Path) -> None:
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
    assert "places changed: 2; files: 1" in done.stderr
    assert '"lucide:bell"' in (folder / "a.tsx").read_text()
    again = map_icons(str(folder), "--write")
    assert again.exit_code == 1 and "no icon to map: the code names none; 2 of its names are of lucide" in again.stderr


def test_of_many_places_the_first_are_shown_unless_all_are_asked_for(map_icons: Map, tmp_path: Path) -> None:
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
    map_icons: Map, arguments: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("names.txt", "names", "src/a.ts"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("bell\n")
    done = map_icons(*arguments)
    assert done.exit_code == 2 and why in done.stderr
