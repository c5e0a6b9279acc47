"""Where does the time of a query go? An engine whose parts tell how long each of them took."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from indexer.arrays import Floats
from indexer.encoders.query_encoder import OnnxQueryEncoder
from indexer.library.folder import Library
from search.engine import Hit, SearchEngine
from search.generation.opened import Opened
from search.generation.remembering import forgetful
from search.generation.sources import Source

TOKENISE, ENCODE, INDEX, CATALOG, RANK = "tokenise", "encode", "index", "catalog", "rank"
STAGES = (TOKENISE, ENCODE, INDEX, CATALOG, RANK)
WHOLE = "whole query"


class TimedEngine(SearchEngine):
    """A search engine for one thread that says what each query spent where."""

    def __init__(self, library: Library, opened: Opened, source: Source | None = None) -> None:
        self._laps: defaultdict[str, float] = defaultdict(float)
        """Seconds that each stage of the query took."""
        timed = replace(
            opened,
            snapshot=cast(Any, _Timed(opened.snapshot, self._laps, CATALOG)),
            icons=cast(Any, _Timed(opened.icons, self._laps, INDEX)),
            encoder=cast(Any, _TimedEncoder(forgetful(opened.encoder), self._laps, TOKENISE)),
        )
        super().__init__(library, timed, source)

    def timed_search(self, query: str, *, k: int) -> tuple[list[Hit], dict[str, float]]:
        """Answer, and tell the seconds of every stage and of the whole query.

        Ranking is what no other stage took: order, grouping, hits, and the calls between the parts.
        """
        self._laps.clear()
        started = time.perf_counter()
        hits = self.search(query, k=k)
        whole = time.perf_counter() - started
        seconds = {stage: self._laps.get(stage, 0.0) for stage in STAGES}
        return hits, {**seconds, RANK: whole - sum(seconds.values()), WHOLE: whole}


@dataclass(frozen=True, slots=True)
class _Timed:
    """Stands for a part of the engine; all that its methods and properties take is one stage."""

    part: Any
    laps: defaultdict[str, float]
    stage: str

    def __len__(self) -> int:
        return len(self.part)

    def __getattr__(self, name: str) -> Any:
        with self.as_stage(self.stage):
            found = getattr(self.part, name)
        return self.as_stage(self.stage)(found) if callable(found) else found

    @contextmanager
    def as_stage(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.laps[stage] += time.perf_counter() - started


class _TimedEncoder(_Timed):
    """Tells the time for tokens from that for the text tower; an encoder served through torch is all tower."""

    def encode_words(self, words: str) -> Floats:
        if not isinstance(self.part, OnnxQueryEncoder):
            with self.as_stage(ENCODE):
                return cast(Floats, self.part.encode_words(words))
        with self.as_stage(TOKENISE):
            tokens = self.part.tokenize(words)
        with self.as_stage(ENCODE):
            return self.part.encode_tokens(tokens[None]).reshape(-1)
