"""What `icons pick` prints, and with which exit code; and code of one icon by `show`."""

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import Result

from indexer.library.folder import Library

Pick = Callable[..., Result]
NEEDS = "# a page\n- bell\n\nstar\n"


@pytest.fixture
def pick(run: Pick, called: Library) -> Iterator[Pick]:
    def picking(*arguments: str, given: str | bytes | None = None, command: str = "pick") -> Result:
        return run(command, *arguments, given=given, library=called.root)

    yield picking
    called.preferences.unlink(missing_ok=True)


def test_the_best_three_are_shown_with_their_numbers(pick: Pick) -> None:
    done = pick("--set", "lucide", given=NEEDS)
    lines = done.stdout.splitlines()
    assert lines[0] == "bell" and lines[1].startswith("  1  ") and "lucide:bell  outline" in lines[1]
    told = 'to take one of each: --first, or --choose "1 1"; --format FORMAT writes code\n'
    assert (done.exit_code, done.stderr, "star" in lines) == (0, told, True)


def test_needs_become_code_behind_their_needs(pick: Pick) -> None:
    done = pick("--format", "lucide-react", "--size", "20", "map pin", "bell")
    assert done.stdout == (
        'import { MapPin, Bell } from "lucide-react";\n\n'
        "{/* map pin */}\n<MapPin size={20} />\n{/* bell */}\n<Bell size={20} />\n"
    )
    assert (done.exit_code, done.stderr) == (0, "to install: npm install lucide-react\n")


def test_the_format_of_the_configuration_is_taken_where_none_is_named(pick: Pick) -> None:
    chosen = pick("--first", "bell", "cigarette", "map pin")
    assert chosen.stdout.splitlines() == ["lucide:bell", "lucide:cigarette", "lucide:map-pin"]
    assert chosen.stderr == "set: lucide, which answers 3 of 3 needs well; --set KEY takes another\n"
    assert pick("format", "vue", command="config").stdout == "sets    -\nformat  vue\n"
    assert "<template>" in pick("--set", "mdi", "--first", "bell").stdout
    assert pick("--set", "mdi", "bell").stdout.startswith("bell\n  1  ")  # nothing is chosen
    assert pick("--set", "mdi", "--format", "name", "bell").stdout == "mdi:bell\n"
    assert "<template>" in pick("--set", "mdi", "--choose", "1", "bell").stdout  # the other was for once


def test_a_need_that_finds_nothing_is_told_and_costs_the_exit_code(pick: Pick) -> None:
    done = pick("--set", "lucide", "--format", "unocss", "bell", "qqzzxxyy")
    assert (done.exit_code, done.stdout) == (1, '<!-- bell -->\n<span class="i-lucide-bell"></span>\n')
    assert 'nothing found for "qqzzxxyy"' in done.stderr


def test_json_is_one_object(pick: Pick) -> None:
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
def test_what_cannot_be_asked_is_refused(pick: Pick, arguments: list[str], why: str) -> None:
    done = pick(*arguments)
    assert (done.exit_code, done.stdout) == (2, "") and why in " ".join(done.stderr.split())


def test_one_icon_is_written_by_show(pick: Pick) -> None:
    shown = pick("mdi:bell", "--format", "@mdi/js", "--colour", "navy", command="show")
    assert shown.stdout.endswith('<Icon path={mdiBell} color="navy" />\n')
    left_out = pick("mdi:bell", "--format", "unocss", "--corner", "sharp", command="show")
    assert left_out.stderr == "--corner left out: unocss has no way to say it; --format react does\n"
    copied = pick("mdi:bell", "--format", "svg", "--size", "48", command="show")
    assert copied.stdout.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48"')
