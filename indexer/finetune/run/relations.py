"""Which captions of a batch are right for which icons? The host lists what is found, the device spells out the pairs.

A caption is right for its own icon, for every icon that bears the same caption, for every icon of the same base name,
and for every icon whose picture is nearly the same. A rank sees to its own rows: its icons with all captions, its
captions with all icons.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from indexer.arrays import Ids
from indexer.finetune.corpus.captions import Captions
from indexer.finetune.corpus.lesson import Lesson
from indexer.finetune.options import Loss
from indexer.finetune.transfer import moved

Sides = tuple[Tensor, Tensor]
"""bool (k, n) each, for k rows of a batch of n: captions right for a row's icon, and icons right for its caption."""


@dataclass(frozen=True, slots=True)
class Borne:
    """Which of `n` icons bear which of m captions, as lists."""

    n: int
    n_distinct: int
    pairs: Tensor
    """int64 (2, any): places of an icon, and of a caption that it bears among the distinct ones."""
    drawn: Tensor
    """int64 (m,): which of the distinct ones each caption is."""

    @classmethod
    def of(cls, captions: Captions, icons: Ids, drawn: Ids) -> "Borne":
        """Look through all captions of some icons for those that were drawn."""
        rows, places, columns = captions.bearers(icons, drawn)
        pairs = torch.stack([torch.from_numpy(rows), torch.from_numpy(places)])
        return cls(len(icons), int(columns.max()) + 1, pairs, torch.from_numpy(columns))

    def on(self, device: torch.device) -> "Borne":
        """The same on a device; the host does not wait for it."""
        return replace(self, pairs=moved(self.pairs, device), drawn=moved(self.drawn, device))

    def spelled(self, device: torch.device) -> Tensor:
        """Spell out which caption (row) is borne by which icon (column), bool (m, n)."""
        table = torch.zeros(self.n_distinct, self.n, dtype=torch.bool, device=device)
        icons, places = moved(self.pairs, device)
        table[places, icons] = True
        return table[moved(self.drawn, device)]


@dataclass(frozen=True, slots=True)
class Relations:
    """What belongs together in a batch of n icons, for some rows of it."""

    rows: slice
    bases: Tensor
    """int64 (n,): numbers of the base names."""
    looks: Tensor | None
    """float16 (n, 256): coarse edges of the pictures; None where none are taken for twins."""
    borne: Sequence[tuple[Borne, Borne]]
    """For each caption that icons have drawn: by the icons of the rows among all, and the rows' own by all icons."""

    def on(self, device: torch.device) -> "Relations":
        """The same on a device; the host does not wait for it."""
        looks = None if self.looks is None else moved(self.looks, device)
        borne = [(by_rows.on(device), of_rows.on(device)) for by_rows, of_rows in self.borne]
        return replace(self, bases=moved(self.bases, device), looks=looks, borne=borne)

    def tensors(self) -> Iterator[Tensor]:
        """All that is listed."""
        yield self.bases
        if self.looks is not None:
            yield self.looks
        for borne in (it for sides in self.borne for it in sides):
            yield from (borne.pairs, borne.drawn)

    def spelled(self, device: torch.device, *, twins: float) -> list[Sides]:
        """Spell out what is right for the rows, for each caption drawn; `twins` is the cosine of pictures alike."""
        alike = self._alike(device, twins=twins)
        return [(alike | by_rows.spelled(device).T, alike | of_rows.spelled(device)) for by_rows, of_rows in self.borne]

    def _alike(self, device: torch.device, *, twins: float) -> Tensor:
        """Which icons (columns) share their name or look with which of the rows, bool (k, n)."""
        bases = moved(self.bases, device)
        alike = bases[self.rows, None] == bases[None]
        if self.looks is not None:
            looks = moved(self.looks, device).float()
            alike |= looks[self.rows] @ looks.T >= twins
        return alike


def list_relations(lesson: Lesson, icons: Ids, drawn: Sequence[Ids], *, loss: Loss, rows: slice) -> Relations:
    """List what belongs together among the icons of a batch and each caption that they have drawn."""
    captions = lesson.captions
    borne = [(Borne.of(captions, icons[rows], it), Borne.of(captions, icons, it[rows])) for it in drawn]
    looks = lesson.looks[torch.from_numpy(icons)] if loss.twin_similarity <= 1 else None
    return Relations(rows, torch.from_numpy(lesson.bases[icons]), looks, borne)
