"""TAB completes commands, options, and what the library holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from search.cli import main

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
        ("icons search house --style s", ["solid"]),
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
