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
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.autograd.profiler import record_function

from indexer.arrays import Ids, Pixels
from indexer.finetune.augment import Changes, as_floats, asked_for, augment, draw_changes, moved
from indexer.finetune.captions import Captions
from indexer.finetune.lesson import Lesson
from indexer.finetune.options import FinetuneOptions, Loss
from indexer.ranks import Rank

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

    def spelled(self, device: torch.device, *, twins: float) -> list[Sides]:
        """Spell out what is right for the rows, for each caption drawn; `twins` is the cosine of pictures alike.

        Icons that share their name or look with a row are right too.
        """
        bases = moved(self.bases, device)
        alike = bases[self.rows, None] == bases[None]
        if self.looks is not None:
            looks = moved(self.looks, device).float()
            alike |= looks[self.rows] @ looks.T >= twins
        return [(alike | moved(there, device), alike | moved(back, device)) for there, back in self.named]


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
    seconds: Ids | None
    words: Ids | None
    relations: Relations
    """For the rows that this rank compares."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank reads for one micro-batch; the changes stay on the CPU."""

    pixels: Tensor
    """uint8 (n, size, size, 3)."""
    neighbours: Tensor
    """uint8 (k, size, size, 3), in the order of `changes.asked_for`."""
    changes: Changes
    texts: Tensor
    seconds: Tensor | None
    words: Tensor | None


def on_device(it: Any, device: torch.device, sent: list[Tensor]) -> Any:
    """The same on a device, with all tensors in it but those of changes; the host does not wait. `sent` lists them."""
    if isinstance(it, Tensor):
        sent.append(moved(it, device))
        return sent[-1]
    if isinstance(it, list | tuple):
        return type(it)(on_device(one, device, sent) for one in it)
    if isinstance(it, Draw | Part | Relations):
        return replace(it, **{of.name: on_device(getattr(it, of.name), device, sent) for of in fields(it)})
    return it


def order_of_pass(rows: Ids, groups: Ids | None, *, batch: int, seed: int, number: int) -> Ids:
    """Cut a pass over `rows` into batches (n_batches, batch), at random; what is left over differs from pass to pass.

    With `groups` (a number for each icon) members of one group go to different batches, as far as there are enough:
    rows are dealt out group by group, one to each batch in turn.
    """
    generator = np.random.default_rng((seed, number))
    n_batches = len(rows) // batch
    order = generator.permutation(rows)[: n_batches * batch]
    if groups is None:
        return order.reshape(n_batches, batch)
    _, place = np.unique(groups[order], return_inverse=True)
    dealt = order[np.argsort(generator.permutation(place.max() + 1)[place], kind="stable")].reshape(batch, n_batches).T
    dealt = dealt[generator.permutation(n_batches)]
    return generator.permuted(dealt, axis=1)


def draw_step(lesson: Lesson, icons: Ids, options: FinetuneOptions, *, step: int, rank: Rank) -> Draw:
    """Draw the icons' captions, and what else of a step goes beyond one rank; list what belongs together."""
    loss = options.loss
    generator = np.random.default_rng((options.schedule.seed, step))
    captions = lesson.captions.draw(icons, generator)
    seconds = lesson.captions.draw(icons, generator) if loss.caption_pair_weight else None
    words = None
    if (kept := lesson.kept_words) is not None:
        words = generator.choice(len(kept.vectors), size=kept.batch, replace=len(kept.vectors) < kept.batch)
    rows = share_of(len(icons), rank.index, rank.world) if loss.local else slice(0, len(icons))
    drawn = [captions] if seconds is None else [captions, seconds]
    return Draw(step, icons, captions, seconds, words, list_relations(lesson, icons, drawn, loss=loss, rows=rows))


def read_part(lesson: Lesson, draw: Draw, options: FinetuneOptions, *, part: int, parts: int) -> Part:
    """Read one of `parts` equal parts of a step, and draw what happens to its pictures."""
    n = len(draw.icons)
    rows = share_of(n, part, parts)
    changes = draw_changes(
        range(rows.start, rows.stop), n, options.augmentation, seed=(options.schedule.seed, draw.step)
    )
    places, _ = asked_for(changes)
    kept, texts = lesson.kept_words, lesson.text_inputs
    words = None if draw.words is None else torch.from_numpy(draw.words[share_of(len(draw.words), part, parts)])
    return Part(
        pixels=_read(lesson.pixels, draw.icons[rows]),
        neighbours=_read(lesson.pixels, draw.icons[places.numpy()]),
        changes=changes,
        texts=texts[torch.from_numpy(draw.captions[rows])],
        seconds=None if draw.seconds is None else texts[torch.from_numpy(draw.seconds[rows])],
        words=None if kept is None or words is None else kept.text_inputs[words],
    )


def pictures_of(part: Part, device: torch.device) -> Tensor:
    """Changed pictures 0..1 (n, 3, size, size) on the device; pixels travel there as bytes."""
    images, neighbours = (as_floats(moved(pixels, device)) for pixels in (part.pixels, part.neighbours))
    return augment(images, part.changes, neighbours)


def share_of(n: int, part: int, parts: int) -> slice:
    """Which of `n` rows are the so manieth of `parts` equal parts."""
    return slice(part * n // parts, (part + 1) * n // parts)


def _read(pixels: Pixels, icons: Ids) -> Tensor:
    """Read pictures in the order asked for; from the file they are taken in its own order."""
    order = np.argsort(icons)
    found = np.empty((len(icons), *pixels.shape[1:]), np.uint8)
    found[order] = pixels[icons[order]]
    return torch.from_numpy(found)


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
            read, sent = self.read(step), list[Tensor]()
            if stream is None:
                return *read, sent, None
            torch.cuda.set_device(device)  # of this thread
            with torch.cuda.stream(stream):  # beside what the device computes
                return *on_device(read, device, sent), sent, stream.record_event()

        with ThreadPoolExecutor(1, thread_name_prefix="feed") as pool:
            pending.extend(pool.submit(fetch, step) for step in range(start, min(start + STEPS_AHEAD, end)))
            for following in range(start + STEPS_AHEAD, end + STEPS_AHEAD):
                began = time.perf_counter()
                with record_function("icons: wait"):
                    draw, parts, sent, event = pending.popleft().result()
                self.waited_seconds += time.perf_counter() - began
                if following < end:
                    pending.append(pool.submit(fetch, following))
                if event is not None:  # what the device computes from now on comes after the copies
                    stream_of_steps = torch.cuda.current_stream(device)
                    stream_of_steps.wait_event(event)
                    for tensor in sent:
                        tensor.record_stream(stream_of_steps)  # its memory is not for the next step before that is done
                yield draw, parts
