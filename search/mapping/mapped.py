"""What is mapped: plain data that the command, the page, the codemod and the CSV share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple


class Name(NamedTuple):
    """An icon by the key of its set and its name there."""

    set: str
    name: str

    @property
    def key(self) -> str:
        """As people write it: "mdi:home"; the name alone where no set is known."""
        return f"{self.set}:{self.name}" if self.set else self.name


@dataclass(frozen=True, slots=True)
class Candidate:
    """An icon of the target set."""

    name: Name
    id: int
    image: int
    """Id of its picture."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """One icon, and what stands for it in the target set."""

    source: Name
    image: int | None
    """Id of its picture; None where the library has none, and words alone decided."""
    candidates: Sequence[Candidate]
    """The best first, and those that come next."""
    probability: float
    """That the first is right; 1 where a person chose it."""
    is_doubtful: bool
    is_chosen: bool = False
    """Whether a person chose the first."""

    @property
    def target(self) -> Candidate | None:
        """What stands for it; None where a person said that nothing does."""
        return self.candidates[0] if self.candidates else None

    def chosen(self, candidate: Candidate | None) -> "Mapping":
        """The same, with what a person chose."""
        others = [one for one in self.candidates if candidate is None or one.name != candidate.name]
        candidates = [candidate, *others] if candidate else []
        return replace(self, candidates=candidates, probability=1.0, is_doubtful=False, is_chosen=True)


@dataclass(frozen=True, slots=True)
class Mapped:
    """Icons, and what stands for each in one set."""

    to: str
    mappings: Sequence[Mapping]

    @property
    def doubtful(self) -> Sequence[Mapping]:
        """Those to look at."""
        return [one for one in self.mappings if one.is_doubtful]

    @property
    def without_picture(self) -> Sequence[Mapping]:
        """Those that words alone decided."""
        return [one for one in self.mappings if one.image is None and not one.is_chosen]
