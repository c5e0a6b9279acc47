"""How much goes on side by side in a rank? Batches on its device, and processes that draw for it.

A CPU takes several batches, each with its share of the cores, a GPU one: two batches of one thread each take less
processor time than one batch of two threads, which wait for each other after every layer; docs/log.md has the figures.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from indexer.process import cores_of_rank
from indexer.ranks.devices import Device

Given = TypeVar("Given")
Made = TypeVar("Made")
_MOST_LANES = 4
"""The memory of so many batches at once is asked for, at most."""


def n_lanes(device: Device) -> int:
    """Batches that go through a device side by side."""
    return min(_MOST_LANES, cores_of_rank()) if device.type == "cpu" else 1


def side_by_side(
    make: Callable[[Given], Made], given: Iterable[Given], *, lanes: int, begin: Callable[[int], None]
) -> Iterator[tuple[Given, Made]]:
    """Make something of each that is given, in order, up to `lanes` at a time.

    `begin` is told by each lane's thread its share of the cores. The next is asked for once fewer than `lanes` are
    under way. What `make` raises is raised here, in its turn.
    """
    share = max(1, cores_of_rank() // lanes)
    under_way: deque[tuple[Given, Future[Made]]] = deque()
    with ThreadPoolExecutor(lanes, "lane", initializer=begin, initargs=(share,)) as threads:
        for one in given:
            under_way.append((one, threads.submit(make, one)))
            if len(under_way) == lanes:
                first, made = under_way.popleft()
                yield first, made.result()
        for first, made in under_way:
            yield first, made.result()


def default_workers(n_images: int) -> int:
    """Rendering processes of one rank: its share of the cores, one for a handful of pictures."""
    return 1 if n_images < 500 else cores_of_rank()
