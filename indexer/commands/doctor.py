"""The command `icons doctor`."""

import json
from typing import TYPE_CHECKING

import click

from indexer.commands.options import json_option, library_option
from indexer.naming.printable import say

if TYPE_CHECKING:
    from indexer.doctor.findings import Report
    from indexer.library.folder import Library


@click.command()
@click.option("--repair", "mends", is_flag=True, help="Make again what can be derived, set aside what can't.")
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=16,
    show_default=True,
    help="Pictures and names that are embedded again and compared; 0 for none.",
)
@library_option
@json_option
def doctor(library: "Library", mends: bool, sample: int, as_json: bool) -> None:
    """Examine the library: checksums, counts, indexes against catalog and vectors, leftovers, room on the disk.

    Nothing is changed without --repair, which deletes nothing but leftovers: damaged files go to the folder "damaged"
    of the library. Exit code 0: sound, 2: not.

    \b
    Example:
      icons doctor
      icons doctor --repair && icons index
    """
    from indexer.doctor.examine import examine
    from indexer.doctor.repair import repair
    from indexer.reports.bars import Bars

    with Bars() as view:
        act = repair if mends else examine
        report = act(library, sample=sample, stage=view.stage)
    if as_json:
        click.echo(json.dumps(report.to_json()))
    else:
        for line in _lines(report, mends=mends):
            say(line)
    if not report.is_sound:
        raise click.exceptions.Exit(2)


def _lines(report: "Report", *, mends: bool) -> list[str]:
    """Lay a report out for people."""
    lines = [f"repaired  {repair}" for repair in report.repairs]
    lines += [f"{'FAULT' if finding.is_fault else 'note':<9} {finding.message}" for finding in report.findings]
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
