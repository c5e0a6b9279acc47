"""Measures every stage at every size, each in a process of its own, whose memory is watched.

What is measured stays measured: a run that is ended goes on where it stopped.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import rmtree

import psutil

from indexer.bench.synthetic.stages import BUILDING, Place, own_bytes
from indexer.errors import BenchError
from indexer.library.durable import write_file
from indexer.library.elsewhere import LibraryElsewhere
from indexer.library.folder import Library
from indexer.library.foreign import from_json
from indexer.reports.bars import Progress
from search.bench.scale.stages import PUBLISHING, STAGES, address_of

_WATCH_SECONDS = 0.2
_PROGRAM = "from search.bench.scale.run import stage_here; stage_here()"


@dataclass(frozen=True, slots=True)
class Measured:
    """One stage at one size."""

    n: int
    stage: str
    seconds: dict[str, float]
    n_bytes: dict[str, int]
    peak_bytes: int
    """Memory of its own, without the files that are mapped."""
    disk_bytes: int
    """Of the library, after it."""


def measure_scale(
    real: Library, folder: Path, sizes: Sequence[int], *, keep: bool, progress: Progress, server: str = ""
) -> Iterator[Measured]:
    """Yield what every stage takes at every size, smallest first; `folder` keeps the figures, and what is built until
    its size is done. Each is published to a `server`, too, if there is one, and stays there.

    Raises:
        BenchError: a stage failed, and the next run goes on with it; or the folder holds figures of another library.
        LibraryError: the server does not answer.
    """
    _take_folder(folder, real)
    stages = [stage for stage in STAGES if server or stage != PUBLISHING]
    n_done, n_steps = 0, len({*sizes}) * len(stages)
    for n in sorted({*sizes}):
        place = Place(folder / str(n), real, n, server)
        if server:
            _try_server(address_of(place))
        for stage in stages:
            figures = place.folder / f"{stage}.json"
            if not figures.exists():
                if stage not in BUILDING and not place.library.exists():
                    said = f'"{place.folder}" holds figures and no library any more, which "{stage}" needs'
                    raise BenchError(f"{said}; delete it, or give another --out (--keep leaves libraries)")
                progress(f"{n:,} icons: {stage}", n_done, n_steps)
                write_file(figures, json.dumps(asdict(_measure(place, stage))).encode())
            n_done += 1
            yield from_json(Measured, figures.read_bytes())
        if not keep:
            rmtree(place.source, ignore_errors=True)
            rmtree(place.library.root, ignore_errors=True)


def _try_server(address: str) -> None:
    """Ask a server sooner than when all is built."""
    from search.generation.milvus.published import Published

    Published(LibraryElsewhere(address)).current()


def _take_folder(folder: Path, real: Library) -> None:
    """Let a folder hold the figures of one library, as it answers now, and of no other."""
    named, drawn_from = folder / "drawn-from.txt", f"{real.root}, generation {real.current()}"
    if not named.exists():
        write_file(named, drawn_from.encode())
    elif (held := named.read_text()) != drawn_from:
        raise BenchError(f'"{folder}" holds figures that were drawn from {held}; give another --out')


def stage_here() -> None:
    """Run a stage in this process: REAL FOLDER N SERVER STAGE; what it tells goes to stdout, as JSON."""
    real, folder, n, server, stage = sys.argv[1:]
    place = Place(Path(folder), Library(Path(real)), int(n), server)
    print(json.dumps(asdict(STAGES[stage](place))))


def _measure(place: Place, stage: str) -> Measured:
    given = [str(place.real.root), str(place.folder), str(place.n), place.server, stage]
    command = [sys.executable, "-c", _PROGRAM, *given]
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complaints:
        path = os.pathsep.join(filter(None, sys.path))
        process = subprocess.Popen(command, stdout=said, stderr=complaints, env=os.environ | {"PYTHONPATH": path})
        try:
            peak = _watch(process)
        finally:
            process.kill()
        if process.returncode:
            complaints.seek(0)
            last = (complaints.read().strip().splitlines() or [f"exit code {process.returncode}"])[-1]
            raise BenchError(f"{stage} of {place.n:,} icons failed: {last}")
        said.seek(0)
        told = json.loads(said.read().splitlines()[-1])
        return Measured(place.n, stage, **told, peak_bytes=peak, disk_bytes=_size_of(place.library.root))


def _watch(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process; the most memory of its own that it was seen with."""
    peak, watched = 0, psutil.Process(process.pid)
    while process.poll() is None:
        try:
            peak = max(peak, own_bytes(watched))
        except psutil.Error:
            break
        time.sleep(_WATCH_SECONDS)
    process.wait()
    return peak


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
