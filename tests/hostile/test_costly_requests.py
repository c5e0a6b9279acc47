"""Nothing that can be asked takes long, or a thread for longer than its answer is waited for.

Over a large library, with a table of what was dearest:

    ICONS_LARGE_LIBRARY=DIR pytest -m slow -s tests/hostile/test_costly_requests.py
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from costly import SIZES, Prober
from serving import serving

from indexer.library.folder import Library

MOST_SECONDS = 2.0


def _words(library: Library) -> list[str]:
    """What icons bear, the most frequent first."""
    number = library.current()
    assert number is not None
    with closing(
        sqlite3.connect(f"{library.generation(number).catalog.as_uri()}?mode=ro&immutable=1", uri=True)
    ) as own:
        return [term for (term,) in own.execute("SELECT term FROM vocabulary ORDER BY doc DESC, term LIMIT 3000")]


def _n_at_work(client: httpx.Client) -> int:
    lines = client.get("/metrics").text.splitlines()
    return sum(
        round(float(line.split()[1])) for line in lines if line.startswith(("icons_searches_inside ", "icons_draw"))
    )


def _probe(library: Library, *, rounds: int, sizes: Sequence[int] = SIZES) -> None:
    for number in library.numbers():
        for file in library.generation(number).files:
            file.read_bytes()  # what is measured is no disk
    with serving(library) as (client, _):
        client.timeout = httpx.Timeout(60)
        prober = Prober(client)
        for cost in prober.everything(_words(library), rounds=rounds, sizes=sizes):
            assert cost.status in (200, 304, 400, 404, 410, 422), cost
            assert cost.seconds < MOST_SECONDS, cost
        assert _n_at_work(client) == 0
        for cost in sorted(prober.dearest.values(), key=lambda cost: -cost.seconds):
            print(cost)


@pytest.mark.slow
def test_nothing_that_can_be_asked_takes_long(asked: Path) -> None:
    _probe(Library(asked), rounds=1, sizes=(33, 2400))


@pytest.mark.slow
@pytest.mark.skipif("ICONS_LARGE_LIBRARY" not in os.environ, reason="names no large library to ask")
def test_nothing_that_can_be_asked_of_a_large_library_takes_long() -> None:
    _probe(Library(Path(os.environ["ICONS_LARGE_LIBRARY"])), rounds=2)
