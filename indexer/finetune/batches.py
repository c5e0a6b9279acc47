"""What a step sees: icons in a seeded order, captions as tokens or vectors, and which of them fit.

Everything random follows from seed, step and place in the batch over all ranks: any number of ranks and micro-batches
sees the same icons with the same captions and changes, and a resumed run goes on as if never stopped. Icons and
captions are drawn for the whole batch, what happens to pictures by the rank that reads them.
One thread reads steps, and brings them to a GPU, while those before compute; time waited is counted.
"""

import time
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._pytree import register_dataclass, tree_flatten, tree_unflatten

from indexer.arrays import Ids
from indexer.finetune.augment import Changes, draw_changes
from indexer.finetune.captions import Captions
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import FinetuneOptions, Loss
from indexer.ranks import Rank
from indexer.reports.terminal import span

Sides = tuple[Tensor, Tensor]
"""bool (k, n) each, for k rows of a batch of n: captions right for a row's icon, and icons right for its caption."""


@dataclass(frozen=True, slots=True)
class Relations:
    """What belongs together in a batch of n icons, for some rows of it."""

    rows: slice
    bases: Tensor
    """int64 (n,): numbers of the base names."""
    looks: Tensor | None
    """float16 (n, 256): coarse edges of the pictures; None where none are taken for twins."""
    named: Sequence[Sides]
    """By names and tags alone, for each caption that icons have drawn."""

    def spelled(self, *, twins: float) -> list[Sides]:
        """Spell out what is right for the rows, for each caption drawn; `twins` is the cosine of pictures alike.

        Icons that share their name or look with a row are right too.
        """
        alike = self.bases[self.rows, None] == self.bases[None]
        if self.looks is not None:
            looks = self.looks.float()
            alike |= looks[self.rows] @ looks.T >= twins
        return [(alike | there, alike | back) for there, back in self.named]


def list_relations(lesson: Lesson, icons: Ids, drawn: Sequence[Ids], *, loss: Loss, rows: slice) -> Relations:
    """List what belongs together among the icons of a batch and each caption that they have drawn."""
    captions = lesson.captions
    named = [
        (_has_caption(captions, icons[rows], it).T.contiguous(), _has_caption(captions, icons, it[rows]))
        for it in drawn
    ]
    looks = lesson.looks[torch.from_numpy(icons)] if loss.twin_similarity <= 1 else None
    return Relations(rows, torch.from_numpy(lesson.bases[icons]), looks, named)


def _has_caption(captions: Captions, icons: Ids, drawn: Ids) -> Tensor:
    """Which of m captions (row) is one of which of n icons (column), bool (m, n)."""
    rows, places, columns = captions.matches(icons, drawn)
    table = torch.zeros(int(columns.max()) + 1, len(icons), dtype=torch.bool)
    table[torch.from_numpy(places), torch.from_numpy(rows)] = True
    return table[torch.from_numpy(columns)]


STEPS_AHEAD = 2
"""How many are read, and on a GPU, before they are asked for: one that takes long makes nobody wait."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One step over all ranks: its number, places of icons, captions and words, and what belongs together."""

    step: int

    icons: Ids
    captions: Ids
    seconds: Ids
    """Second captions; none where a step has no such."""
    words: Ids
    parents: Tensor | None
    """The parent's vectors of the words."""
    relations: Relations
    """For the rows that this rank compares."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank reads for one micro-batch."""

    pixels: Tensor
    """uint8 (n + k, size, size, 3): pictures, then their neighbours."""
    changes: Changes
    counts: tuple[int, int, int]
    """How many captions, second captions and words there are, which follow each other."""
    texts: Tensor
    """All of them, as the student takes them."""
    longest: int
    """To how many tokens they may be cut."""


for _kind in (Relations, Draw, Changes, Part):
    register_dataclass(_kind)


def on_device(it: Any, device: torch.device) -> tuple[Any, Tensor]:
    """The same with all tensors in it on a device, and the memory there that they share: they are copied as one.

    The host goes on at once: memory that is not page-locked would be copied twice, and waited for.
    """
    leaves, layout = tree_flatten(it)
    tensors = [leaf.contiguous() for leaf in leaves if isinstance(leaf, Tensor)]
    rows = (tensor.as_strided((tensor.numel(),), (1,)).view(torch.uint8) for tensor in tensors)
    flat = [functional.pad(row, (0, -len(row) % 16)) for row in rows]  # each on a multiple of 16 bytes
    sent = torch.cat(flat).pin_memory().to(device, non_blocking=True)
    parts = zip(tensors, torch.split(sent, [len(part) for part in flat]), strict=True)
    there = iter([part[: here.nbytes].view(here.dtype).view(here.shape) for here, part in parts])
    return tree_unflatten([next(there) if isinstance(leaf, Tensor) else leaf for leaf in leaves], layout), sent


def order_of_pass(rows: Ids, groups: Ids | None, *, batch: int, seed: int, number: int) -> Ids:
    """Cut a pass over `rows` into batches (n_batches, batch), at random; what is left over differs from pass to pass.

    With `groups` (a number for each icon) members of one group go to different batches, as far as there are enough:
    rows are dealt out group by group, one to each batch in turn.
    """
    generator, n_batches = np.random.default_rng((seed, number)), len(rows) // batch
    order = generator.permutation(rows)[: n_batches * batch]
    if groups is None:
        return order.reshape(n_batches, batch)
    _, place = np.unique(groups[order], return_inverse=True)
    dealt = order[np.argsort(generator.permutation(place.max() + 1)[place], kind="stable")].reshape(batch, n_batches).T
    dealt = dealt[generator.permutation(n_batches)]
    return generator.permuted(dealt, axis=1)


def draw_step(lesson: Lesson, icons: Ids, options: FinetuneOptions, *, step: int, rank: Rank) -> Draw:
    """Draw the icons' captions, and what else of a step goes beyond one rank; list what belongs together."""
    loss, generator = options.loss, np.random.default_rng((options.schedule.seed, step))
    captions = lesson.captions.draw(icons, generator)
    seconds = lesson.captions.draw(icons, generator) if loss.caption_pair_weight else icons[:0]
    words, parents = icons[:0], None
    if (kept := lesson.kept_words) is not None:
        words = generator.choice(len(kept.vectors), size=kept.batch, replace=len(kept.vectors) < kept.batch)
        parents = kept.vectors[torch.from_numpy(words)]
    rows = share_of(len(icons), rank.index, rank.world) if loss.local else slice(0, len(icons))
    drawn = [it for it in (captions, seconds) if len(it)]
    relations = list_relations(lesson, icons, drawn, loss=loss, rows=rows)
    return Draw(step, icons, captions, seconds, words, parents, relations)


def read_part(lesson: Lesson, draw: Draw, options: FinetuneOptions, *, part: int, parts: int) -> Part:
    """Read one of `parts` equal parts of a step, and draw what happens to its pictures."""
    rows = share_of(n := len(draw.icons), part, parts)
    changes = draw_changes(
        range(rows.start, rows.stop), n, options.augmentation, seed=(options.schedule.seed, draw.step)
    )
    icons = np.concatenate([draw.icons[rows], draw.icons[changes.neighbours.numpy()]])
    captions, seconds = draw.captions[rows], draw.seconds[rows]
    words = draw.words[share_of(len(draw.words), part, parts)]
    texts = lesson.text_inputs[torch.from_numpy(np.concatenate([captions, seconds]))]
    if lesson.kept_words is not None:
        texts = torch.cat([texts, lesson.kept_words.text_inputs[torch.from_numpy(words)]])
    counts = len(captions), len(seconds), len(words)
    pixels, longest = torch.from_numpy(np.take(lesson.pixels, icons, axis=0)), int((texts != 0).sum(1).max())
    return Part(pixels, changes, counts, texts, longest)


def share_of(n: int, part: int, parts: int) -> slice:
    """Which of `n` rows are the so manieth of `parts` equal parts."""
    return slice(part * n // parts, (part + 1) * n // parts)


@dataclass(slots=True)
class Feed:
    """Draws and reads this rank's parts of each step."""

    lesson: Lesson
    options: FinetuneOptions
    rank: Rank
    waited_seconds: float = 0.0
    _orders: dict[int, Ids] = field(default_factory=dict)

    @property
    def per_pass(self) -> int:
        """Steps in a pass."""
        return len(self.lesson.train_rows) // self.options.loss.batch

    def icons_of(self, step: int) -> Ids:
        """Icons of a step, over all ranks."""
        number, place = divmod(step, self.per_pass)
        if number not in self._orders:
            groups = self.lesson.bases if self.options.loss.sampling == "grouped" else None
            batch, seed = self.options.loss.batch, self.options.schedule.seed
            order = order_of_pass(self.lesson.train_rows, groups, batch=batch, seed=seed, number=number)
            self._orders = {number: order}
        return cast(Ids, self._orders[number][place])

    def read(self, step: int) -> tuple[Draw, list[Part]]:
        """Draw a step and read this rank's micro-batches of it."""
        draw = draw_step(self.lesson, self.icons_of(step), self.options, step=step, rank=self.rank)
        each = self.options.distribution.accumulate
        first, parts = self.rank.index * each, self.rank.world * each
        return draw, [
            read_part(self.lesson, draw, self.options, part=place, parts=parts) for place in range(first, first + each)
        ]

    def ahead(self, start: int, end: int, device: torch.device) -> Generator[tuple[Draw, list[Part]]]:
        """Yield steps `start` to `end` in order, read and brought to a GPU while those before compute."""
        stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]
        pending = deque[Future[Any]]()

        def fetch(step: int) -> Any:
            read = self.read(step)
            if stream is None:
                return read, None, None
            torch.cuda.set_device(device)  # of this thread
            with torch.cuda.stream(stream):  # beside what the device computes
                return *on_device(read, device), stream.record_event()

        with ThreadPoolExecutor(1, thread_name_prefix="feed") as pool:
            pending.extend(pool.submit(fetch, step) for step in range(start, min(start + STEPS_AHEAD, end)))
            for following in range(start + STEPS_AHEAD, end + STEPS_AHEAD):
                began = time.perf_counter()
                with span("waiting for data"):
                    read, sent, event = pending.popleft().result()
                self.waited_seconds += time.perf_counter() - began
                if following < end:
                    pending.append(pool.submit(fetch, following))
                if event is not None:  # what the device computes from now on comes after the copies
                    stream_of_steps = torch.cuda.current_stream(device)
                    stream_of_steps.wait_event(event)
                    sent.record_stream(stream_of_steps)  # its memory is not for the next step before that is done
                yield read
