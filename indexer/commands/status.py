"""What does a library hold, where from, and what failed? For people and as JSON."""

from collections.abc import Iterator
from typing import Any

from indexer.catalog import questions
from indexer.catalog.database import read_catalog
from indexer.embedding.planning import choice_in_use
from indexer.encoders.checkpoint import find_checkpoint
from indexer.errors import LibraryError, ModelError
from indexer.library.durable import bytes_on_disk
from indexer.library.folder import Library, require
from indexer.library.shards import read_coverage
from indexer.publishing.facets import count_traits
from indexer.publishing.manifest import Manifest


def read_status(library: Library) -> dict[str, Any]:
    """Count icons by state, and say which encoder and generation answer."""
    engine = read_catalog(require(library).catalog)
    choice = choice_in_use(engine)
    try:
        fingerprint = find_checkpoint(choice).fingerprint
    except ModelError:
        fingerprint = "missing"
    with engine.connect() as connection:
        embedded = read_coverage(library.vectors(fingerprint)).images
        counts = questions.account(connection, fingerprint=fingerprint, embedded=embedded)
        last = questions.last_run(connection)
        sources = [dict(row) for row in questions.count_by_source(connection)]
    return {
        "library": str(library.root),
        "found": counts.found,
        "embedded": counts.embedded,
        "duplicate": counts.duplicate,
        "failed": counts.failed,
        "waiting": counts.missing,
        "hidden": counts.hidden,
        "sources": len(sources),
        "sets": sum(source["sets"] for source in sources),
        "model": choice.model,
        "fingerprint": fingerprint,
        "generation": library.current(),
        "generations": library.numbers(),
        **_read_answering(library),
        "last_run": dict(last) if last else None,
        "bytes": bytes_on_disk(library.root),
    }


def _read_answering(library: Library) -> dict[str, Any]:
    """Say what the generation that answers knows of its pictures, or why this program refuses it."""
    current = library.current()
    if current is None:
        return {"refused": None, "looks": None}
    try:
        Manifest.read(library.generation(current))
        return {"refused": None, "looks": count_traits(library.generation(current))}
    except LibraryError as error:
        return {"refused": str(error), "looks": None}


def status_lines(facts: dict[str, Any]) -> list[str]:
    """Lay a status out for people."""
    others = [number for number in facts["generations"] if number != facts["generation"]]
    rows = {
        "library": facts["library"],
        "icons": f"{facts['found']:,}  (sources: {facts['sources']:,}, sets: {facts['sets']:,})",
        "embedded": f"{facts['embedded']:,}",
        "duplicate": f"{facts['duplicate']:,}",
        "failed": f"{facts['failed']:,}" + ("  (`icons failures` lists them)" if facts["failed"] else ""),
        "waiting": f"{facts['waiting']:,}" + ("  (`icons index` embeds them)" if facts["waiting"] else ""),
        "hidden": f"{facts['hidden']:,}",
        "encoder": f"{facts['model']}  {facts['fingerprint']}",
        "generation": _spell_generation(facts["generation"], others),
        **({"refused": facts["refused"]} if facts["refused"] else {}),
        **({"looks": _spell_looks(facts["looks"])} if facts["looks"] else {}),
        "on disk": f"{facts['bytes'] / 1e6:,.1f} MB",
    }
    return [f"{name:<11} {value}" for name, value in rows.items()]


def _spell_generation(current: int | None, others: list[int]) -> str:
    if current is None and others:
        return f"{others[0]}, although CURRENT names none  (`icons doctor --repair` mends that)"
    if current is not None and others and others[0] > current:
        return f"{current}, since `icons rollback`  (kept: {others[0]}; `icons rollback --forward` goes back to it)"
    return f"{current or 'none yet'}" + (f"  (kept: {others[0]})" if others else "")


def _spell_looks(looks: dict[str, int]) -> str:
    unknown = looks["unknown"]
    seen = f"{looks['coloured']:,} coloured, {looks['one_colour']:,} of one colour, {looks['animated']:,} animated"
    return seen + (f", {unknown:,} not known (an older program embedded them)" if unknown else "")


def read_failures(library: Library) -> Iterator[dict[str, str]]:
    """Yield every entry without a vector and its reason."""
    engine = read_catalog(require(library).catalog)
    fingerprint = find_checkpoint(choice_in_use(engine)).fingerprint
    with engine.connect() as connection:
        for row in questions.list_failures(connection, fingerprint):
            file = f"{row.location}/{row.path}".rstrip("/") + (f"#{row.member}" if row.member else "")
            yield {"file": file, "reason": row.reason}


def read_sources(library: Library) -> Iterator[dict[str, Any]]:
    """Yield every remembered source with its counts."""
    engine = read_catalog(require(library).catalog)
    with engine.connect() as connection:
        yield from (dict(row) for row in questions.count_by_source(connection))
