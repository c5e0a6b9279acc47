"""What `icons doctor` does with a library's folder, and how it says what it found."""

import json
from typing import TYPE_CHECKING

import click

from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.doctor.findings import Report
    from indexer.library.folder import Library


def examine_folder(library: "Library", *, mends: bool, sample: int, as_json: bool) -> None:
    """Examine a library's folder, or repair it, and say what was found.

    Raises:
        click.exceptions.Exit: with 2, it is not sound.
    """
    from indexer.doctor.examine import examine
    from indexer.doctor.repair import repair
    from indexer.reports.bars import Bars

    with Bars() as view:
        act = repair if mends else examine
        report = act(library, sample=sample, stage=view.stage)
    say_report(report, _lines(report, mends=mends), as_json=as_json)


def say_report(report: "Report", lines: list[str], *, as_json: bool) -> None:
    """Print a report, as JSON or as lines.

    Raises:
        click.exceptions.Exit: with 2, faults were found.
    """
    if as_json:
        click.echo(json.dumps(report.to_json()))
    else:
        for line in lines:
            say(line)
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
        what = f"{sample['n_pictures']} pictures and {sample['n_names']} names embedded again"
        lines.append(f"sample    {what}, least cosine {sample['least_cosine']:.4f}")
    lines.append(f"versions  {', '.join(f'{name} {number}' for name, number in facts['versions'].items())}")
    sizes = f"{facts['bytes'] / 1e6:,.1f} MB, {facts['free_bytes'] / 1e9:,.1f} GB free"
    generations = ", ".join(map(str, facts["generations"])) or "none"
    lines.append(f"library   {report.library}: {sizes}; generations {generations}; {facts['shards']} shards")
    n_faults = sum(finding.is_fault for finding in report.findings)
    if not n_faults:
        return [*lines, "the library is sound"]
    advice = "`icons index` does what is left" if mends else "`icons doctor --repair` mends what can be derived"
    return [*lines, f"{n_faults} fault{'s' if n_faults > 1 else ''}; {advice}"]
