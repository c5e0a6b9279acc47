"""Is it faster than a saved run? Rows of two reports that mean the same, side by side."""

from collections.abc import Iterator, Sequence

from indexer.bench.charts import label_in, times, whole
from indexer.bench.findings import Findings
from indexer.bench.summary import interval

COLUMNS = ("measured", "configuration", "images/s before", "images/s now", "now / before", "")


def compared(before: Findings, now: Findings) -> Iterator[Sequence[str]]:
    """A line for every configuration that both have measured; intervals that overlap are told as no difference."""
    known = {(row.group, row.part, row.knobs): row for row in before.rows if row.runs}
    for row in now.rows:
        old = known.get((row.group, row.part, row.knobs))
        if old is None or not row.runs:
            continue
        is_clear = row.rate.low > old.rate.high or row.rate.high < old.rate.low
        verdict = ("faster" if row.rate.value > old.rate.value else "slower") if is_clear else "within the intervals"
        label = label_in(row, [other for other in now.rows if other.group == row.group])
        rates = (interval(old.rate, whole), interval(row.rate, whole))
        part = "" if row.part == "all" else f" ({row.part})"
        yield row.group + part, label, *rates, times(row.rate.value / old.rate.value), verdict


def differences(before: Findings, now: Findings) -> list[str]:
    """Say what else differs between two runs, so that nobody compares two machines unawares."""
    told = []
    for name in ("model", "fingerprint", "kind", "n_images", "n_devices"):
        was, is_now = getattr(before, name), getattr(now, name)
        if was != is_now:
            told.append(f"{name} was {was}, is {is_now}")
    for name in ("processor", "cores", "python", "system"):
        was, is_now = before.machine.get(name), now.machine.get(name)
        if was != is_now:
            told.append(f"{name} was {was}, is {is_now}")
    return told
