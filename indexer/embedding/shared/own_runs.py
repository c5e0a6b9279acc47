"""Which runs has a library put into a store? It notes each before anything is there, and forgets it once it is removed.

So nothing of a run stays behind: whatever was going on when this process was killed, the next one finds its name.
"""

import json
from dataclasses import dataclass

from indexer.embedding.shared.stored_work import PLAN, StoredWork, find_plan
from indexer.errors import EmbedError
from indexer.library.durable import write_file
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.stores.store import Store

_NOTES = "shared.json"


@dataclass(frozen=True, slots=True)
class OwnRuns:
    """Runs of a library in a store. One process at a time, which holds the library's lock."""

    library: Library
    store: Store

    def find(self) -> StoredWork | None:
        """Find the run that is under way; None where the store is free. What is left of earlier ones is removed.

        Raises:
            EmbedError: the store holds the run of another library.
        """
        found = find_plan(self.store)
        is_own = found is None or found[0].run in self._noted()
        self._remove_all_but(None if found is None else found[0].run)
        if found is None:
            return None
        if not is_own:
            raise EmbedError(
                f'"{self.store.url}" holds run "{found[0].run}" of another library than "{self.library.root}"; give '
                "another --work, or collect it there first"
            )
        return StoredWork(self.store, found[0])

    def begin(self, run: str) -> None:
        """Note a run that is to be put."""
        self._note({**self._noted(), run: self.store.url})

    def publish(self, plan: Plan, content: bytes) -> None:
        """Let workers see a run that was put whole, in place of this library's earlier one, which goes.

        Raises:
            EmbedError: another library was faster.
        """
        found = find_plan(self.store)
        if found is None:
            version = self.store.create(PLAN, content)
        else:
            is_own = found[0].run in self._noted()
            version = self.store.replace(PLAN, content, version=found[1]) if is_own else None
        if version is None:
            self._remove(plan.run)
            raise EmbedError(f'another library has put its plan into "{self.store.url}" just now; give another --work')
        self._remove_all_but(plan.run)

    def end(self, run: str) -> None:
        """Remove a run of which everything is collected, or which nobody can do: its workers end."""
        found = find_plan(self.store)
        if found is not None and found[0].run == run:
            self.store.delete(PLAN)
        self._remove(run)

    def _noted(self) -> dict[str, str]:
        """Runs, each with the URL of the store that it was put into."""
        path = self.library.root / "work" / _NOTES
        try:
            return dict(json.loads(path.read_bytes())) if path.is_file() else {}
        except (ValueError, TypeError) as error:
            raise EmbedError(f'"{path}" is damaged; remove it, and give another --work') from error

    def _note(self, runs: dict[str, str]) -> None:
        write_file(self.library.root / "work" / _NOTES, json.dumps(runs).encode())

    def _remove_all_but(self, current: str | None) -> None:
        """Remove other runs, and forget those of which nothing was left: a worker may still say how far it is."""
        noted, gone = self._noted(), set[str]()
        for run in [run for run, url in noted.items() if url == self.store.url and run != current]:
            if not self.store.list(f"{run}/"):
                gone.add(run)
            self._remove(run)
        if gone:
            self._note({run: url for run, url in noted.items() if run not in gone})

    def _remove(self, run: str) -> None:
        """Remove all of a run; its claims first, so that nobody begins anything."""
        for part in ("claims/", ""):
            self.store.clear(f"{run}/{part}")
