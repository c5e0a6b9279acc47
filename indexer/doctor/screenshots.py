"""Whether what is known of screenshots is whole: settings, shards of looks, and generations made of them."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from safetensors import SafetensorError, safe_open

from indexer.doctor.findings import Finding, check_files, refusals
from indexer.errors import LibraryError
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.merging.vector_index import VectorIndex
from indexer.screens.files import UsageFolder, UsageGeneration, read_places, read_shots
from indexer.screens.looks import LookKey, UsageManifest, look_paths, read_looks

_DAMAGES = (LibraryError, SafetensorError, OSError, KeyError, RuntimeError, ValueError, TypeError)


def check_screenshots(library: Library) -> Iterator[Finding]:
    """Hold what is known of screenshots against receipts and manifests; nothing is found where there are none."""
    folder = UsageFolder(library)
    if not folder.root.is_dir():
        return
    yield from refusals("usage", folder.settings, partial(read_shots, folder))
    for looks in folders_in(folder.looks):
        fingerprint, _, detector = looks.name.partition("+")
        for path in look_paths(looks):
            read = partial(read_looks, path, key=LookKey(fingerprint, detector, dim=0))
            yield from refusals("usage", path, read)
    current, numbers = folder.current(), folder.numbers()
    if current is None and numbers:
        yield Finding("usage", f'"{folder.pointer}" names no generation that is there', path=folder.pointer)
    for number in numbers:
        yield from _check_generation(folder.generation(number))


def _check_generation(generation: UsageGeneration) -> Iterator[Finding]:
    """Whether its files are what its manifest says, and say the same of each other."""
    try:
        manifest = UsageManifest.read(generation)
    except LibraryError as error:
        yield Finding("usage", str(error), path=generation.folder)
        return
    if damaged := list(check_files("usage", generation, manifest.files)):
        yield from damaged
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
    for what, counted in claims.items():
        if len(set(counted)) > 1:
            yield f"says of its {what}: {', '.join(map(str, counted))}"
