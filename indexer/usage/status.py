"""What is known of screenshots, which of them could not be used, and where do they lie? For people and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from indexer.errors import LibraryError
from indexer.library.durable import bytes_on_disk
from indexer.library.folder import Library, require
from indexer.usage.files import is_below, read_known, read_places
from indexer.usage.folder import UsageFolder, UsageGeneration
from indexer.usage.manifest import UsageManifest, damage_explained
from indexer.usage.shots import read_shots


def usage_status(library: Library) -> dict[str, Any]:
    """Count what was found by what became of it, and list the remembered places.

    Raises:
        LibraryError: no screenshots were given, or the generation that answers can't be read.
    """
    folder, generation = answering(library)
    manifest = UsageManifest.read(generation)
    known = read_known(folder)
    shots = read_shots(folder)
    places = [
        {**asdict(place), "files": sum(is_below(facts.path, place.location) for facts in known)}
        for place in shots.places
    ]
    return {
        "library": str(library.root),
        **asdict(manifest.counts),
        "places": places,
        "crops": manifest.has_crops,
        "fingerprint": manifest.fingerprint,
        "detector": manifest.detector,
        "generation": generation.number,
        "bytes": bytes_on_disk(folder.root),
    }


def usage_failures(library: Library) -> Iterator[dict[str, str]]:
    """Yield every file that could not be used, and why."""
    _, generation = answering(library)
    with damage_explained(generation, UsageManifest.read(generation)):
        for placed in read_places(generation):
            if placed.reason is not None:
                yield {"file": placed.path, "reason": placed.reason}


def answering(library: Library) -> tuple[UsageFolder, UsageGeneration]:
    """Find the generation of screenshots that answers.

    Raises:
        LibraryError: there is none.
    """
    folder = UsageFolder(require(library))
    current = folder.current()
    if current is None:
        raise LibraryError(
            f'"{library.root}" knows no screenshots yet; `icons usage add FOLDER` looks at those of a folder'
        )
    return folder, folder.generation(current)


def usage_status_lines(facts: dict[str, Any]) -> list[str]:
    """Lay a status out for people."""
    failed = f"{facts['failed']:,}" + ("  (`icons usage failures` lists them)" if facts["failed"] else "")
    cut = f"  ({facts['cut']:,} screenshots hold more icons than are kept of one)" if facts["cut"] else ""
    rows = {
        "library": facts["library"],
        "screenshots": f"{facts['found']:,}",
        "indexed": f"{facts['indexed']:,}",
        "duplicate": f"{facts['duplicate']:,}",
        "failed": failed,
        "icons": f"{facts['icons']:,} of {facts['drawings']:,} different drawings{cut}",
        "crops": "kept" if facts["crops"] else "not kept (--no-crops)",
        "seen by": f"encoder {facts['fingerprint']}, detector {facts['detector']}",
        "generation": str(facts["generation"]),
        "on disk": f"{facts['bytes'] / 1e6:,.1f} MB",
    }
    lines = [f"{name:<11} {value}" for name, value in rows.items()]
    for place in facts["places"]:
        without = "".join(f" --exclude {pattern!r}" for pattern in place["exclude"])
        lines.append(f"{place['files']:>9,} files  {place['location']}{without}")
    return lines
