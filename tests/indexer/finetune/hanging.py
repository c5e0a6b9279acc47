"""A rank of a fine-tuning, of which the second one hangs while it reads step 2; run by torchrun from test_watch.py."""

import time
from typing import Any

from indexer.finetune.batches import Feed
from indexer.finetune.rank import main

read = Feed.read


def hang(feed: Feed, step: int) -> Any:
    if feed.rank.index == 1 and step == 1:
        time.sleep(3600)
    return read(feed, step)


if __name__ == "__main__":
    Feed.read = hang  # type: ignore[method-assign]
    main()
