"""Which tools does a coding assistant have? They find icons, tell of them, and write them as code.

An icon is told by its key ("mdi:home"), which the others take.
"""

import base64
import binascii
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from indexer.errors import IconsError, LibraryError
from search.assistant.answers import (
    MOST_FINDINGS,
    MOST_OF_A_RULE,
    answered,
    checked,
    linted,
    listed,
    mapped,
    picked,
    shown,
    written,
)
from search.assistant.arguments import (
    Code,
    Count,
    Format,
    Key,
    Keys,
    Language,
    Licences,
    Names,
    Needs,
    Paths,
    Picture,
    Sets,
    Source,
    Styles,
    Text,
    Without,
    Words,
)
from search.engine import SearchEngine
from search.mapping.map import map_icons as map_to
from search.mapping.map import source_names, source_sets, target_set
from search.picking.code import fill
from search.picking.needs import read_needs
from search.picking.pick import MOST_SHOWN, Choice, Picking
from search.pictures import MAX_BYTES, pixels_of
from search.query import Filters, Query, Window
from search.references.check import CheckOptions, check, check_text
from search.snippets.drawn import AS_IT_IS, Look, NamedIcon, named_icon
from search.snippets.frameworks import Framework, framework
from search.snippets.write import write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)
_DATA = re.compile(r"data:[\w/+.-]*(;base64)?,")


class IconTools:
    """The tools, over the engine of whatever generation is current."""

    def __init__(self, engine: SearchEngine) -> None:
        self._opened = engine

    @property
    def _engine(self) -> SearchEngine:
        """The engine, asked for a generation that was published since the last call."""
        try:
            self._opened.refresh()
        except LibraryError as error:
            _log.warning("%s", error)
        return self._opened

    def search_icons(  # noqa: PLR0913, PLR0917  a tool's arguments stand side by side
        self,
        query: Words,
        k: Count = 10,
        sets: Sets = [],  # noqa: B006
        styles: Styles = [],  # noqa: B006
        licences: Licences = [],  # noqa: B006
        without: Without = [],  # noqa: B006
        language: Language = "",
    ) -> str:
        """Find icons by meaning, looks or name, best first."""
        asked = Query(words=query, without=tuple(without), languages=(language,) if language else ())
        filters = Filters(sets=tuple(sets), styles=tuple(styles), licences=tuple(licences))
        return written(answered(self._engine.ask(asked, filters=filters, window=Window(k=k))))

    def similar_icons(
        self,
        key: Text = "",
        picture: Picture = "",
        query: Words = "",
        k: Count = 10,
        sets: Sets = [],  # noqa: B006
        styles: Styles = [],  # noqa: B006
    ) -> str:
        """Find icons that look like one, or like a picture; query pulls towards a meaning."""
        if bool(key) == bool(picture):
            raise IconsError("say what they are to look like: either key or picture")
        engine = self._engine
        icon = engine.find(key) if key else None
        pixels = _pixels(picture, size=engine.image_size) if picture else None
        asked = Query(words=query, icon=icon, picture=pixels)
        filters = Filters(sets=tuple(sets), styles=tuple(styles))
        return written(answered(engine.ask(asked, filters=filters, window=Window(k=k))))

    def pick_icons(
        self,
        needs: Needs,
        sets: Sets = [],  # noqa: B006
        styles: Styles = [],  # noqa: B006
        format: Format = "",
    ) -> str:
        """Pick an icon for each of many needs, all of one set; with format as code."""
        wanted = framework(format) if format else None
        how = Picking(
            filters=Filters(sets=tuple(sets), styles=tuple(styles)),
            window=Window(k=MOST_SHOWN),
            choice=Choice(first=True),
            served=wanted.sets if wanted else (),
        )
        queries = [Query(words=need) for need in read_needs(needs)]
        return written(
            picked(fill(self._engine, queries, how, framework=wanted, look=AS_IT_IS, progress=lambda *_: None))
        )

    def map_icons(self, names: Names, to: Text, source: Source = "") -> str:
        """Find the icons of a set that stand for those of another."""
        engine = self._engine
        wanted = source_names(engine, names, source_sets(engine, [source] if source else []))
        return written(mapped(map_to(engine, wanted, target_set(engine, to), progress=lambda *_: None)))

    def show_icon(self, key: Key) -> str:
        """Tell tags, categories, licence, file and variants of an icon."""
        engine = self._engine
        return written(shown(engine.show(engine.find(key))))

    def get_code(
        self,
        keys: Keys,
        format: Format = "svg",
        colour: Text = "",
        size: int = 0,
        stroke_width: float = 0,
    ) -> str:
        """Write icons as code, imports first. An unknown format names near ones."""
        engine, wanted = self._engine, framework(format)
        look = Look(colour=colour or None, size=size or None, stroke_width=stroke_width or None)
        return write([_named(engine, key, wanted) for key in keys], wanted, look).code

    def check_icons(self, paths: Paths = [], code: Code = "", name: Text = "App.tsx") -> str:  # noqa: B006
        """Tell which icons that code names do not exist, and the nearest real ones."""
        if bool(paths) == bool(code):
            raise IconsError("say what to check: either paths or code")
        engine = self._engine
        if code:
            return written(checked(check_text(engine, code, name=name)))
        places = [Path(path).expanduser() for path in paths]
        return written(checked(check(engine, places, CheckOptions(), progress=lambda *_: None)))

    def lint_icons(self, paths: Paths = [], sets: Sets = [], rule: Text = "") -> str:  # noqa: B006
        """Tell what is inconsistent or wrong in folders of icons, or sets."""
        if not paths and not sets:
            raise IconsError("say what to look at: paths of folders, or a set")
        from search.linting.lint import Asked, lint

        folders = tuple(Path(path).expanduser() for path in paths)
        asked = Asked(folders=folders, sets=tuple(sets), rules=(rule,) if rule else ())
        report = lint(asked, library=self._engine.library, progress=lambda *_: None)
        return written(linted(report, most=MOST_FINDINGS if rule else MOST_OF_A_RULE))

    def list_sets(self, query: Annotated[Text, Field(description="part of a name")] = "") -> str:
        """List the sets of the library, the largest first."""
        known = self._engine.facets()["set"]
        part = query.casefold()
        return written(listed(one for one in known if part in f"{one.value} {one.title}".casefold()))


def _named(engine: SearchEngine, key: str, wanted: Framework) -> NamedIcon:
    """An icon, with its picture where the framework draws it."""
    icon = engine.find(key)
    return named_icon(engine.show(icon).hit, engine.picture(icon) if wanted.needs_svg else None)


def _pixels(picture: str, *, size: int) -> "NDArray[np.uint8]":
    """A picture that an assistant names, as a query takes it."""
    if found := _DATA.match(picture):
        return pixels_of(_decoded(picture[found.end() :]), name="data: URI", size=size)
    path = Path(picture).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise IconsError(f'picture "{picture[:200]}" can\'t be read: {error}') from error
    if len(content) > MAX_BYTES:
        raise IconsError(f'picture "{path}" has more than {MAX_BYTES >> 20} MB')
    return pixels_of(content, name=path.name, size=size)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise IconsError(f"the data: URI of the picture is not base64 ({error})") from error
