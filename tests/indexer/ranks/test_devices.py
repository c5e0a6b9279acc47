"""What a device does can be watched: each rank's rate, waiting, memory and load."""

import re
import time
from pathlib import Path

import torch
from click.testing import CliRunner

from indexer.commands.console import cells
from indexer.library.folder import Library
from indexer.ranks.gauges import Gauge
from indexer.ranks.progress import RankProgress
from search.cli import main


def test_a_gauge_tells_a_busy_process_from_an_idle_one() -> None:
    gauge = Gauge(torch.device("cpu"), cores=1)
    time.sleep(0.3)
    memory, idle = gauge.read()
    started = time.process_time()
    while time.process_time() - started < 0.4:  # however little of a core there is for it
        pass
    _, busy = gauge.read()
    assert memory > 50e6
    assert idle is not None and busy is not None
    assert busy > idle + 0.02


def test_a_rank_is_spelled_with_what_it_waits_for() -> None:
    rank = RankProgress(1, 2, images=100, seconds=2.0, waited_seconds=0.5, device="cuda:1", memory_bytes=3_000_000_000)
    assert cells(rank) == ("1", "cuda:1", "50", "25%", "3.00 GB", "-")


def test_watched_devices_are_told_line_by_line_where_no_terminal_is(
    library: Library, icon_folder: Path, tiny_model: Path
) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu", "--watch-devices"]
    done = CliRunner().invoke(main, ["index", str(icon_folder), "--library", str(library.root), *options])
    assert done.exit_code == 0, done.output
    told = re.findall(r"rank 0, device cpu, images/s [\d,]+, waits \d+%, memory (\S+) GB, busy \d+%", done.stderr)
    assert float(told[-1]) > 0.05
