"""What the server does: every question it answers, each in a thread behind a bounded queue."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import NamedTuple

from indexer.errors import ExportError, IconsError, LibraryError, UnreachableError
from indexer.rendering.draw_pool import ANY_PICTURE, DrawPool
from search.drawings.export import Exported, Kind, Options, export
from search.drawings.frameworks import Look, framework, named_icon
from search.drawings.kinds import keys_of
from search.drawings.licences import Collection
from search.drawings.write import write
from search.engine import Edition, SearchEngine
from search.query import Hit, Query, Window, pasted_svg, refuse_late, values_of
from search.web.answers import (
    API,
    CodeAnswer,
    Health,
    LocatedAnswer,
    SearchAnswer,
    written,
)
from search.web.connections import BusyError, Gate, Limits, Result, TooSlowError
from search.web.guard import Metrics
from search.web.parameters import HitParameters, LocateParameters, SearchParameters, Uploads
from search.web.svg import Drawings, Layer, Screens, id_of

MOST_PICTURES = 40
"""Of an answer, in one stack: about a screen of them."""
_KEPT = 16
"""Answers; pictures are asked for together with the words."""


class SentAnswer(NamedTuple):
    """An answer as it is sent, and what of it is seen first."""

    content: bytes
    """JSON."""
    layers: tuple[Layer, ...]
    """Pictures of the first hits, one of a name, without bitmaps."""
    edition: Edition
    """Of what answered."""


def first_layers(hits: Sequence[Hit]) -> tuple[Layer, ...]:
    """Pictures of the first hits: of each name the first one, which stands for the others."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.words, hit)
    shown = [hit for hit in first.values() if hit.is_svg]
    return tuple(Layer(hit.image, hit.digest) for hit in shown[:MOST_PICTURES])


def milliseconds(started: float) -> float:
    """Since a time of `time.perf_counter`."""
    return round(1000 * (time.perf_counter() - started), 2)


class AskedLately:
    """Answers by what asks for them. Those that are under way are shared, so that two who ask the same search once."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, asyncio.Future[SentAnswer]] = OrderedDict()

    async def now(self, question: str, ask: Callable[[], Awaitable[SentAnswer]]) -> SentAnswer:
        """Answer a question; one that was answered before is asked again."""
        under_way = self._answers.get(question)
        if under_way is None or under_way.done():
            under_way = self._answers[question] = asyncio.ensure_future(ask())
            self._answers.move_to_end(question)
            if len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return await asyncio.shield(under_way)

    async def lately(self, question: str, ask: Callable[[], Awaitable[SentAnswer]], *, edition: Edition) -> SentAnswer:
        """Take the last answer to a question, of one generation; ask where there is none."""
        known = self._answers.get(question)
        if known is None or (known.done() and (known.exception() or known.result().edition != edition)):
            return await self.now(question, ask)
        return await asyncio.shield(known)


_log = logging.getLogger(__name__)
_POLL_SECONDS = 1.0
"""How often it is looked whether a new generation was published."""
_PROBE_SECONDS = 2.0
"""In which a search has to be answered for the server to be well."""
_EXPORT_SECONDS = 60.0
"""For an export, waiting included: the font of 500 icons takes ten of them."""
_LOCATE_SECONDS = 20.0
"""For the icons of a screen, waiting included: one of 4K takes some of them."""
_FEW_WAITING = 8
"""Of exports, and of screens: each holds much memory."""
_NOT_WHOLE = "the library has gone, is being copied, or is damaged; what is whole again answers within seconds"
_OF_SCREENS = f"nothing fits; POST a picture of a whole screen to {API}/locate, which finds the icons in it"
_DRAWING = 0.5
"""Share of an answer's time that drawing may take; the rest is for waiting, and for a process to start."""


def warm_up(engine: SearchEngine) -> None:
    """Load towers and indexes, and sort the names, before anybody waits for them."""
    for hit in engine.search("arrow", k=1):
        engine.ask(Query(icon=hit.id))
    engine.ask(Query(), window=Window(k=1))


class Service:
    """One server's engine, threads, drawing processes and figures."""

    def __init__(self, engine: SearchEngine, limits: Limits) -> None:
        self.engine = engine
        self.limits = limits
        self.metrics = Metrics()
        self.uploads = Uploads(limits)
        self._searches, self._drawings = (
            Gate(threads=limits.threads, waiting=limits.waiting, seconds=limits.seconds) for _ in range(2)
        )
        self._probes = Gate(threads=1, waiting=0, seconds=_PROBE_SECONDS)
        self._exports, self._screens = (
            Gate(threads=threads, waiting=min(limits.waiting, _FEW_WAITING), seconds=max(limits.seconds, seconds))
            for threads, seconds in ((1, _EXPORT_SECONDS), (-(-limits.threads // 2), _LOCATE_SECONDS))
        )  # the icons of a screen are computed with more than one core
        self._pool = DrawPool(workers=limits.threads, seconds=_DRAWING * limits.seconds)
        self.drawings = Drawings(engine, self._drawings, self._pool)
        self.screens = Screens(engine, self._pool, asking=self._screens, reading=self._drawings)
        self._n_switches = 0
        self._probed: tuple[float, str | None] = (float("-inf"), None)
        """When it was last looked whether a search is answered, and why it is not."""
        self._probing = asyncio.Lock()
        self._kept: dict[str, tuple[Edition, bytes]] = {}
        """What is the same for all who ask one generation."""
        self._lately = AskedLately()
        figures: tuple[tuple[str, str, Callable[[], float]], ...] = (
            ("icons_searches_inside", "Questions at work or waiting.", lambda: len(self._searches.inside)),
            ("icons_drawings_inside", "Pictures being read or drawn, or waiting.", lambda: len(self._drawings.inside)),
            ("icons_generation", "Generation that answers.", lambda: engine.generation.number),
            ("icons_generation_switches", "New generations since the start.", lambda: self._n_switches),
            ("icons_icons", "Icons that can be found.", lambda: engine.manifest.icons.n),
        )
        for figure in figures:
            self.metrics.watch(*figure)

    async def follow(self) -> None:
        """Look again and again whether another generation or library is there, until cancelled."""
        last = ""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                if await asyncio.to_thread(self.engine.refresh, warm_up):
                    self._n_switches += 1
                    last = ""
                    _log.info("generation %d answers", self.engine.generation.number)
            except LibraryError as error:
                if str(error) != last:
                    last = str(error)
                    _log.warning("%s", error)
            except Exception:  # whatever it is, the generation that answers goes on, and the next look may succeed
                _log.exception("looking for a new generation failed")

    async def warm_up(self) -> None:
        """Load what queries read and start the processes that draw, so that the first ones need not wait for them."""
        drawn = [self._drawings.run(lambda: self._pool.png(ANY_PICTURE, size=8)) for _ in range(self.limits.threads)]
        with suppress(IconsError, BusyError, TooSlowError):
            await asyncio.gather(asyncio.to_thread(warm_up, self.engine), *drawn)

    def close(self) -> None:
        """End threads and processes."""
        for part in (self._searches, self._drawings, self._exports, self._screens, self._probes, self._pool):
            part.close()

    async def ask(self, question: Callable[[SearchEngine], Result]) -> Result:
        """Put questions that belong together to one generation, in a thread for searches."""
        return await self._searches.run(lambda: self.engine.together(question))

    async def answer(self, asked: SearchParameters) -> bytes:
        """Answer what is asked, as JSON. Raises what `search` raises."""
        return (await self._lately.now(asked.model_dump_json(), lambda: self._found(asked))).content

    async def layers(self, asked: SearchParameters) -> tuple[Layer, ...]:
        """Pictures that are seen first of what is found. Raises what `search` raises."""
        found = self._lately.lately(asked.model_dump_json(), lambda: self._found(asked), edition=self.engine.edition)
        return (await found).layers

    async def _found(self, asked: SearchParameters) -> SentAnswer:
        return await self.search(asked.query(), asked, like=asked.like)

    async def search(
        self, query: Query, asked: HitParameters, *, like: str | None = None, kind: type[SearchAnswer] = SearchAnswer
    ) -> SentAnswer:
        """Answer a query; `like` spells the icon that it asks with, if any.

        Raises what the engine raises, BusyError and TooSlowError.
        """
        if svg := pasted_svg(query.words):
            query = replace(query, words="", picture=await self.drawings.pixels(svg))

        def ask(engine: SearchEngine) -> SentAnswer:
            started = time.perf_counter()
            like_icon = query if like is None else replace(query, icon=id_of(engine, like))
            answer = engine.ask(like_icon, filters=asked.filters(), window=asked.window())
            beside = {"query": query.words, "generation": engine.generation.number, "ms": milliseconds(started)}
            beside["note"] = None if answer.hits and not answer.is_doubtful else _OF_SCREENS  # where a picture asks
            content = written(kind, values_of(answer) | beside)
            return SentAnswer(content, first_layers(answer.hits), engine.edition)

        return await self.ask(ask)

    async def once(self, name: str, make: Callable[[SearchEngine], bytes]) -> bytes:
        """What is made once for a generation."""
        if name not in self._kept or self._kept[name][0] != self.engine.edition:
            self._kept[name] = await self.ask(lambda engine: (engine.edition, make(engine)))
        return self._kept[name][1]

    async def locate(self, picture: bytes, asked: LocateParameters) -> bytes:
        """Find the icons of a stranger's picture, as JSON; only a drawing process decodes it.

        It is drawn where its icons are found, so that few whole screens are in memory at once.
        """

        def locate() -> bytes:
            started = time.perf_counter()
            shot = self._pool.screenshot(picture, size=self.engine.image_size)
            refuse_late()
            located, number = self.engine.together(
                lambda engine: (
                    engine.locate(
                        shot.pixels,
                        filters=asked.filters(),
                        k=asked.k,
                        as_kind=asked.as_kind,
                        min_score=asked.min_score,
                        icon=shot.icon,
                    ),
                    engine.generation.number,
                )
            )
            beside = {"file": None, "generation": number, "ms": milliseconds(started)}
            return written(LocatedAnswer, values_of(located) | beside)

        return await self._screens.run(locate)

    async def code(self, icons: Sequence[str], name: str, look: Look) -> bytes:
        """Write icons for the framework of a name, as JSON; raises what `drawings.write` raises."""

        chosen = framework(name)

        def write_all(engine: SearchEngine) -> bytes:
            named = []
            for hit in engine.hits([id_of(engine, icon) for icon in icons]):
                refuse_late()
                named.append(named_icon(hit, engine.picture(hit.id) if chosen.needs_svg else None))
            beside = {"format": chosen.name, "language": chosen.language}
            return written(CodeAnswer, values_of(write(named, chosen, look)) | beside)

        return await self._drawings.run(lambda: self.engine.together(write_all))

    async def export(
        self, collection: Collection, kind: Kind, options: Options, *, is_whole: bool
    ) -> tuple[Exported, bytes]:
        """Export icons: what was made, and all of it as one zip. One export is made at a time.

        Raises:
            ExportError: it can't be made, or, where it is to be whole, lacks an icon. Reasons may name files of this
                machine, so that only keys are in the message.
        """

        def make(engine: SearchEngine) -> tuple[Exported, bytes]:
            made = export(engine, collection, kind, options, progress=lambda *_: refuse_late())
            if is_whole and made.left_out:
                raise ExportError(f"can't be exported so: {keys_of(made.left_out)}; skip_unreadable leaves them out")
            return made, made.content

        return await self._exports.run(lambda: self.engine.together(make))

    async def health(self) -> tuple[bool, bytes]:
        """Tell whether a search would be answered; and that, and from which generation, as JSON."""
        manifest, is_full = self.engine.manifest, self._searches.is_full
        reason = "as many ask as may" if is_full else await self._probe()
        status = "busy" if is_full else "failing" if reason else "ok"
        known = {"status": status, "reason": reason, "generation": manifest.number, "model": manifest.fingerprint}
        counts = {"icons": manifest.icons.n, "pictures": manifest.pictures.n}
        return status == "ok", written(Health, {**known, **counts, "version": version("icons")})

    async def _probe(self) -> str | None:
        """Ask a question in a thread that no other has, once a second at most; tell why it is not answered."""
        async with self._probing:
            if time.monotonic() - self._probed[0] >= _POLL_SECONDS:
                reason = None
                try:
                    await self._probes.run(lambda: self.engine.search("arrow", k=1))
                except LibraryError as error:  # `follow` logs it
                    is_away = isinstance(error, UnreachableError)
                    reason = "the server that holds the library does not answer" if is_away else _NOT_WHOLE
                except Exception:  # whatever it is, a search would fail of it, too
                    _log.exception("no search is answered")
                    reason = "no search is answered; the server's log says why"
                self._probed = time.monotonic(), reason
            return self._probed[1]
