"""The command `icons doctor`."""

from typing import TYPE_CHECKING

import click

from indexer.commands.doctor import examine_folder, finding_lines, say_report
from indexer.commands.options import json_option, library_option

if TYPE_CHECKING:
    from indexer.library.folder import Library


@click.command()
@click.argument("address", required=False)
@click.option("--repair", "mends", is_flag=True, help="Make again what can be derived, set aside what can't.")
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=16,
    show_default=True,
    help="Pictures and names that are embedded again and compared, or rows of a server; 0 for none.",
)
@library_option
@json_option
def doctor(library: "Library", address: str | None, mends: bool, sample: int, as_json: bool) -> None:
    """Examine the library: checksums, counts, indexes against catalog and vectors, leftovers, room on the disk.

    Nothing is changed without --repair, which deletes nothing but leftovers: damaged files go to the folder "damaged"
    of the library. With the ADDRESS of a server, what was published there is held against the library. Exit code 0:
    sound, 2: not.

    \b
    Example:
      icons doctor
      icons doctor --repair && icons index
      icons doctor milvus://localhost:19530/icons
    """
    if address is None:
        examine_folder(library, mends=mends, sample=sample, as_json=as_json)
        return
    from indexer.errors import UnsupportedError
    from search.publishing.examine import examine

    if mends:
        raise UnsupportedError(f'"{address}" can\'t be repaired there; `icons publish {address}` sends what is missing')
    report = examine(library, address, sample=sample)
    n_faults = sum(finding.is_fault for finding in report.findings)
    verdict = "what was published is sound" if not n_faults else f"faults: {n_faults}; `icons publish` sends it again"
    facts = ", ".join(f"{name} {value}" for name, value in report.facts.items())
    say_report(report, [*finding_lines(report), f"library   {report.library}: {facts}", verdict], as_json=as_json)
