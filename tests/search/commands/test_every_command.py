"""Whatever surrounds a command ends it in one line, with 2, or with 130 after Ctrl-C, and never with a trace.

How large the help is, what old spellings are answered with, and what TAB completes.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result
from small_icons import draw_sources

from data.making.commands import commands
from indexer.reports.terminal import open_console
from search.cli import main

Run = Callable[..., Result]
ICONS = [sys.executable, "-c", "from search import run; run()"]
ODD = os.fsdecode(b"odd\xff\xc3")
COMMANDS: Mapping[str, Sequence[str]] = {
    "check": ["src", "--json"],
    "completion": ["bash"],
    "config": ["sets", "own"],
    "doctor": ["--sample", "2"],
    "export": ["own:house", "--json", "--replace"],
    "index": [],
    "lab bench embed": [],
    "lab bench gpu": [],
    "lab bench scale": [],
    "lab bench search": [],
    "lab bench train": [],
    "lab captions": ["icons"],
    "lab evaluate": ["--names", "5", "--tags", "0", "--screenshots", "0", "--scores", "0"],
    "lab finetune": ["icons", "--out", "model", "--replace", "--set", "steps=1", "--passes", "1"],
    "lab publish": ["milvus://127.0.0.1:1/x"],
    "lint": ["icons", "--json"],
    "locate": ["shot.png", "--json"],
    "map": ["--from", "own", "--to", "other", "--csv"],
    "mcp": [],
    "pick": ["house", "--min-score", "0"],
    "rollback": [],
    "search": ["house", "--min-score", "0"],
    "serve": ["--host", "no.such.invalid"],
    "show": ["own:house"],
    "sources": [],
    "status": [],
    "usage add": ["shots"],
    "usage failures": [],
    "usage find": ["own:house"],
    "usage remove": ["shots"],
    "usage report": ["--set", "own"],
    "usage status": [],
    "worker": ["work"],
}
"""Every command, with what it needs to come to its end soon."""
MEASURING = {f"lab bench {name}" for name in ("embed", "gpu", "scale", "search", "train")}
"""Those take minutes."""
SILENT = {"lab publish", "mcp", "rollback", "serve", "worker"} | {
    f"usage {name}" for name in ("failures", "find", "remove", "report", "status")
}
"""Those that print nothing, or are refused before."""


def test_all_commands_are_tried() -> None:
    assert sorted(COMMANDS) == sorted(context.command_path.removeprefix("icons ") for _, context in commands())


def process(*arguments: str, how: str = "", inside: Path, library: Path) -> subprocess.CompletedProcess[str]:
    """Run a command by a shell, with what the shell does to its streams and limits."""
    before, _, streams = how.rpartition(";")
    script = f'{before}{";" if before else ""} "$@" {streams}'
    environment = {**os.environ, "ICONS_LIBRARY": str(library), "PYTHONUNBUFFERED": ""}
    return subprocess.run(
        ["bash", "-c", script, "bash", *ICONS, *arguments],
        input="house\n",
        capture_output=True,
        text=True,
        cwd=inside,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_working_directory_that_is_gone_is_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = CliRunner().invoke(main, [*name.split(), *COMMANDS[name]])
    assert (done.exit_code, done.stdout) == (2, "") and done.stderr == (
        "Error: the working directory is gone; change to one that is there\n"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_too_little_memory_is_told_before_anything_is_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: ({resource.RLIMIT_AS: 300_000_000}.get(kind, -1), -1))
    done = CliRunner().invoke(main, [*name.split(), *COMMANDS[name]])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: not enough memory or threads (this process may have 300 MB, and needs 1,000")


@pytest.mark.parametrize("kilobytes", [30_000, pytest.param(100_000, marks=pytest.mark.slow), 300_000])
def test_a_limit_of_memory_ends_a_search_in_one_line(kilobytes: int, asked: Path, tmp_path: Path) -> None:
    done = process("search", "house", how=f"ulimit -v {kilobytes};", inside=tmp_path, library=asked)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("Error: not enough memory")


@pytest.mark.slow
def test_a_search_and_a_check_of_icons_do_with_a_gigabyte(asked: Path, tmp_path: Path) -> None:
    for arguments in (("search", "house", "--min-score", "0"), ("lint", "--set", "own")):
        done = process(*arguments, how="ulimit -v 1000000;", inside=tmp_path, library=asked)
        assert done.returncode in (0, 1) and done.stdout, done.stderr


def status_that_fails(error: Exception, monkeypatch: pytest.MonkeyPatch) -> Result:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr("indexer.commands.library.read_status", fail)
    return CliRunner().invoke(main, ["status"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "Error: not enough memory or threads (MemoryError); `ulimit -a` shows what"),
        (ImportError("x.so: failed to map segment from shared object"), "Error: not enough memory or threads (x.so: "),
        (RuntimeError("can't start new thread"), "Error: not enough memory or threads (can't start new thread)"),
        (RuntimeError("std::bad_alloc"), "Error: not enough memory or threads (std::bad_alloc)"),
        (OSError(12, "Cannot allocate memory"), "Error: not enough memory or threads ([Errno 12] Cannot allocate"),
        (OSError(24, "Too many open files", "a"), 'Error: "a": Too many open files'),
        (OSError(5, "Input/output error"), "Error: Input/output error"),
        (ExceptionGroup("of tasks", [OSError(5, "Input/output error")]), "Error: Input/output error"),
        (PermissionError(13, "Permission denied", "a"), 'Error: "a" can\'t be read or written (Permission denied); '),
        (UnicodeEncodeError("utf-8", ODD, 3, 4, "surrogates not allowed"), 'Error: "odd\\udcff\\udcc3" is not Unicode'),
    ],
)  # fmt: skip
def test_what_ends_a_command_from_outside_is_one_line(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = status_that_fails(error, monkeypatch)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(told) and done.stderr.count("\n") == 1


def test_a_defect_shows_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(status_that_fails(KeyError("defect"), monkeypatch).exception, KeyError)


STREAMS = {
    "> /dev/full": "Error: stdout can't be written (No space left on device)\n",
    ">&-": "Error: stdout can't be written (Bad file descriptor)\n",
}


@pytest.mark.parametrize("how", STREAMS)
@pytest.mark.parametrize(
    "arguments", [["--help"], pytest.param(["search", "house", "--min-score", "0"], marks=pytest.mark.slow)]
)
def test_a_stdout_that_takes_nothing_is_told(how: str, arguments: list[str], asked: Path, tmp_path: Path) -> None:
    done = process(*arguments, how=how, inside=tmp_path, library=asked)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", STREAMS[how])


@pytest.mark.parametrize(
    "how", ["2>&-", *(pytest.param(how, marks=pytest.mark.slow) for how in ("<&-", "2>/dev/full"))]
)
def test_a_closed_stderr_or_stdin_keeps_no_answer_back(how: str, asked: Path, tmp_path: Path) -> None:
    done = process("search", "house", "--min-score", "0", "--json", how=how, inside=tmp_path, library=asked)
    assert (done.returncode, done.stderr) == (0, "") and '"own:house"' in done.stdout
    refused = process("search", "--set", "no-such", how=how, inside=tmp_path, library=asked)
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - MEASURING))
def test_full_or_closed_streams_end_a_command_without_a_trace(name: str, tmp_path: Path, shot: Path, own: Path) -> None:
    for folder, file, content in (
        ("shots", "shot.png", shot.read_bytes()),
        ("src", "a.ts", b'x("own:house"); y("own:no");'),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_bytes(content)
    for how in ("> /dev/full", ">&-", "2>&-", "<&-", ">&- 2>&-", "2>/dev/full"):
        done = process(*name.split(), *COMMANDS[name], how=how, inside=tmp_path, library=own)
        assert not {"Traceback", "Exception"} & {*done.stderr.split()} and done.returncode in (0, 1, 2), (how, done)
        if how.startswith(">") and name not in SILENT:
            assert done.returncode == 2 and ("2>&-" in how or done.stderr.endswith((*STREAMS.values(),))), (how, done)


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    with pytest.raises(BrokenPipeError):  # which ends a command with 0; rich would end it with 1
        open_console().on_broken_pipe()


def test_ctrl_c_is_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")  # pressed while modules are loaded
    begun = process(inside=tmp_path, library=tmp_path)
    assert (begun.returncode, begun.stdout, begun.stderr) == (130, "", "stopped\n")
    monkeypatch.setattr("indexer.commands.library.read_status", lambda _: os.kill(os.getpid(), signal.SIGINT))
    done = CliRunner().invoke(main, ["status"])
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["index", ODD], f"the path \"{ODD}\" is not valid UTF-8; rename it, or give a link to it"),
        (["index", "--only", "scan", ODD], f"the path \"{ODD}\" is not valid UTF-8"),
        (["lab", "captions", ODD], f"the path \"{ODD}\" is not valid UTF-8"),
        (["lint", ODD], f"the path \"{ODD}\" is not valid UTF-8"),
        (["sources", "--forget", ODD], f"the path \"{ODD}\" is not valid UTF-8"),
        (["usage", "add", ODD], "is not valid UTF-8; rename it, or give a link to it"),
        (["doctor", "--library", ODD], "is not valid UTF-8; rename it, or give a link to it"),
        (["lab", "publish", f"milvus://{ODD}"], f'"milvus://{ODD}" is not Unicode text'),
        (["serve", "--port", "0", "--host", ODD], f'nothing can listen on "{ODD}:0"'),
        (["export", "own:house", "--name", ODD], f'"{ODD}" is not Unicode text'),
        (["search", ODD], f'"{ODD}" is not Unicode text'),
        (["map", "--from", "own", "--to", "other", "--names", "names.txt"], "save it as UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_utf_8_is_refused_by_name(
    arguments: list[str], told: str, copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ICONS_LIBRARY", str(copied))
    Path(ODD).mkdir()
    Path("names.txt").write_bytes(b"\xff\xfe\n")
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stdout, told.replace("\udcff\udcc3", "\\udcff\\udcc3") in done.stderr) == (2, "", True)


def test_a_name_that_stdout_can_not_spell_is_printed_sign_by_sign(copied: Path, tmp_path: Path) -> None:
    library = copied.rename(tmp_path / "\u56f3")
    done = process("status", inside=tmp_path, library=library, how="export PYTHONIOENCODING=latin-1:strict;")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines()[0].endswith("/\\u56f3")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["lab", "captions", "icons", "--out"], "out.csv"),
        (["export", "own:house", "--replace", "--out"], "out.zip"),
        (["lint", "icons", "--html"], "out.html"),
        (["map", "--from", "own", "--to", "other", "--html"], "out.html"),
        (["search", "house", "--min-score", "0", "--sheet"], "out.html"),
        (["search", "house", "--min-score", "0", "--sheet"], "out.png"),
    ],
)
def test_an_output_goes_where_a_link_leads_and_into_a_device(
    run: Run, tmp_path: Path, arguments: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    draw_sources(tmp_path / "icons")
    link, file = Path(name), Path("file")
    link.symlink_to(file)
    file.write_text("before")
    assert run(*arguments, name).exit_code in (0, 1)
    assert link.is_symlink() and len(file.read_bytes()) > 100
    link.unlink()
    link.symlink_to("/dev/null")
    assert run(*arguments, name).exit_code in (0, 1)
    assert link.is_symlink() and Path("/dev/null").is_char_device()


_COMPLETE = "import sys; from search.cli import main; main(prog_name='icons')"


def completed(line: str, library: Path) -> list[str]:
    """What a shell would offer at the end of a line."""
    *words, incomplete = line.split(" ")[1:]
    environment = {"ICONS_LIBRARY": str(library)}
    with CliRunner().isolation(env=environment):
        return [one.value for one in BashComplete(main, {}, "icons", "").get_completions(words, incomplete)]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("icons sea", ["search"]),
        ("icons lab ca", ["captions"]),
        ("icons search --onl", ["--only"]),
        ("icons search house --set o", ["own", "other"]),
        ("icons search house --set ot", ["other"]),
        ("icons search house --style f", ["filled"]),
        ("icons search x --only ta", ["tag="]),
        ("icons search x --only tag=ho", ["tag=home"]),
        ("icons pick x --only category=a", ["category=arrows"]),
        ("icons search house --licence G", ["GPL-3.0-only"]),
        ("icons search house --set [", []),
        ("icons lint --rule br", ["broken"]),
    ],
)
def test_values_come_from_the_library(asked: Path, line: str, values: list[str]) -> None:
    assert sorted(completed(line, asked)) == sorted(values)


def test_another_library_on_the_line_completes_from_that_one(asked: Path, tmp_path: Path) -> None:
    assert completed(f"icons search --library {asked} --set ot", tmp_path / "none") == ["other"]
    assert completed("icons search house --set o", tmp_path / "none") == []


def test_a_tab_imports_nothing_heavy(asked: Path) -> None:
    program = _COMPLETE.replace("main(prog_name", "sys.exit = lambda *_: None; main(prog_name")
    program = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {program}"
    asking = {"COMP_WORDS": "icons search x --set o", "COMP_CWORD": "4", "_ICONS_COMPLETE": "bash_complete"}
    environment = {**os.environ, **asking, "ICONS_LIBRARY": str(asked)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert "own" in done.stdout
    assert not {"numpy", "faiss", "onnxruntime", "PIL", "rich.table", "torch"} & set(done.stderr.split())


def test_bash_takes_the_script_and_completes_with_it(asked: Path, tmp_path: Path) -> None:
    scripts = {shell: CliRunner().invoke(main, ["completion", shell]).stdout for shell in ("bash", "zsh", "fish")}
    assert all("_ICONS_COMPLETE" in script and f"{shell}_complete" in script for shell, script in scripts.items())
    (tmp_path / "icons").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{_COMPLETE}" "$@"\n')
    (tmp_path / "icons").chmod(0o755)
    line = 'COMP_WORDS=(icons search x --set ot); COMP_CWORD=4; _icons_completion icons; echo "${COMPREPLY[@]}"'
    environment = {**os.environ, "ICONS_LIBRARY": str(asked), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f"{scripts['bash']}\n{line}"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "other", done.stderr


MOVED = main.moved  # type: ignore[attr-defined]


def test_a_person_sees_twenty_commands_and_twenty_options_of_a_search() -> None:
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in main.list_commands(context)]
    assert len([one for one in commands if one and not one.hidden]) <= 20
    search = main.get_command(context, "search")
    assert search and len([one for one in search.params if isinstance(one, click.Option)]) <= 20


@pytest.mark.parametrize("spelling", MOVED)
def test_an_old_spelling_is_answered_in_one_line_with_the_new_one(spelling: str) -> None:
    done = CliRunner().invoke(main, [*spelling.split(), "x"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: `icons {spelling}` is now {MOVED[spelling]}\n"
