"""How are many screenshots looked at? A thread a core, each with a worker that decodes; shards as they come."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from indexer.library.shards import Failed
from indexer.usage.files import FileFacts
from indexer.usage.looking import Looker
from indexer.usage.looks import Look

MOST_OF_SHARD = 64
"""Screens of one shard."""
MOST_SECONDS = 20.0
"""Whose work is lost at most if the process is killed."""
_AHEAD = 2
"""Files a thread that are given out: the next one is there when it has done one."""

Seen = tuple[FileFacts, Look | Failed]


def look_at_all(
    looker: Looker,
    files: Sequence[FileFacts],
    *,
    threads: int,
    keep: Callable[[Sequence[Seen]], None],
    told: Callable[[int], None],
) -> None:
    """Look at files; `keep` gets what was seen, some at a time, and `told` how many are done.

    What was seen before an error, or before Ctrl-C, is kept.
    """
    seen: list[Seen] = []
    since, n_done = time.monotonic(), 0
    try:
        for one in _looks(looker, files, threads=threads):
            seen.append(one)
            n_done += 1
            told(n_done)
            if len(seen) >= MOST_OF_SHARD or time.monotonic() - since >= MOST_SECONDS:
                done, seen, since = seen, [], time.monotonic()
                keep(done)
    finally:
        if seen:
            keep(seen)


def _looks(looker: Looker, files: Sequence[FileFacts], *, threads: int) -> Iterator[Seen]:
    """Yield what was seen as it comes, never more than a few files ahead of who takes it."""
    left = iter(files)
    under_way: dict[Future[Look | Failed], FileFacts] = {}
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                for facts in left:
                    under_way[pool.submit(looker.look, facts)] = facts
                    if len(under_way) >= _AHEAD * threads:
                        break
                if not under_way:
                    return
                completed = wait(under_way, return_when=FIRST_COMPLETED).done
                for done in sorted(completed, key=lambda future: future.exception() is not None):  # errors last
                    yield under_way.pop(done), done.result()
        finally:
            pool.shutdown(cancel_futures=True)
