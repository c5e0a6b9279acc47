"""Searches over HTTP: by words, like an icon, by a picture; and which pictures of an answer are seen first.

Who asks for the pictures of an answer does not search again, even where both are asked for together.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from search.engine import Edition, SearchEngine
from search.query import Filters, Query, Window, pasted_svg
from search.web.answers import SearchAnswer, search_json, written
from search.web.drawings import Drawings, Layer, id_of
from search.web.gate import Gate
from search.web.parameters import SearchParameters

MOST_PICTURES = 40
"""Of an answer, in one stack: about a screen of them."""
_KEPT = 16
"""Answers; pictures are asked for together with the words."""


class Found(NamedTuple):
    """An answer as it is sent, and what of it is seen first."""

    content: bytes
    """JSON."""
    layers: tuple[Layer, ...]
    """Pictures of the first hits, one of a name, without bitmaps."""
    edition: Edition
    """Of what answered."""


def first_layers(hits: Sequence[Mapping[str, Any]]) -> tuple[Layer, ...]:
    """Pictures of the first hits, given as JSON: of each name the first one, which stands for the others."""
    first: dict[str, Mapping[str, Any]] = {}
    for hit in hits:
        first.setdefault(hit["words"], hit)
    shown = [hit for hit in first.values() if hit["svg_url"]]
    return tuple(Layer(hit["image"], hit["digest"]) for hit in shown[:MOST_PICTURES])


class AskedLately:
    """Answers by what asks for them. Those that are under way are shared, so that two who ask the same search once."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, asyncio.Future[Found]] = OrderedDict()

    async def now(self, question: str, ask: Callable[[], Awaitable[Found]]) -> Found:
        """Answer a question; one that was answered before is asked again."""
        under_way = self._answers.get(question)
        if under_way is None or under_way.done():
            under_way = self._answers[question] = asyncio.ensure_future(ask())
            self._answers.move_to_end(question)
            if len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return await asyncio.shield(under_way)

    async def lately(self, question: str, ask: Callable[[], Awaitable[Found]], *, edition: Edition) -> Found:
        """Take the last answer to a question, of one generation; ask where there is none."""
        known = self._answers.get(question)
        if known is None or (known.done() and (known.exception() or known.result().edition != edition)):
            return await self.now(question, ask)
        return await asyncio.shield(known)


class Searches:
    """Asks the engine, in threads that others use, too."""

    def __init__(self, engine: SearchEngine, gate: Gate, drawings: Drawings) -> None:
        self._engine = engine
        self._gate = gate
        self._drawings = drawings
        self._lately = AskedLately()

    async def answer(self, asked: SearchParameters) -> bytes:
        """Answer what is asked, as JSON. Raises what `ask` raises."""
        return (await self._lately.now(asked.model_dump_json(), lambda: self._found(asked))).content

    async def layers(self, asked: SearchParameters) -> tuple[Layer, ...]:
        """Pictures that are seen first of what is found. Raises what `ask` raises."""
        edition, question = self._engine.edition, asked.model_dump_json()
        return (await self._lately.lately(question, lambda: self._found(asked), edition=edition)).layers

    async def _found(self, asked: SearchParameters) -> Found:
        return await self.ask(asked.query(), asked.filters(), asked.window(), like=asked.like)

    async def ask(self, query: Query, filters: Filters, window: Window, *, like: str | None = None) -> Found:
        """Answer a query; `like` spells the icon that it asks with, if any.

        Raises what the engine raises, BusyError and TooSlowError.
        """
        if svg := pasted_svg(query.words):
            query = replace(query, words="", picture=await self._drawings.pixels(svg))

        def ask(engine: SearchEngine) -> Found:
            started = time.perf_counter()
            asked = query if like is None else replace(query, icon=id_of(engine, like))
            answer = engine.ask(asked, filters=filters, window=window)
            seconds = time.perf_counter() - started
            told = search_json(query.words, answer, generation=engine.generation.number, seconds=seconds)
            return Found(written(SearchAnswer, told), first_layers(told["hits"]), engine.edition)

        return await self._gate.run(lambda: self._engine.together(ask))
