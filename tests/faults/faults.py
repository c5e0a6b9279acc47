"""Starts stages on a disk that fails, and makes libraries for them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from conftest import disc

ROOT = Path(__file__).parents[2]


class Stages:
    """Stages in processes of their own, watched by the counting layer."""

    def __init__(self, layer: Path, log: Path) -> None:
        threads = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("stages.py"))],
            env={**os.environ, **threads, "LD_PRELOAD": str(layer), "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def run(self, stage: str, library: Path, **asked: Any) -> dict[str, Any]:
        """Run one stage; tell its result, refusal or defect, how many operations it took and how it ended."""
        self._process.stdin.write(json.dumps({"stage": stage, "library": str(library), **asked}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def result(self, stage: str, library: Path, **asked: Any) -> Any:
        """Run a stage that must succeed; return its result."""
        told = self.run(stage, library, **asked)
        assert "result" in told, told.get("defect") or told
        return told["result"]

    def close(self) -> None:
        """End the process that the stages start from."""
        self._process.communicate()
        self._log.close()


def draw(folder: Path, name: str, x: int, y: int) -> None:
    """Write one icon."""
    (folder / f"{name}.svg").write_text(disc(x, y))


def copy_library(source: Path, target: Path) -> Path:
    """Copy a library for a stage to work on; encoders, which no stage writes into, are shared."""
    shutil.rmtree(target, ignore_errors=True)

    def take(path: str, copy: str) -> None:
        os.link(path, copy) if "/encoders/" in path else shutil.copy2(path, copy)

    shutil.copytree(source, target, copy_function=take)
    return target
