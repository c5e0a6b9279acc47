"""What does a mapping look like in a terminal? A line an icon, those to look at with what comes next."""

from rich.console import Console
from rich.table import Table

from indexer.reports.tables import plain
from search.mapping.mapped import Mapped, Mapping

_N_OTHERS = 3


def print_mappings(console: Console, mapped: Mapped) -> None:
    """Print source, target and how sure that is; what else may stand for it where it is doubtful."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("icon", overflow="fold")
    table.add_column(f"in {mapped.to}", overflow="fold")
    table.add_column("sure", justify="right", no_wrap=True)
    table.add_column("else", overflow="fold", style="dim")
    for one in mapped.mappings:
        table.add_row(*map(plain, _cells(one)))
    console.print(table)


def _cells(one: Mapping) -> tuple[str, str, str, str]:
    if one.target is None:
        return one.source.key, "-", "chosen", ""
    sure = "chosen" if one.is_chosen else f"{one.probability:.0%}{'?' if one.is_doubtful else ' '}"
    others = ", ".join(candidate.name.name for candidate in one.candidates[1:][:_N_OTHERS])
    remarks = ["by name alone"] if one.image is None and not one.is_chosen else []
    remarks += [others] if one.is_doubtful and others else []
    return one.source.key, one.target.name.name, sure, "; ".join(remarks)
