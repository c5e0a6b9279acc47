"""Whoever starts ranks hears which of them ended first, and why, whatever it died of."""

import os
from pathlib import Path

import pytest

from indexer.embedding.distributed import Ranks
from indexer.encoders.devices import Devices

PROGRAM = """
import os, signal, sys
from indexer.errors import EmbedError
from indexer.embedding.distributed import Rank, run_as_rank

def work(rank: Rank) -> None:
    if rank.index == 1:
        {ending}
    if "{ending}" != "pass":
        signal.pause()

run_as_rank(work)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        ("pass", None),
        ("raise EmbedError('no room on cuda:1')", "rank 1: no room on cuda:1"),
        ("raise ValueError('17')", "rank 1: ValueError: 17"),
        ("os.kill(os.getpid(), 9)", 'rank 1 was killed by SIGKILL, see "{log}"'),
        ("os._exit(7)", 'rank 1 ended with exit code 7, see "{log}"'),
    ],
)
def test_the_first_rank_to_end_is_named_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, cause: str | None
) -> None:
    (tmp_path / "ending_rank.py").write_text(PROGRAM.format(ending=ending))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with Ranks("ending_rank", devices=Devices("cpu", 2), folder=tmp_path) as ranks:
        found = ranks.follow()
        assert found == (cause and cause.format(log=ranks.log))
        assert "Traceback" in ranks.log.read_text() or "ValueError" not in ending
