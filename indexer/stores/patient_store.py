"""A store that fails now and then, asked again: with pauses that grow, for a limited time, and never misled by that.

A write whose answer is lost has been made: asked again, the store says that somebody has written. So an object that is
created or replaced is read where the store refuses it; where it holds what was to be written, it is one's own.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from indexer.errors import StoreError
from indexer.stores.object_store import asked, reason_of
from indexer.stores.store import Listed, Store, Stored

PATIENCE_SECONDS = 60.0
"""After the first failure; then the command ends, and can be run again."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_HOPELESS = (PermissionError, NotADirectoryError, IsADirectoryError)
Answer = TypeVar("Answer")


@dataclass(slots=True)
class PatientStore:
    """Passes all on to a store, again where that fails. What is created or replaced must be unlike others' writes."""

    store: Store
    patience_seconds: float = PATIENCE_SECONDS
    _chance: random.Random = field(default_factory=random.Random)

    @property
    def url(self) -> str:
        """How a person names the store."""
        return self.store.url

    def get(self, name: str) -> Stored | None:
        """Read an object."""
        return self._ask(lambda: self.store.get(name))

    def list(self, prefix: str) -> dict[str, Listed]:
        """Name the objects whose names begin so."""
        return self._ask(lambda: self.store.list(prefix))

    def put(self, name: str, content: bytes) -> None:
        """Write an object."""
        self._ask(lambda: self.store.put(name, content))

    def create(self, name: str, content: bytes) -> str | None:
        """Write an object that is not there yet."""
        return self._ask(lambda: self.store.create(name, content)) or self._own(name, content)

    def replace(self, name: str, content: bytes, *, version: str) -> str | None:
        """Write an object that still has a version."""
        return self._ask(lambda: self.store.replace(name, content, version=version)) or self._own(name, content)

    def delete(self, *names: str) -> None:
        """Remove objects."""
        self._ask(lambda: self.store.delete(*names))

    def clear(self, prefix: str) -> None:
        """Remove what has a name that begins so."""
        self._ask(lambda: self.store.clear(prefix))

    def _own(self, name: str, content: bytes) -> str | None:
        there = self.get(name)
        return there.version if there is not None and there.content == content else None

    def _ask(self, ask: Callable[[], Answer]) -> Answer:
        """Ask until there is an answer.

        Raises:
            StoreError: there is none in time, or none can be expected.
        """
        pause, until = _FIRST_PAUSE, None
        while True:
            try:
                return asked(ask)
            except OSError as error:
                until = until or time.monotonic() + self.patience_seconds
                is_over = isinstance(error, _HOPELESS) or time.monotonic() + pause > until
                if is_over:
                    raise StoreError(
                        f'"{self.url}" can\'t be read or written ({reason_of(error)}); '
                        "what is finished is kept, and the same command goes on from there"
                    ) from error
            time.sleep(pause * self._chance.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE)
