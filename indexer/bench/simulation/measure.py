"""What does `icons bench embed --simulate` measure? The same work, and as much for each, on 1 to N devices."""

import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from indexer.bench.machine import describe
from indexer.bench.simulation.device import Simulation
from indexer.bench.simulation.drawing import draw_alone
from indexer.bench.simulation.pictures import Pictures
from indexer.bench.simulation.report import AS_MUCH_EACH, SAME, SimulatedFindings
from indexer.bench.simulation.run import simulate
from indexer.bench.trials.apart import call_apart
from indexer.bench.trials.material import distinct_jobs
from indexer.process import cores
from indexer.reports.bars import Bars

SECONDS = 20.0
"""That all devices together take at least for the pictures of a run, where their number is not given."""
_N_DRAWN = 4096


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """What is to be simulated, on which pictures: those of a source, or `n_images` made of the bundled samples."""

    simulation: Simulation
    source: Path | None = None
    n_images: int | None = None
    repeats: int = 3


def bench_simulated(options: SimulationOptions, bars: Bars) -> SimulatedFindings:
    """Measure; all numbers of devices in turn, so often. Ctrl-C ends the measuring; what was measured is returned.

    Raises:
        IconsError: the source is not there, or a rank ended early.
    """
    simulation = options.simulation
    counts = [n for n in (1, 2, 4, 8) if n < len(simulation.rates)] + [len(simulation.rates)]
    with tempfile.TemporaryDirectory(prefix="icons-bench-") as folder:
        bars.stage("Drawing alone")
        jobs = distinct_jobs(options.source or Pictures(_N_DRAWN).write(Path(folder, "drawn")))[:_N_DRAWN]
        alone = [draw_alone(jobs, size=simulation.image_size) for _ in range(options.repeats)]
        per_core = median(drawn.images_per_second for drawn in alone) / cores()
        findings = SimulatedFindings(simulation, options.repeats, per_core, cores(), call_apart(describe, "cpu"))
        whole = options.n_images or round(SECONDS * findings.bound(len(simulation.rates)))
        lanes = [(SAME, n, whole) for n in counts]
        if options.source is None and len(counts) > 1:
            lanes += [(AS_MUCH_EACH, n, max(1, whole * n // counts[-1])) for n in counts]
        with suppress(KeyboardInterrupt):
            _measure(options, findings, lanes, Path(folder), bars)
            findings.is_cut_off = False
    return findings


def _measure(
    options: SimulationOptions,
    findings: SimulatedFindings,
    lanes: list[tuple[str, int, int]],
    folder: Path,
    bars: Bars,
) -> None:
    bars.stage("Measuring simulated devices")
    sources = {n: options.source or Pictures(n).write(folder / str(n)) for n in {n for _, _, n in lanes}}
    for repeat in range(options.repeats):
        for done, (work, n, n_images) in enumerate(lanes if repeat % 2 == 0 else lanes[::-1]):
            bars.advance(repeat * len(lanes) + done, options.repeats * len(lanes), f"{n} devices, {work}")
            some = replace(options.simulation, rates=options.simulation.rates[:n])
            findings.rows.setdefault((work, n), []).append(simulate(sources[n_images], some))
