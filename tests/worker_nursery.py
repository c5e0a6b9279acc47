"""Workers that are killed and started at random: forks of one process that has imported everything, so they start fast.

    python tests/worker_nursery.py s3://bucket/work --at-once 8 --kills 200 --seed 1

Prints, as JSON, how many were started, killed (SIGKILL) and asked to end (SIGTERM), and how those ended that were left.
"""

import argparse
import json
import mmap
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

import open_clip  # noqa: F401 - what workers would import
import torch

from indexer.embedding import progress
from indexer.embedding.embed import work_here
from indexer.embedding.progress import EmbeddingProgress
from indexer.embedding.worker import Ended
from indexer.encoders.devices import Devices
from indexer.errors import EmbedError

ASKED = 143


def live(work: str, *, batch_seconds: float, is_safe: mmap.mmap) -> NoReturn:
    """Be a worker, slowed down so that there is time to die, until nobody dies any more; then end this process."""
    progress.REPORT_SECONDS = 0.0

    done = 0

    def slow_down(_: object, ranks: Sequence[EmbeddingProgress]) -> None:
        nonlocal done
        before, done = done, ranks[0].done
        if done > before and not is_safe[0]:
            time.sleep(batch_seconds)

    def give_up(reason: str) -> None:
        raise AssertionError(reason)

    try:
        work_here(work, Devices("cpu", 1), show=slow_down, give_up=give_up)
        code = 0
    except Ended:
        code = ASKED
    except EmbedError as error:
        code = 0 if "holds no plan" in str(error) else 1
        sys.stderr.write(f"{error}\n")
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)


class Nursery:
    """Keeps so many workers alive."""

    def __init__(self, work: str, batch_seconds: float) -> None:
        self.work, self.batch_seconds = work, batch_seconds
        self.alive: set[int] = set()
        self.counts: Counter[str] = Counter()
        self.is_safe = mmap.mmap(-1, 1)

    def start(self) -> None:
        """Start one."""
        pid = os.fork()
        if not pid:
            live(self.work, batch_seconds=self.batch_seconds, is_safe=self.is_safe)
        self.alive.add(pid)
        self.counts["started"] += 1

    def reap(self) -> None:
        """See who has ended, and how."""
        for pid in list(self.alive):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self.alive.discard(pid)
                self.counts[f"ended {os.waitstatus_to_exitcode(status)}"] += 1

    def end_one(self, chance: random.Random) -> None:
        """Kill one, or ask it to end, which is rarer."""
        pid = chance.choice(sorted(self.alive))
        is_asked = chance.random() < 0.15
        os.kill(pid, signal.SIGTERM if is_asked else signal.SIGKILL)
        self.counts["asked to end" if is_asked else "killed"] += 1


def main() -> None:
    """Keep workers alive until so many were killed, then let those that are left, and one more, finish."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--at-once", type=int, required=True)
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--pause", type=float, default=0.5)
    parser.add_argument("--batch-seconds", type=float, default=0.1)
    told = parser.parse_args()
    torch.set_num_threads(1)
    chance, nursery = random.Random(told.seed), Nursery(told.work, told.batch_seconds)
    while nursery.counts["killed"] < told.kills and not nursery.counts["ended 0"]:
        while len(nursery.alive) < told.at_once:
            nursery.start()
        time.sleep(chance.uniform(0, 2 * told.pause))
        nursery.reap()
        if nursery.alive:
            nursery.end_one(chance)
    nursery.is_safe[0] = 1
    nursery.start()  # perhaps all that are left were asked to end
    while nursery.alive:
        time.sleep(0.1)
        nursery.reap()
    sys.stdout.write(json.dumps(nursery.counts))


if __name__ == "__main__":
    main()
