"""What ranks on GPUs are tested by runs on the CPU, too: steps under DDP and FSDP, and a step after a checkpoint."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]


def losses_of_two_ranks(folder: Path, strategy: str) -> list[float]:
    script, paths = TESTS / "gpu" / "training_ranks.py", [*sys.path, str(TESTS), str(Path(__file__).parent)]
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"}
    command = [*launch, str(folder), "cpu", strategy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    losses: list[float] = json.loads((folder / "losses.json").read_text())
    return losses


@pytest.mark.slow
def test_two_ranks_learn_the_same_whole_and_in_shards_and_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    found = {}
    for strategy in ("ddp", "fsdp"):
        (tmp_path / strategy).mkdir()
        found[strategy] = losses_of_two_ranks(tmp_path / strategy, strategy)
    first, _, last, again = found["ddp"]
    assert last < first
    assert again == last
    assert found["fsdp"] == pytest.approx(found["ddp"], abs=0.02)  # in bf16
