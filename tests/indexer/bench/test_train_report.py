"""Rows whose devices are simulated are never taken for measured ones."""

from pathlib import Path
from typing import Any

import pytest

from indexer.bench.training.findings import TrainFindings
from indexer.bench.training.knobs import TrainKnobs
from indexer.bench.training.report import cells, headline, write_training
from indexer.bench.training.trial import Trained, TrainRow


@pytest.mark.parametrize("in_base", [False, True])
def test_simulated_rows_are_called_so_in_headline_table_and_page(tmp_path: Path, in_base: bool) -> None:
    seconds = 0.5 if in_base else None
    knobs = [TrainKnobs(devices=2, step_seconds=seconds), TrainKnobs(devices=8, step_seconds=0.5)]
    rows = [TrainRow("devices" if in_base else "step_seconds", one, 2) for one in knobs]
    for row in rows:
        row.runs.append(Trained(10, 5.0, 0.0, 1.25))
    facts: dict[str, Any] = {"model": "m", "fingerprint": "f", "kind": "cuda", "n_devices": 2, "repeats": 1}
    findings = TrainFindings(**facts, n_icons=100, steps=10, rows=rows)
    table = list(cells(findings))
    assert [", simulated" in row[1] for row in table] == [in_base, True]
    assert [row[-1] for row in table] == ["" if in_base else "1.2500", ""], "nothing is learnt, so there is no loss"
    first, second, *_ = headline(findings)
    assert ("simulated devices, up to 8" if in_base else "2 GPUs") in first
    assert second.startswith(f"simulated: a step of {2 if in_base else 1} of 2 rows is a delay")
    write_training(findings, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert second in page and ", simulated</" in page


def test_rows_that_are_measured_are_not_called_simulated(tmp_path: Path) -> None:
    row = TrainRow("batch", TrainKnobs(), 2)
    row.runs.append(Trained(10, 5.0, 0.0, 1.25))
    facts: dict[str, Any] = {"model": "m", "fingerprint": "f", "kind": "cpu", "n_devices": 2, "repeats": 1}
    write_training(TrainFindings(**facts, n_icons=100, steps=10, rows=[row]), tmp_path)
    assert "simulated" not in (tmp_path / "report.html").read_text()
