"""Are many queries answered in one process, whatever goes wrong in between?"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from small_icons import drawn
from terminal import PROGRAM, in_terminal

Run = Callable[..., Result]


def test_each_line_is_a_search_with_its_options(run: Run) -> None:
    lines = "house --jsonl -k 1 --set own\n\nhouse --jsonl -k 1 --set other\n"
    done = run("repl", given=lines)
    assert done.exit_code == 0
    assert [json.loads(line)["key"] for line in done.stdout.splitlines()] == ["own:house", "other:house"]
    assert done.stderr == ""


def test_what_goes_wrong_is_told_and_the_next_line_is_answered(run: Run) -> None:
    wrong = ["--frob", "x --set othr", ":nope", "x -k 0", ":show own:hous", "house --keyword --tag west --set own"]
    done = run("repl", given="\n".join([*wrong, "don't --jsonl -k 1 --min-score 0", ""]))
    assert done.exit_code == 0
    told = done.stderr.splitlines()
    assert [line.split(";")[0][:40] for line in told] == [
        "Error: No such option '--frob'.",
        'Error: no set "othr" in this library',
        'Error: no command ":nope"',
        "Error: Invalid value for '-k': 0 is not ",
        'Error: no icon "own:hous" in this librar',
        'nothing found for "house" with these fil',
    ]
    assert json.loads(done.stdout)["key"]


def test_a_line_without_an_end_is_refused_and_one_that_is_no_text_is_told(run: Run) -> None:
    done = run("repl", given=b"\xff\xfe\n" + b"x" * 1_000_001)
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        'Error: "\\udcff\\udcfe" is not Unicode text; type it again, in UTF-8',
        "Error: a line of more than 1 MB; write a query a line",
    ]


def test_it_shows_icons_and_similar_ones(run: Run, asked: Path) -> None:
    done = run("repl", given=":show own:house --svg\n:similar own:house --paths -k 1 --min-score 0\n:quit\nhouse\n")
    svg, path = done.stdout.splitlines()
    assert svg == (asked.parent / "icons" / "house.svg").read_text()
    assert Path(path).parent == asked.parent / "icons"


def test_help_tells_the_lines_and_the_options(run: Run) -> None:
    done = run("repl", given=":help\n:help search\n")
    assert done.stdout == ""
    assert ":similar mdi:home" in done.stderr
    assert "--licence" in done.stderr


def test_it_searches_the_library_that_it_was_given(run: Run, own: Path, asked: Path) -> None:
    lines = f"house --paths -k 1 --set own\nhouse --paths -k 1 --set own --library {asked}\n"
    first, second = run("repl", given=lines, library=own).stdout.splitlines()
    assert first == str(own.parent / "icons" / "house.svg")
    assert second == str(asked.parent / "icons" / "house.svg")


@pytest.mark.slow
def test_a_new_generation_answers_the_next_line(run: Run, own: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "repl", "--library", str(own)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write("brand new --jsonl -k 1 --min-score 0\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["name"] != "brand-new"
        (tmp_path / "icons" / "new.svg").write_text(drawn('<path d="M0 0h9v5z"/>'))
        with (tmp_path / "icons" / "icons.jsonl").open("a") as manifest:
            manifest.write(json.dumps({"file_path": "new.svg", "name": "brand-new", "set": "own"}) + "\n")
        assert run("index", "--devices", "cpu", library=own).exit_code == 0
        process.stdin.write("brand new --jsonl -k 1 --min-score 0\n")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["name"] == "brand-new"


def test_a_person_gets_a_prompt_and_leaves_with_ctrl_d(asked: Path) -> None:
    typed = [(b"icons> ", b"house -k 1\r"), (b"score", b""), (b"icons> ", b"\x04")]
    code, shown = in_terminal("repl", "--library", asked, "--no-pictures", answers={}, typed=typed)
    assert code == 0, shown
    assert "8 icons; :help tells" in shown
    assert "house" in shown.rpartition("score")[2]
