"""Examines a library without changing it: checksums, counts, indexes against vectors, leftovers."""

import shutil
import sqlite3
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from indexer.catalog.database import REVISION
from indexer.doctor.findings import Finding, Report
from indexer.doctor.generations import check_generation, check_pointer
from indexer.doctor.sample import compare_sample
from indexer.doctor.screenshots import check_screenshots
from indexer.doctor.stores import (
    check_catalog,
    check_encoders,
    check_failures,
    check_leftovers,
    check_preferences,
    check_room,
    check_shards,
)
from indexer.library.durable import bytes_on_disk
from indexer.library.folder import Library, require
from indexer.library.foreign import folders_in
from indexer.library.shards import shard_paths
from indexer.merging.manifest import SNAPSHOT
from indexer.run import Stage


def examine(library: Library, *, sample: int = 16, stage: Stage = lambda _: None) -> Report:
    """Examine a library; `sample` pictures and as many names are embedded again. `stage` gets the title of each step.

    Raises:
        LibraryError: nothing was ever indexed there.
    """
    report = Report(str(require(library).root), _facts(library))
    found = report.findings
    stage("Looking at the catalog")
    found += [*check_catalog(library), *check_pointer(library), *check_preferences(library)]
    found += [*check_leftovers(library), *check_room(library)]
    stage("Looking at screenshots")
    found += check_screenshots(library)
    current = library.current()
    for number in library.numbers():
        stage(f"Looking at generation {number}")
        found += check_generation(library, library.generation(number), answers=number == current)
    stage("Looking at vectors and encoders")
    found += [
        *check_shards(library, _newest_catalog(library, found)),
        *check_failures(library),
        *check_encoders(library),
    ]
    found[:] = dict.fromkeys(found)  # two generations may blame one shard
    if sample and current is not None and _can_be_sampled(found):
        stage("Embedding a sample again")
        compared, differences = compare_sample(library, library.generation(current), n=sample)
        report.facts["sample"] = asdict(compared)
        found += differences
    return report


def _newest_catalog(library: Library, found: list[Finding]) -> Path:
    """The snapshot of the newest generation that is whole; its checksum vouches for it. Else the catalog."""
    at_fault = {finding.path for finding in found if finding.is_fault}
    whole = (one for one in map(library.generation, library.numbers()) if one.folder not in at_fault)
    return next((one.catalog for one in whole), library.catalog)


def _can_be_sampled(found: list[Finding]) -> bool:
    return not any(finding.is_fault and finding.kind in ("generation", "encoder", "shard") for finding in found)


def _facts(library: Library) -> dict[str, Any]:
    packages = ("icons", "faiss-cpu", "numpy", "onnxruntime", "torch", "open_clip_torch", "pyvips")
    versions = {
        "python": sys.version.split()[0],
        "sqlite": sqlite3.sqlite_version,
        **{package: version(package) for package in packages},
    }
    return {
        "versions": versions,
        "schema": REVISION,
        "format": SNAPSHOT,
        "generation": library.current(),
        "generations": library.numbers(),
        "shards": sum(len(shard_paths(folder)) for folder in folders_in(library.root / "vectors")),
        "bytes": bytes_on_disk(library.root),
        "free_bytes": shutil.disk_usage(library.root).free,
    }
