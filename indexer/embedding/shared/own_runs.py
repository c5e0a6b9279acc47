"""Which runs has a library put into stores? It notes each before anything is there, and forgets it once it is removed.

So nothing of a run stays behind: whatever was going on when this process was killed, the next one finds its name.
"""

import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from indexer.embedding.shared.stored_work import OUTLINES, PARTS, PLAN, StoredWork, find_plan
from indexer.errors import EmbedError
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.foreign import Location, from_json
from indexer.library.plans import Plan
from indexer.stores.places import url_of
from indexer.stores.store import Store

_NOTES = "shared.json"
_Run = Annotated[str, re.compile("[0-9a-f]{12}")]
"""As `planning.prepare` names them."""
_LATE_SECONDS = 600.0
"""After the removal of a run: for so long a worker of it may still say how far it is."""


@dataclass(frozen=True, slots=True)
class _Note:
    store: Location
    """URL or path, spelled in one way."""
    library: Location
    """Where the library lay: a copy of it has not put anything."""
    removed_at: float | None = None
    """When it was removed, or begun, if nobody has seen it yet; None while it is there to be done."""
    is_missed: bool = False
    """Whether it was not there, though nothing had removed it."""


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """Runs of a library in a store. One process at a time, which holds the library's lock."""

    library: Library
    store: Store

    def find(self) -> StoredWork | None:
        """Find the run that is under way; None where the store is free. What is left of earlier ones is removed.

        Raises:
            EmbedError: the store holds the run of another library, or, told once, not the one that it should hold.
        """
        found, noted = find_plan(self.store), self._noted()
        if found is None:
            self._miss(noted)
            self._remove_all_but(None)
            return None
        plan = found[0]
        if plan.run in noted:
            self._refuse_copy(plan.run, noted[plan.run])
        self._remove_all_but(plan.run)
        if plan.run not in noted:
            raise EmbedError(
                f'"{self.store.url}" holds run "{plan.run}" of another library than "{self.library.root}"; give '
                "another --work, or collect it there first"
            )
        return StoredWork(self.store, plan)

    def begin(self, run: str) -> None:
        """Note a run that is to be put."""
        self._note({**self._noted(), run: _Note(self._place, self._root, removed_at=time.time())})

    def publish(self, plan: Plan, content: bytes) -> None:
        """Let workers see a run that was put whole, in place of this library's earlier one, which goes.

        Raises:
            EmbedError: another library was faster.
        """
        found, noted = find_plan(self.store), self._noted()
        if found is None:
            version = self.store.create(PLAN, content)
        else:
            is_own = found[0].run in noted
            version = self.store.replace(PLAN, content, version=found[1]) if is_own else None
        if version is None:
            self._remove(plan.run)
            raise EmbedError(f'another library has put its plan into "{self.store.url}" just now; give another --work')
        self._note({**noted, plan.run: replace(noted[plan.run], removed_at=None)})
        if found is not None:  # perhaps by another spelling of the place
            self._remove(found[0].run)
        self._remove_all_but(plan.run)

    def end(self, run: str) -> None:
        """Remove a run of which everything is collected, or which nobody can do: its workers end."""
        found = find_plan(self.store)
        if found is not None and found[0].run == run:
            self.store.delete(PLAN)
        self._remove(run)

    @property
    def _place(self) -> str:
        return url_of(self.store.url) or str(Path(self.store.url).resolve())

    @property
    def _root(self) -> str:
        return str(self.library.root.resolve())

    def _miss(self, noted: dict[str, _Note]) -> None:
        """Say once that a run is not there: the place may be another one, and the run's shards with it."""
        for run, note in noted.items():
            if note.store == self._place and note.removed_at is None and not note.is_missed:
                self._note({**noted, run: replace(note, is_missed=True)})
                raise EmbedError(
                    f'"{self.store.url}" does not hold run "{run}", which this library has put there; look whether it '
                    "is the same place, mounted and all; the same command goes on without that run"
                )

    def _refuse_copy(self, run: str, note: _Note) -> None:
        """Leave a run alone that a library has put of which this is a copy."""
        if note.library == self._root:
            return
        original = OwnRuns(Library(Path(note.library)), self.store)
        if run in original._noted():
            raise EmbedError(
                f'"{self.store.url}" holds run "{run}" of "{note.library}", of which "{self.library.root}" is a copy; '
                "give another --work, or collect it there first"
            )

    def _noted(self) -> dict[str, _Note]:
        path = self.library.root / "work" / _NOTES
        try:
            return from_json(dict[_Run, _Note], path.read_bytes()) if path.is_file() else {}
        except ValueError as error:
            raise EmbedError(f'"{path}" is damaged ({error}); remove it, and give another --work') from error

    def _note(self, runs: dict[str, _Note]) -> None:
        content = json.dumps({run: asdict(note) for run, note in runs.items()}).encode()
        write_file(self.library.root / "work" / _NOTES, content)

    def _remove_all_but(self, current: str | None) -> None:
        """Remove what is left of other runs, and forget those of which nothing can come any more."""
        noted = self._noted()
        for run, note in noted.items():
            if note.store != self._place or run == current:
                continue
            if note.removed_at is None and current not in noted:  # it is missed
                continue
            is_late = note.removed_at is not None and time.time() - note.removed_at > _LATE_SECONDS
            if is_late and not self.store.list(f"{run}/"):
                self._note({other: kept for other, kept in self._noted().items() if other != run})
            else:
                self._remove(run)

    def _remove(self, run: str) -> None:
        """Remove all of a run."""
        noted = self._noted()
        note = noted.get(run)
        if note is not None and note.removed_at is None:
            self._note({**noted, run: replace(note, removed_at=time.time())})
        self.store.delete(f"{run}/{OUTLINES}")
        for part in PARTS:  # and nothing else, whatever else may be called so
            self.store.clear(f"{run}/{part}")
