"""Is what is known of screenshots whole: settings, shards of looks, and the generations that are made of them?"""

from collections.abc import Iterator

import numpy as np
from safetensors import SafetensorError, safe_open

from indexer.doctor.findings import Finding
from indexer.errors import LibraryError, ShardError
from indexer.library.durable import differences
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.merging.vector_index import VectorIndex
from indexer.screens.files import UsageFolder, UsageGeneration, read_places, read_shots
from indexer.screens.looks import LookKey, UsageManifest, look_paths, read_looks

_DAMAGES = (LibraryError, SafetensorError, OSError, KeyError, RuntimeError, ValueError, TypeError)


def check_screenshots(library: Library) -> Iterator[Finding]:
    """Hold what is known of screenshots against receipts and manifests; nothing is found where none were given."""
    folder = UsageFolder(library)
    if not folder.root.is_dir():
        return
    yield from _check_settings(folder)
    yield from _check_looks(folder)
    current, numbers = folder.current(), folder.numbers()
    if current is None and numbers:
        yield Finding("usage", f'"{folder.pointer}" names no generation that is there', path=folder.pointer)
    for number in numbers:
        yield from _check_generation(folder.generation(number))


def _check_settings(folder: UsageFolder) -> Iterator[Finding]:
    try:
        read_shots(folder)
    except LibraryError as error:
        yield Finding("usage", str(error), path=folder.settings)


def _check_looks(folder: UsageFolder) -> Iterator[Finding]:
    for looks in folders_in(folder.looks):
        fingerprint, _, detector = looks.name.partition("+")
        for path in look_paths(looks):
            try:
                read_looks(path, key=LookKey(fingerprint, detector, dim=0))
            except ShardError as error:
                yield Finding("usage", str(error), path=path)


def _check_generation(generation: UsageGeneration) -> Iterator[Finding]:
    """Whether its files are what its manifest says, and say the same of each other."""
    try:
        manifest = UsageManifest.read(generation)
    except LibraryError as error:
        yield Finding("usage", str(error), path=generation.folder)
        return
    damaged = [
        Finding("usage", f'"{path}" {how}', path=generation.folder)
        for path, how in differences(generation.folder, manifest.files, sums=True)
    ]
    yield from damaged
    if damaged:
        return
    try:
        wrong = list(_contradictions(generation, manifest))
    except _DAMAGES as error:
        wrong = [f"can't be read ({error})"]
    for what in wrong:
        yield Finding("usage", f"generation {generation.number} of screenshots {what}", path=generation.folder)


def _contradictions(generation: UsageGeneration, manifest: UsageManifest) -> Iterator[str]:
    counts = manifest.counts
    with safe_open(generation.boxes, framework="numpy") as file:
        digests, shown, crop_starts = (file.get_tensor(name) for name in ("digests", "shown", "crop_starts"))
    placed = read_places(generation)
    screens = {one.screen for one in placed if one.screen is not None}
    n_vectors = VectorIndex.open(generation.drawings, spec=manifest.spec).ids.size if manifest.spec else 0
    claims = {
        "screens": (counts.indexed, len(digests), len(screens)),
        "files": (counts.found, len(placed)),
        "boxes": (counts.icons, len(shown)),
        "drawings": (counts.drawings, len(crop_starts) - 1, n_vectors, int(np.max(shown, initial=-1)) + 1),
        "bytes of crops": (generation.crops.stat().st_size, int(crop_starts[-1])),
    }
    for what, told in claims.items():
        if len(set(told)) > 1:
            yield f"says of its {what}: {', '.join(map(str, told))}"
