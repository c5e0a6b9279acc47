"""How does a library have its plan done by workers elsewhere? It puts the plan into a store, with all that it needs."""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import islice
from typing import TypeVar

from indexer.embedding.shared.encoder_files import put_encoder
from indexer.embedding.shared.own_runs import OwnRuns
from indexer.embedding.shared.stored_work import OUTLINES, group_name, spell_outlines
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.library.folder import Library
from indexer.library.plans import Outline, Plan, outline_of, read_blocks
from indexer.stores.opening import open_store
from indexer.stores.store import Below

_AT_ONCE = 8
"""Requests under way: each waits for the network, not for a core."""
Item = TypeVar("Item")
Answer = TypeVar("Answer")


def put_plan(work: str, library: Library, plan: Plan) -> None:
    """Put a library's plan into a store, encoder included.

    Workers see it once all of it is there. An earlier run of the library goes.

    Raises:
        EmbedError: the store holds the run of another library, or gets it meanwhile.
    """
    store, choice = open_store(work), ModelChoice.from_json(plan.model)
    runs = OwnRuns(library, store)
    runs.find()
    put_encoder(store, choice, find_checkpoint(choice))
    runs.begin(plan.run)
    run, outlines = Below(store, f"{plan.run}/"), list[Outline]()

    def spell() -> Iterator[tuple[str, bytes]]:
        for place, block in enumerate(read_blocks(library.work(plan.fingerprint) / "plan.jsonl")):
            outlines.append(outline_of(block))
            yield f"blocks/{group_name(place)}/{block.name}.json", json.dumps(block.items).encode()

    if plan.n_blocks:
        each(spell(), lambda item: run.put(*item))
    run.put(OUTLINES, spell_outlines(outlines))
    runs.publish(plan, json.dumps(asdict(plan)).encode())


def worker_line(work: str) -> str:
    """The line that a worker of a plan is started with, on any machine."""
    return shlex.join(["icons", "embed", "--worker", open_store(work).url])


def each(items: Iterable[Item], do: Callable[[Item], Answer]) -> list[Answer]:
    """Do something with every item, several at once; few are held ready, as items may be large."""
    rest, answers = iter(items), list[Answer]()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as threads:
        while some := list(islice(rest, 8 * _AT_ONCE)):
            answers += threads.map(do, some)
    return answers
