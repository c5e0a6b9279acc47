"""A wait says how far it is, how fast it goes and how long it will take."""

import pytest

from indexer.reports import terminal
from indexer.reports.terminal import ProgressLine


def test_plain_lines_tell_the_rate_and_the_time_left_once_they_can_be_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0.0)
    with ProgressLine() as progress:
        progress("Asking", 100, 4100)
        now = 140.0
        progress("Asking", 2100, 4100)
        now = 1140.0
        progress("Asking", 2200, 4100)
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "Asking",
        "100 of 4,100",
        "2,100 of 4,100, 50/s, 0:00:40 left",
        "2,200 of 4,100, 2.0/s, 0:15:41 left",
    ]
