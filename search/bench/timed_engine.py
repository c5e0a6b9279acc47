"""Where does the time of a query go? An engine whose parts tell how long each of them took."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from indexer.arrays import Floats
from indexer.encoders.query_encoder import OnnxQueryEncoder, QueryEncoder
from indexer.library.folder import Library
from search.engine import Hit, SearchEngine
from search.generation.opened import Opened

TOKENISE, ENCODE, INDEX, CATALOG, RANK = "tokenise", "encode", "index", "catalog", "rank"
STAGES = (TOKENISE, ENCODE, INDEX, CATALOG, RANK)
WHOLE = "whole query"


class Laps:
    """Seconds that each stage took since the last call of `take`."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Count what is done inside as this stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] += time.perf_counter() - started

    def take(self) -> dict[str, float]:
        """Hand out what was counted, and begin anew."""
        taken = dict(self._seconds)
        self._seconds.clear()
        return taken


class TimedEngine(SearchEngine):
    """A search engine for one thread that says what each query spent where."""

    def __init__(self, library: Library, opened: Opened) -> None:
        self._laps = Laps()
        timed = replace(
            opened,
            snapshot=cast(Any, _Timed(opened.snapshot, self._laps, CATALOG)),
            icons=cast(Any, _Timed(opened.icons, self._laps, INDEX)),
            encoder=cast(Any, _TimedEncoder(opened.encoder, self._laps)),
        )
        super().__init__(library, timed)

    def timed_search(self, query: str, *, k: int) -> tuple[list[Hit], dict[str, float]]:
        """Answer, and tell the seconds of every stage and of the whole query.

        Ranking is what no other stage took: order, grouping, hits, and the calls between the parts.
        """
        self._laps.take()
        started = time.perf_counter()
        hits = self.search(query, k=k)
        whole = time.perf_counter() - started
        laps = self._laps.take()
        seconds = {stage: laps.get(stage, 0.0) for stage in STAGES}
        return hits, {**seconds, RANK: whole - sum(laps.values()), WHOLE: whole}


class _Timed:
    """Stands for a part of the engine; all that its methods and properties take is one stage."""

    def __init__(self, part: Any, laps: Laps, stage: str) -> None:
        self._part = part
        self._laps = laps
        self._stage = stage

    def __getattr__(self, name: str) -> Any:
        with self._laps.of(self._stage):
            method = getattr(self._part, name)
        if not callable(method):
            return method

        def timed(*arguments: Any, **named: Any) -> Any:
            with self._laps.of(self._stage):
                return method(*arguments, **named)

        return timed


class _TimedEncoder:
    """Tells the time for tokens from that for the text tower; an encoder served through torch is all tower."""

    def __init__(self, encoder: QueryEncoder, laps: Laps) -> None:
        self._encoder = encoder
        self._laps = laps

    def has_token(self, word: str) -> bool:
        with self._laps.of(TOKENISE):
            return self._encoder.has_token(word)

    def encode_words(self, words: str) -> Floats:
        if not isinstance(self._encoder, OnnxQueryEncoder):
            with self._laps.of(ENCODE):
                return self._encoder.encode_words(words)
        with self._laps.of(TOKENISE):
            tokens = self._encoder.tokenize(words)
        with self._laps.of(ENCODE):
            return self._encoder.encode_tokens(tokens[None]).reshape(-1)
