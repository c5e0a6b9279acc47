"""`icons bench goals`, really run over a few pictures: every goal is told, with how it was reached."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from search.cli import main


@pytest.mark.slow
def test_every_goal_is_told(tiny_model: Path, tmp_path: Path) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu:2", "--images", "32", "--repeats", "1"]
    result = CliRunner().invoke(main, ["bench", "goals", *options, "--out", str(tmp_path / "out"), "--json"])
    told = {goal["name"]: goal for goal in json.loads(result.stdout)}
    assert set(told) == {
        "over the naive script",
        "wall time over the limit",
        "2 processes against one, on the same cores",
        "auto batch against the best",
        "auto workers against the best",
        "auto precision against the best",
    }
    assert all(goal["reached"] > 0 for goal in told.values())
    missed = [goal for goal in told.values() if goal["is_met"] is False]
    assert result.exit_code == (1 if missed else 0)


@pytest.mark.parametrize("vain", [["."], ["--images", "3"], ["--out", "x"], ["--devices", "cpu"]])
def test_what_simulated_devices_have_no_use_for_is_refused(vain: list[str]) -> None:
    result = CliRunner().invoke(main, ["bench", "goals", "--simulated", *vain])
    assert result.exit_code == 2
    assert "has no meaning with --simulated" in result.output
