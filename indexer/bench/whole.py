"""How long does a whole `icons index` take, and how much memory? Run as a person would, in a library of its own."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from indexer.errors import BenchError
from indexer.process import named_as_starter
from indexer.ranks.gauges import family, proportional_bytes

SAMPLE_SECONDS = 0.5


@dataclass(slots=True)
class Whole:
    """One indexing from nothing to answers."""

    source: str
    seconds: float = 0.0
    found: int = 0
    embedded: int = 0
    peak_bytes: int = 0
    """Of all processes together, what they share counted once."""
    peak_bytes_by_stage: dict[str, int] = field(default_factory=dict)
    seconds_by_stage: dict[str, float] = field(default_factory=dict)

    @property
    def images_per_second(self) -> float:
        """Over the whole run."""
        return self.embedded / self.seconds if self.seconds else 0.0


def measure_whole(source: Path, *, options: Sequence[str]) -> Whole:
    """Index a source into a fresh library, watching memory; `options` go to `icons index` as they are.

    Raises:
        BenchError: the run failed; its last words are in the message.
    """
    measured = Whole(str(source))
    stages: list[tuple[str, float]] = []
    words: list[str] = []
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        program = "from indexer.process import end_with_starter as end; end(); from search.cli import main; main()"
        command = [sys.executable, "-c", program, "index", str(source), "--library", folder, "--json", *options]
        started = time.perf_counter()
        stages.append(("Starting", started))
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | named_as_starter(),
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            listener = threading.Thread(target=_listen, args=(process.stderr, stages, words))
            listener.start()
            try:
                while process.poll() is None:
                    _sample(process.pid, stages[-1][0], measured)
                    time.sleep(SAMPLE_SECONDS)
                measured.seconds = time.perf_counter() - started
            finally:
                process.kill()
                listener.join()
            answer = process.stdout.read()
    if process.returncode:
        last_words = "; ".join(word.strip() for word in words[-3:])
        raise BenchError(f'`icons index "{source}"` ended with exit code {process.returncode}: {last_words}')
    counts = json.loads(answer)["counts"]
    measured.found, measured.embedded = counts["found"], counts["embedded"]
    ends = [began for _, began in stages[1:]] + [started + measured.seconds]
    for (stage, began), ended in zip(stages, ends, strict=True):
        measured.seconds_by_stage[stage] = round(measured.seconds_by_stage.get(stage, 0.0) + ended - began, 2)
    return measured


def _listen(stream: IO[str], stages: list[tuple[str, float]], words: list[str]) -> None:
    """Note the stages that a run tells on stderr: lines that begin at the margin."""
    for line in stream:
        words.append(line)
        if not line.startswith(" ") and ":" not in line:
            stages.append((line.strip(), time.perf_counter()))


def _sample(process: int, stage: str, measured: Whole) -> None:
    taken = proportional_bytes(family(process))
    measured.peak_bytes = max(measured.peak_bytes, taken)
    measured.peak_bytes_by_stage[stage] = max(measured.peak_bytes_by_stage.get(stage, 0), taken)
