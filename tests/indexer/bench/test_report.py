"""What a report makes of rows: medians, ratios, laws, one page with charts, and a file that can be read again."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from indexer.bench.report import (
    EACH,
    SAME,
    Report,
    Row,
    fit,
    median,
    number,
    scaling_lines,
    speedup,
    table,
    write,
)
from indexer.errors import BenchError

MACHINE = {
    **{"processor": "P", "cores": 2, "memory_gb": 8.0, "packages": {"torch": "2.11"}, "python": "3.11", "system": "S"},
    **{"load_before": 2.0, "gpus": [{"name": "H"}]},
}


def _report(*rows: Row) -> Report:
    return Report(command="icons lab bench embed", main="images/s", rows=list(rows), machine=MACHINE)


def _row(group: str, name: str, rates: list[float], **setting: int) -> Row:
    return Row(group, name, dict(setting), [{"images/s": rate, "batch": 64} for rate in rates])


def test_a_median_has_the_range_of_three_repeats_as_its_interval() -> None:
    found, many = median([3.0, 1.0, 2.0]), np.random.default_rng(1).normal(100, 5, 200).tolist()
    assert (found.value, found.low, found.high) == (2.0, 1.0, 3.0)
    wide = median(many)
    assert wide.low < float(np.median(many)) == wide.value < wide.high < wide.low + 4


@pytest.mark.parametrize(
    ("value", "spelled"),
    [(64, "64"), (1234.5, "1,234"), (12.345, "12.35"), (0.99951, "0.99951"), (0.0123456, "0.0123"), (0, "0")],
)
def test_a_number_is_spelled_with_what_matters(value: float, spelled: str) -> None:
    assert number(value) == spelled


def test_a_table_holds_every_figure_and_the_ratio_to_the_first_repeat_by_repeat() -> None:
    slow, fast = _row("batch", "batch=32", [100, 200]), _row("batch", "batch=64", [150, 400])
    head, lines = table(_report(slow, fast, Row("batch", "batch=9999", error="no room")), "batch")
    assert head == ["", "images/s", "batch", "against the first", "error"]
    assert [lines[0][0], *lines[1:]] == [
        "batch=32",
        ["batch=64", "275 (150-400)", "64", "1.75 (1.50-2)", ""],
        ["batch=9999", "", "", "", "no room"],
    ]


def test_both_laws_are_fitted_to_what_more_devices_bring() -> None:
    report = _report(
        *(
            _row(f"devices{behind}", f"devices={n}", [100 * speedup(law, 0.9, n)], devices=n)
            for law, behind in (("Amdahl", SAME), ("Gustafson", EACH))
            for n in (1, 2, 4)
        )
    )
    assert [fit.parallel_share.value for fit in report.fits("devices")] == [pytest.approx(0.9), pytest.approx(0.9)]
    lines = list(scaling_lines(report, "devices"))
    assert lines[0] == "devices, same work: 2 are 1.82 times as fast, efficiency 91%"
    assert fit("Gustafson", {1: [100.0]}, beyond=[8]) is None, "one device fits no law"
    assert lines[-2].startswith("devices, Amdahl: serial share 0.100 (0.100-0.100); 8 devices 4.71 times")


@pytest.mark.slow
def test_a_report_is_a_page_with_charts_and_a_file_that_reads_back(tmp_path: Path) -> None:
    report = _report(
        *(_row("batch", f"batch={n}", [n, n + 1], batch=n) for n in (32, 64)),
        *(_row(f"devices{behind}", f"devices={n}", [90.0 * n], devices=n) for behind in (SAME, EACH) for n in (1, 2)),
        *(Row("options", name, {}, [{"images/s": 5.0}]) for name in ("base", "ema=0.9")),
    )
    write(report, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "cut off" in page and "the machine was busy before (load 2.0)" in page and "efficiency 100%" in page
    assert page.count("<svg") == 4
    assert {path.stem for path in (tmp_path / "charts").iterdir()} == {
        *("batch-images-a-s", "devices-same-work-images-a-s"),
        *("devices-as-much-for-each-images-a-s", "options-images-a-s"),
    }
    with Image.open(tmp_path / "charts" / "batch-images-a-s.png") as picture:
        assert len(picture.getcolors(1 << 24) or ()) > 50
    assert Report.read(tmp_path / "report.json", command="icons lab bench embed") == report
    assert json.loads((tmp_path / "report.json").read_text())["laws"]["devices"][0]["law"] == "Amdahl"


def test_a_file_of_another_command_is_refused(tmp_path: Path) -> None:
    _report().save(tmp_path)
    with pytest.raises(BenchError, match=r"is no report.json of `icons lab bench gpu`"):
        Report.read(tmp_path / "report.json", command="icons lab bench gpu")
    with pytest.raises(BenchError, match=r"is no report.json"):
        Report.read(tmp_path / "none.json", command="icons lab bench embed")
