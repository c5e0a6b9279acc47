"""What is shown of workers elsewhere: those that work one by one, with rates; the others as what they have done."""

import time
from pathlib import Path

from indexer.embedding.plan_store import ObjectPlanStore
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress
from indexer.embedding.sharing import Watching
from indexer.library.plans import Plan
from indexer.library.stores import open_store


def test_workers_that_have_ended_or_fallen_silent_count_with_what_they_did_and_have_no_rate(tmp_path: Path) -> None:
    options = {"lease_seconds": 0.2}
    assert EmbedOptions(**options).lease_seconds == 0.2
    place = ObjectPlanStore(open_store(str(tmp_path)), Plan("f00d", "{}", 0, 0, 0, "run", options))
    watching = Watching(place)
    assert watching.look() == []
    place.report("a", EmbeddingProgress(0, 1, images=10, seconds=2.0))
    place.report("b", EmbeddingProgress(0, 1, images=30, failed=2, seconds=2.0))
    place.report("c", EmbeddingProgress(0, 1, images=5, names=7, seconds=1.0, finished=True))
    assert [(told.rank, told.done, told.images_per_second) for told in watching.look()] == [
        (0, 10, 5.0),
        (1, 32, 16.0),
        (2, 5, 0.0),
    ]
    time.sleep(0.5)
    place.report("b", EmbeddingProgress(0, 1, images=40, failed=2, seconds=3.0))
    assert [(told.rank, told.done, told.names) for told in watching.look()] == [(0, 42, 0), (1, 15, 7)]
