"""Every example of a help text runs as it is printed, in a folder that has what it names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HOUSE, disc, drawn
from PIL import Image

from data.making.commands import commands
from indexer.library.folder import Library
from indexer.rendering.render import render

ELSEWHERE = re.compile(
    r"lab (bench|finetune|evaluate|captions)|s3:|milvus|--model|--ray|--work|local-dir"
    r"|icons (serve|mcp|worker|completion)|curl"
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
def test_every_example_runs_as_it_is_printed(called: Library, tmp_path: Path) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    shot = Image.fromarray(render(drawn(HOUSE).encode(), size=96).pixels)
    for folder in ("design/icons", "design/old-icons", "design/symbole", "design/library", "work", "screenshots/2019"):
        (home / folder).mkdir(parents=True)
        (home / folder / "pfeil.svg").write_text(disc(3 + len(folder), 9))
        shot.save(home / folder / "secret.png")
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
    (tmp_path / "bin").mkdir()
    program = '"from search.cli import main; main()" "$@"'
    (tmp_path / "bin" / "icons").write_text(f"#!/bin/sh\nexec {sys.executable} -c {program}\n")
    (tmp_path / "bin" / "icons").chmod(0o755)
    library = shutil.copytree(called.root, tmp_path / "library")
    environment = {**os.environ, "HOME": str(home), "ICONS_LIBRARY": str(library), "BROWSER": "true"}
    environment |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parents[2])}
    failed = []
    for line in dict.fromkeys(examples()):
        if not ELSEWHERE.search(line) and ("jq" not in line or shutil.which("jq")):
            command = ["bash", "-o", "pipefail", "-c", line]
            done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1) or "Traceback" in done.stderr:
                failed.append((line, done.returncode, done.stderr[-300:]))
    assert failed == []
