"""Every example of a help text runs as it is printed, in a folder that has what it names."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from glob import glob
from itertools import groupby
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import HOUSE, disc, drawn
from PIL import Image

from data.making.commands import commands
from indexer.library.folder import Library
from indexer.rendering.render import render
from search.cli import main

ELSEWHERE = re.compile(
    r"lab (bench|finetune|evaluate|captions)|s3:|milvus|--model|--ray|--work|local-dir"
    r"|icons (serve|mcp|worker|completion)|curl|locate bar"
)
"""Needs a server, another machine, a model or minutes, or does not end by itself."""


def examples() -> list[str]:
    """All lines that a help text shows, each whole and without the remark behind it."""
    found = []
    for command, context in commands():
        parts = [part for part in (command.help or "").split("\n\n") if "Example" in part and not command.hidden]
        for line in (line for part in parts for line in re.sub(r"\\\n\s*", "", part).splitlines()):
            found += [(context.command_path, line.partition("  # ")[0].strip())] if "icons " in line else []
    order = {"icons index": 0, "icons usage add": 1, "icons usage remove": 8, "icons sources": 9}
    return [line for _, line in sorted(found, key=lambda one: order.get(one[0], 5))]


def test_examples_are_found() -> None:
    told = [line for line in examples() if not ELSEWHERE.search(line)]
    assert len(told) > 50, told


@pytest.mark.slow
def test_every_example_runs_as_it_is_printed(called: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    shot = Image.fromarray(render(drawn(HOUSE).encode(), size=96).pixels)
    for folder in (
        "design/icons",
        "design/old-icons",
        "design/symbole",
        "design/library",
        "work/icons",
        "screenshots/2019",
    ):
        (home / folder).mkdir(parents=True)
        (home / folder / "pfeil.svg").write_text(disc(3 + len(folder), 9))
    for name in ("secret.png", "2019/a.png"):
        shot.save(home / "screenshots" / name)
    for name in ("shot.png", "bar.png", "crop.png", "screens/a.png"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        shot.save(here / name)
    for name, text in {
        "src/App.tsx": 'import { Bell } from "lucide-react";\nexport const keys = ["mdi:home"];\n',
        "src/assets/icons/own.svg": disc(5, 5),
        "icons/house.svg": drawn(HOUSE),
        "settings.json": '["lucide:bell", "lucide:house"]',
        "needs.txt": "bell\nhouse\nstar\n",
        "mapping.csv": "source,target\nmdi:home,lucide:house\n",
        "node_modules/@mdi/svg/package.json": '{"name": "@mdi/svg"}',
        "node_modules/@mdi/svg/svg/dot.svg": disc(4, 4),
    }.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    library = shutil.copytree(called.root, tmp_path / "library")
    for name, value in {"HOME": str(home), "ICONS_LIBRARY": str(library)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("click.launch", lambda _: 0)
    monkeypatch.chdir(here)
    told = [line for line in dict.fromkeys(examples()) if not ELSEWHERE.search(line)]
    script = "\n".join(["icons index ~/design/old-icons", *told])
    for key, there in {"mdi:cog": "mdi:home", "account-circle": "account", "shield-alert": "bell"}.items():
        script = script.replace(key, there)  # of a library with fewer icons
    wrong = [one for line in script.splitlines() for one in failures(line)]
    assert not wrong, "\n".join(map(str, wrong))


def failures(line: str) -> Iterator[tuple[str, str]]:
    """Run what a shell would, as far as it is ours, each command fed by the one before; yield what ends in an error."""
    for part in line.split(" && "):
        typed, _, given = part.partition(" > ")[0].partition(" < ")
        fed = Path(given).read_text() if given else None
        for is_pipe, words in groupby(shlex.split(typed), key="|".__eq__):
            command, *arguments = words
            if not is_pipe and command == "icons":
                paths = [sorted(glob(one)) or [one] for one in map(os.path.expanduser, arguments)]  # noqa: PTH207
                done = CliRunner().invoke(main, [path for some in paths for path in some], input=fed)
                fed = done.stdout
                if done.exit_code not in (0, 1) or not isinstance(done.exception, SystemExit | None):
                    yield line, done.stderr[-300:] or repr(done.exception)
