"""Runs stages of a library in processes that begin with everything loaded: one line of JSON in, one line out.

Started with the counting layer before all other libraries; each stage runs in a fork, which may end at any operation.
"""

import ctypes
import hashlib
import importlib
import json
import os
import sqlite3
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import psutil
from conftest import Silent
from known_screens import plain_sight

from indexer.catalog.database import open_catalog
from indexer.doctor.examine import examine as examine_library
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.library.plans import BLOCK_SIZE
from indexer.library.shards import read_shard, shard_paths
from indexer.merging.manifest import Manifest
from indexer.pipeline import IndexOptions, index
from indexer.screens.add import AddOptions, add
from indexer.screens.files import UsageFolder

MODES = {"count": 0, "error": 1, "full": 2, "kill": 3}
QUERIES = ("dot a", "dot d", "arrow", "new")
CLOCK = ("started_at", "seconds", "generation", "timings")
"""Columns that differ between equal runs; a crash may cost a number of a generation."""
RANDOM_ID = "'key': 'library'"
"""A setting that differs between equal libraries."""


def run_index(library: Library, *, sources: list[str], model: str, workers: int = 0) -> object:
    how = EmbedOptions(batch_size=32, workers=workers, precision="fp32")
    options = IndexOptions(
        sources=[Path(source) for source in sources], choice=ModelChoice(f"local-dir:{model}"), devices="cpu", embed=how
    )
    return index(library, options, Silent()).generation


def roll_back(library: Library) -> object:
    with library.writing():
        return library.rollback().number


def upgrade(library: Library) -> None:
    with library.writing():
        open_catalog(library.catalog).dispose()


def add_shots(library: Library, *, shots: list[str]) -> object:
    options = AddOptions(shots=[Path(shot) for shot in shots], workers=1)
    return asdict(add(library, options, lambda *_: None, sight=plain_sight(library)).counts)


def tell_uses(library: Library) -> object:
    """All that a generation of screenshots says: files, boxes, vectors, crops."""
    from search.screens.opened import UsageIndex

    index, seen = UsageIndex.open(library.root), []
    with index.explaining():
        for row in range(len(index.shown)):
            drawing = int(index.shown[row])
            crop = hashlib.sha256(index.crop(drawing) or b"").hexdigest()
            seen.append([*index.place(row), index.vectors(np.array([drawing]))[0].round(3).tolist(), crop])
    return sorted(seen)


def answer(library: Library) -> object:
    """Everything that a search finds, and which generation says so; a warning is an error."""
    from search.engine import SearchEngine

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = SearchEngine.open(library.root)
    hits = [[(hit.id, hit.name, hit.score, hit.n_variants) for hit in engine.search(query, k=50)] for query in QUERIES]
    return {"hits": hits, "generation": engine.generation.number}


def ask_everything(library: Library) -> object:
    """All kinds of questions, which read every file of a generation, and what screenshots show; warnings are told."""
    from search.engine import Query, SearchEngine, Window

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        engine = SearchEngine.open(library.root)
        words = engine.ask(Query(words="dot a"), window=Window(k=50, facets=True, min_score=0))
        alike = engine.ask(Query(icon=words.hits[0].id), window=Window(k=50, min_score=0))
        drawn = engine.ask(Query(picture=engine.picture(words.hits[0].id)), window=Window(k=50, min_score=0))
        typed = engine.ask(Query(words="do*", keyword=True), window=Window(k=50, min_score=0))
        answers = [words, alike, drawn, typed, engine.show(words.hits[0].id), engine.facets()]
    return {
        "answers": repr(answers),
        "uses": tell_uses(library) if UsageFolder(library).numbers() else [],
        "generation": engine.generation.number,
        "warnings": [str(w.message) for w in told],
    }


def dump(library: Library) -> object:
    """All that two equal libraries have in common: rows, vectors, indexes."""
    generation = library.generation(library.current())  # type: ignore[arg-type]
    manifest = Manifest.read(generation)
    vectors = {}
    for path in shard_paths(library.vectors(manifest.fingerprint)):
        shard = read_shard(path, fingerprint=manifest.fingerprint)
        for number, vector in zip(shard.ids.tolist(), shard.vectors, strict=True):
            vectors[f"{shard.kind} {number}"] = hashlib.sha256(vector.tobytes()).hexdigest()
    return {
        "catalog": _tables(library.catalog),
        "snapshot": _tables(generation.catalog),
        "vectors": vectors,
        "indexes": {name: facts.sha256 for name, facts in manifest.files.items() if not name.endswith(".sqlite")},
        "counts": str(manifest.counts),
    }


def _tables(path: Path) -> dict[str, list[str]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        rows = {name: map(_spell, connection.execute(f'SELECT * FROM "{name}"')) for (name,) in tables}
        return {name: sorted(row for row in found if RANDOM_ID not in row) for name, found in rows.items()}


def _spell(row: sqlite3.Row) -> str:
    return repr({key: row[key] for key in row.keys() if key not in CLOCK})  # noqa: SIM118


def examine(library: Library) -> object:
    return [finding.message for finding in examine_library(library, sample=0).findings if finding.is_fault]


def make_read_only(folder: Path) -> None:
    """Let this process see a folder as a disk that is read-only; others see it as it is."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_users, bind, remount, read_only = 0x20000, 0x10000000, 0x1000, 0x20, 0x1
    name = str(folder).encode()
    done = (
        libc.unshare(new_mounts if os.geteuid() == 0 else new_mounts | new_users)
        or libc.mount(None, b"/", None, 0x4000 | 0x40000, None)  # private: no one else sees what follows
        or libc.mount(name, name, None, bind, None)
        or libc.mount(None, name, None, bind | remount | read_only, None)
    )
    if done != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def run_command(library: Library, *, arguments: list[str], name: str = "icons") -> object:
    """Run `icons`, or one rank as torchrun starts it, and tell how it ended and what it said."""
    from indexer.embedding.embed import main as rank
    from search.cli import main as icons

    said = {1: library.root.with_name("stdout"), 2: library.root.with_name("stderr")}
    for number, path in said.items():
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    try:
        {"icons": icons, "rank": rank}[name]([*arguments, "--library", str(library.root)])
    except SystemExit as ended:
        sys.stdout.flush()
        return {"code": ended.code, "stdout": said[1].read_text(), "stderr": said[2].read_text()}
    raise AssertionError("a command ends its process")


def disturb_device(*, room: int, after: int) -> None:
    """After some batches of pictures, let the device have room for a few at once; with less than none it hangs."""
    import torch
    from torch.nn.modules.module import register_module_forward_pre_hook

    from indexer.encoders.torch_encoder import ImageTower

    n_batches = 0

    def forward(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        nonlocal n_batches
        if not isinstance(module, ImageTower):
            return
        n_batches += 1
        if n_batches > after and room < 0:
            threading.Event().wait()
        if n_batches > after and len(inputs[0]) > room:
            raise torch.OutOfMemoryError("CUDA out of memory")

    register_module_forward_pre_hook(forward)


STAGES: dict[str, Callable[..., object]] = {
    "command": run_command,
    "index": run_index,
    "rollback": roll_back,
    "upgrade": upgrade,
    "add shots": add_shots,
    "tell uses": tell_uses,
    "answer": answer,
    "ask everything": ask_everything,
    "dump": dump,
    "examine": examine,
}


def _run(asked: dict[str, Any]) -> dict[str, object]:
    """Do what is asked, in the fork; an error of ours is told apart from a defect."""
    layer = ctypes.CDLL(None)
    journal = os.open(asked["journal"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if asked.get("journal") else -1
    library = Library(Path(asked["library"]))
    if "device" in asked:
        disturb_device(**asked["device"])
    BLOCK_SIZE["images"] = asked.get("block", BLOCK_SIZE["images"])
    layer.disk_arm(
        str(library.root).encode(), ctypes.c_long(asked.get("at", 0)), MODES[asked.get("mode", "count")], journal
    )
    told: dict[str, object] = {}
    try:
        if asked.get("read_only"):
            make_read_only(library.root)
        told["result"] = STAGES[asked["stage"]](library, **asked.get("given", {}))
    except IconsError as error:
        told["refusal"] = str(error)
    except Exception:
        told["defect"] = traceback.format_exc()
    return {**told, "count": layer.disk_count()}


def kill(parent: int, whom: str | None) -> None:
    """Kill a stage's process, its render workers, or all of them."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(parent)
        for one in [*process.children() * (whom in ("workers", "all")), *[process] * (whom in ("parent", "all"))]:
            one.kill()


LOADED = (
    "open_clip",
    "torch",
    "alembic.command",
    "indexer.encoders.torch_encoder",
    "indexer.encoders.export",
    "indexer.embedding.embed",
    "search.cli",
)
"""What stages load inside, so that it is there before the first fork."""


def main() -> None:
    for name in (*LOADED, "indexer.merging.merge", "indexer.rendering.pool", "search.engine", "search.screens.opened"):
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        here, there = os.pipe()
        started = time.monotonic()
        if not (child := os.fork()):
            os.close(here)
            with os.fdopen(there, "w") as report:
                report.write(json.dumps(_run(json.loads(line))))
            os._exit(0)
        os.close(there)
        asked = json.loads(line)
        killer = threading.Timer(asked.get("after", 0.0), kill, args=(child, asked.get("whom")))
        killer.start()
        with os.fdopen(here) as report:
            said = report.read()
        killer.cancel()
        killer.join()
        _, status = os.waitpid(child, 0)
        answers.write(
            json.dumps({**json.loads(said or "{}"), **{"status": status, "seconds": time.monotonic() - started}}) + "\n"
        )


if __name__ == "__main__":
    main()
