"""What does work that machines share need of the place where it lies? Whole objects, and writes that one wins."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read, and the version that `Store.replace` takes."""

    content: bytes
    version: str


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing says of an object."""

    version: str
    """As `Store.replace` takes it."""
    written_at: float | None
    """Seconds since 1970 by the store's clock, whole ones in some stores; None where the store does not tell."""
    size: int | None = None
    """In bytes."""


class Store(Protocol):
    """Objects by names such as "claims/a.json"; each is written whole or not at all, whoever else writes beside."""

    @property
    def url(self) -> str:
        """How a person names the place."""

    def get(self, name: str) -> Stored | None:
        """Read an object; None where there is none."""

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the objects whose names begin so, in the order of names."""

    def put(self, name: str, content: bytes) -> None:
        """Write an object, whatever is there."""

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object that is not there yet, and return its version; None where it is: of several, one wins."""

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object that still has a version, and return its new one; None where it has another, or is gone."""

    def delete(self, *names: str) -> None:
        """Remove objects; one that is not there is none the less removed."""

    def clear(self, prefix: str) -> None:
        """Remove what has a name that begins so, to a slash; what is written meanwhile may stay."""


@dataclass(frozen=True, slots=True)
class Below:
    """A part of a store, whose names begin with a prefix that ends in a slash."""

    whole: Store
    prefix: str

    @property
    def url(self) -> str:
        """How a person names the part."""
        return f"{self.whole.url.rstrip('/')}/{self.prefix.rstrip('/')}"

    def get(self, name: str) -> Stored | None:
        """Read an object of the part."""
        return self.whole.get(self.prefix + name)

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name objects of the part."""
        found = self.whole.list(self.prefix + prefix)
        return {name.removeprefix(self.prefix): listed for name, listed in found.items()}

    def put(self, name: str, content: bytes) -> None:
        """Write an object of the part."""
        self.whole.put(self.prefix + name, content)

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object of the part that is not there yet."""
        return self.whole.create(self.prefix + name, content)

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object of the part that still has a version."""
        return self.whole.replace(self.prefix + name, content, version=version)

    def delete(self, *names: str) -> None:
        """Remove objects of the part."""
        self.whole.delete(*(self.prefix + name for name in names))

    def clear(self, prefix: str) -> None:
        """Remove objects of the part."""
        self.whole.clear(self.prefix + prefix)
