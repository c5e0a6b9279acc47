"""Plans that workers of other processes do: a library to be embedded, a store, workers, and what came of it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Silent, give_export, svg

from indexer.embedding.embed import work_here
from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.devices import Devices
from indexer.library.folder import Library
from indexer.library.shards import read_shard, shard_paths
from indexer.pipeline import IndexOptions, embed, scan

CPU = Devices("cpu", 1)


def draw_many(folder: Path, n: int) -> Path:
    """Draw so many pictures, all unlike each other, each with a name of its own."""
    folder.mkdir(parents=True)
    for number in range(n):
        body = f'<circle cx="{4 + number % 8 * 2}" cy="{4 + number // 8 % 8 * 2}" r="{2 + number // 64 % 6}"/>'
        (folder / f"dot-{number:05}.svg").write_text(svg(body + f'<path d="M{number % 23} 1h{1 + number // 384}v1z"/>'))
    return folder


def options_of(source: Path, model: Path, **others: object) -> IndexOptions:
    """How to embed a source with a small encoder."""
    lease = float(others.pop("lease_seconds", 60.0))  # type: ignore[arg-type]
    how = EmbedOptions(workers=0, batch_size=8, precision="fp32", lease_seconds=lease)
    given = {"sources": [source], "choice": ModelChoice(f"local-dir:{model}"), "devices": "cpu", "embed": how, **others}
    return IndexOptions(**given)  # type: ignore[arg-type]


def scanned(root: Path, options: IndexOptions) -> Library:
    """A library that knows its icons and has embedded none."""
    library = Library(root)
    give_export(library, Path(options.choice.model.removeprefix("local-dir:")))
    scan(library, options, Silent())
    return library


def vectors_of(library: Library, fingerprint: str) -> dict[tuple[str, int], np.ndarray]:
    """All vectors by kind and id, each counted once though more than one shard may hold it."""
    found: dict[tuple[str, int], np.ndarray] = {}
    for path in shard_paths(library.vectors(fingerprint)):
        shard = read_shard(path, fingerprint=fingerprint)
        found.update(zip(((shard.kind, number) for number in shard.ids.tolist()), shard.vectors, strict=True))
    return found


def do_here(work: Path) -> None:
    """Be a worker in this thread."""
    work_here(str(work), CPU, show=lambda *_: None, give_up=pytest.fail)


def of_one_process(tmp_path: Path, source: Path, model: Path) -> dict[tuple[str, int], np.ndarray]:
    """All vectors of a source as one process embeds it."""
    options = options_of(source, model)
    library = scanned(tmp_path / "alone", options)
    return vectors_of(library, embed(library, options, Silent()).fingerprint)


def assert_same(found: dict[tuple[str, int], np.ndarray], expected: dict[tuple[str, int], np.ndarray]) -> None:
    """Hold vectors against others, kinds and ids included."""
    assert found.keys() == expected.keys()
    assert max(np.abs(found[key] - vector).max() for key, vector in expected.items()) < 1e-3


def start_worker(work: str, devices: str = "cpu") -> "subprocess.Popen[bytes]":
    """Start a worker as a person does."""
    program = [sys.executable, "-c", "from search.cli import main; main()", "worker", "--devices", devices]
    return subprocess.Popen([*program, work], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
