"""Is it faster than a saved run? Rows of two reports that mean the same, side by side."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from indexer.bench.report.charts import label_in, times, whole
from indexer.bench.report.findings import Findings
from indexer.bench.report.summary import interval
from indexer.reports.measures import Figure

COLUMNS = ("measured", "configuration", "images/s before", "images/s now", "now / before", "")


def compared(before: Findings, now: Findings) -> Iterator[Sequence[str]]:
    """A line for every configuration that both have measured; intervals that overlap are told as no difference."""
    known = {(row.group, row.part, row.knobs): row for row in before.rows if row.runs}
    for row in now.rows:
        old = known.get((row.group, row.part, row.knobs))
        if old is None or not row.runs:
            continue
        label = label_in(row, [other for other in now.rows if other.group == row.group])
        rates = (interval(old.rate, whole), interval(row.rate, whole))
        part = "" if row.part == "all" else f" ({row.part})"
        yield row.group + part, label, *rates, times(row.rate.value / old.rate.value), verdict(old.rate, row.rate)


def verdict(before: Figure, now: Figure) -> str:
    """Tell whether a rate has changed: not where the intervals overlap."""
    is_clear = now.low > before.high or now.high < before.low
    return ("faster" if now.value > before.value else "slower") if is_clear else "within the intervals"


class Described(Protocol):
    """What was measured of any kind, and on what."""

    machine: dict[str, Any]


def differences(
    before: Described,
    now: Described,
    *,
    names: Sequence[str] = ("model", "fingerprint", "kind", "n_images", "n_devices"),
) -> list[str]:
    """Say what else differs between two runs, so that nobody compares two machines unawares."""
    changes = []
    for name in names:
        was, is_now = getattr(before, name), getattr(now, name)
        if was != is_now:
            changes.append(f"{name} was {was}, is {is_now}")
    for name in ("processor", "cores", "python", "system"):
        was, is_now = before.machine.get(name), now.machine.get(name)
        if was != is_now:
            changes.append(f"{name} was {was}, is {is_now}")
    return changes
