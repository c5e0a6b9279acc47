"""The commands `icons status` and `sources`, and how a report of `icons doctor` is printed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.commands.options import library_option, list_option, say_failures, show
from indexer.errors import LibraryError, ModelError
from indexer.languages.letters import AUTO
from indexer.languages.words import counted
from indexer.library.durable import bytes_on_disk
from indexer.library.folder import Library, require

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from indexer.doctor.checks import Report
    from indexer.encoders.checkpoint import ModelChoice


@click.command()
@click.option("--failures", "lists_failures", is_flag=True, help="List every entry that could not be indexed, and why.")
@library_option
@list_option
def status(library: Library, lists_failures: bool, as_json: str | None) -> None:
    """Show what the library holds: icons by state, sources, encoder, generation, size on disk.

    \b
    Examples:
      icons status
      icons status --failures --jsonl | jq -r .reason | sort \\
        | uniq -c
    """
    if lists_failures:
        say_failures(read_failures(library), as_json=as_json)
    else:
        facts = read_status(library)
        show(facts, status_lines(facts), as_json=bool(as_json))


@click.command()
@click.option("--forget", type=click.Path(path_type=Path), metavar="PLACE", help="Drop this source and its icons.")
@click.option(
    "--move",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="OLD NEW",
    help="A source was moved or renamed; its icons keep their ids and vectors.",
)
@library_option
@list_option
def sources(library: Library, forget: Path | None, move: tuple[Path, Path] | None, as_json: str | None) -> None:
    """List the remembered sources, drop one, or say where one lies now.

    PLACE may also be a part of a source: a package of a node_modules folder, or a file or folder inside. Files are not
    touched. What is still there of a part comes back with the next `icons index`.

    \b
    Examples:
      icons sources
      icons sources --forget ~/design/old-icons && icons index
      icons sources --move ~/design/icons ~/work/icons
      icons sources --forget node_modules/@mdi/svg
    """
    from indexer import pipeline

    if forget is not None:
        click.echo(f"{counted(pipeline.forget(library, forget), 'icon')} dropped; `icons index` publishes that")
    elif move is not None:
        click.echo(f"{counted(pipeline.move(library, *move), 'icon')} moved to {move[1]}; `icons index` publishes that")
    else:
        found = list(read_sources(library))
        show(found, map(_source_line, found), as_json=as_json)


def _source_line(source: dict[str, Any]) -> str:
    n_icons, n_sets = counted(source["icons"], "icon"), counted(source["sets"], "set")
    language = f"  --names-language {source['names_language']}" if source["names_language"] != AUTO else ""
    return f"{n_icons:>15}  {n_sets:>9}  {source['kind']:<10} {source['location']}{language}"


@contextmanager
def _questions(library: Library) -> "Iterator[tuple[Connection, ModelChoice]]":
    """The catalog, open for questions, and the encoder in use."""
    from indexer.catalog.database import read_catalog
    from indexer.embedding.planning import choice_in_use

    engine = read_catalog(require(library).catalog)
    with engine.connect() as connection:
        yield connection, choice_in_use(engine)


def read_status(library: Library) -> dict[str, Any]:
    """Count icons by state, and say which encoder and generation answer, and what is known of the pictures."""
    from indexer.catalog import contents
    from indexer.encoders.checkpoint import find_checkpoint
    from indexer.library.shards import read_coverage
    from indexer.merging.browsing import count_traits
    from indexer.merging.manifest import Manifest

    with _questions(library) as (connection, choice):
        try:
            fingerprint = find_checkpoint(choice).fingerprint
        except ModelError:
            fingerprint = "missing"
        embedded = read_coverage(library.vectors(fingerprint)).images
        counts = contents.account(connection, fingerprint=fingerprint, embedded=embedded)
        last = contents.last_run(connection)
        sources = [dict(row) for row in contents.count_by_source(connection)]
    current, refused, looks = library.current(), None, None
    if current is not None:
        try:
            Manifest.read(library.generation(current))
            looks = count_traits(library.generation(current).catalog)
        except LibraryError as error:  # this program can't read it
            refused = str(error)
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
        "generation": current,
        "generations": library.numbers(),
        "refused": refused,
        "looks": looks,
        "last_run": {**last, "timings": json.loads(last["timings"])} if last else None,
        "bytes": bytes_on_disk(library.root),
    }


def status_lines(facts: dict[str, Any]) -> list[str]:
    """Lay a status out for people."""
    others = [number for number in facts["generations"] if number != facts["generation"]]
    rows = {
        "library": facts["library"],
        "icons": f"{facts['found']:,}  (sources: {facts['sources']:,}, sets: {facts['sets']:,})",
        "embedded": f"{facts['embedded']:,}",
        "duplicate": f"{facts['duplicate']:,}",
        "failed": f"{facts['failed']:,}" + ("  (`icons status --failures` lists them)" if facts["failed"] else ""),
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
    unknown = f", {looks['unknown']:,} not known (an older program embedded them)" if looks["unknown"] else ""
    seen = ("coloured", "coloured"), ("one_colour", "of one colour"), ("animated", "animated")
    return ", ".join(f"{looks[name]:,} {said}" for name, said in seen) + unknown


def read_failures(library: Library) -> Iterator[dict[str, str]]:
    """Yield every entry without a vector and its reason."""
    from indexer.catalog import contents
    from indexer.encoders.checkpoint import find_checkpoint

    with _questions(library) as (connection, choice):
        found = contents.list_failures(connection, find_checkpoint(choice).fingerprint)
        yield from ({"file": file, "reason": reason} for file, reason in found)


def read_sources(library: Library) -> Iterator[dict[str, Any]]:
    """Yield every remembered source with its counts."""
    from indexer.catalog import contents

    with _questions(library) as (connection, _):
        yield from (dict(row) for row in contents.count_by_source(connection))


def examine_folder(library: Library, *, mends: bool, sample: int, as_json: bool) -> None:
    """Examine a library's folder, or repair it, and say what was found.

    Raises:
        click.exceptions.Exit: with 2, it is not sound.
    """
    from indexer.reports.terminal import Bars

    with Bars() as view:
        from indexer.doctor.examine import examine, repair

        report = (repair if mends else examine)(library, sample=sample, stage=view.stage)
    say_report(report, _lines(report, mends=mends), as_json=as_json)


def say_report(report: "Report", lines: list[str], *, as_json: bool) -> None:
    """Print a report, as JSON or as lines.

    Raises:
        click.exceptions.Exit: with 2, faults were found.
    """
    show(report.to_json(), lines, as_json=as_json)
    if not report.is_sound:
        raise click.exceptions.Exit(2)


def finding_lines(report: "Report") -> list[str]:
    """What was found, a line each."""
    return [f"{'FAULT' if finding.is_fault else 'note':<9} {finding.message}" for finding in report.findings]


def _lines(report: "Report", *, mends: bool) -> list[str]:
    """Lay a report out for people."""
    lines = [f"repaired  {repair}" for repair in report.repairs]
    lines += finding_lines(report)
    facts = report.facts
    if "sample" in facts and facts["sample"]["least_cosine"] is not None:
        sample = facts["sample"]
        what = f"{counted(sample['n_pictures'], 'picture')} and {counted(sample['n_names'], 'name')} embedded again"
        lines.append(f"sample    {what}, least cosine {sample['least_cosine']:.4f}")
    lines.append(f"versions  {', '.join(f'{name} {number}' for name, number in facts['versions'].items())}")
    sizes = f"{facts['bytes'] / 1e6:,.1f} MB, {facts['free_bytes'] / 1e9:,.1f} GB free"
    generations = ", ".join(map(str, facts["generations"])) or "none"
    lines.append(f"library   {report.library}: {sizes}; generations {generations}; {counted(facts['shards'], 'shard')}")
    n_faults = sum(finding.is_fault for finding in report.findings)
    if not n_faults:
        return [*lines, "the library is sound"]
    advice = "`icons index` does what is left" if mends else "`icons doctor --repair` mends what can be derived"
    return [*lines, f"{counted(n_faults, 'fault')}; {advice}"]
