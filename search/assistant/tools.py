"""Which tools does a coding assistant have? They find icons, tell of them, and write them as code.

An icon is told by its key ("mdi:home"), which the others take.
"""

import logging
from pathlib import Path
from typing import Annotated

from pydantic import Field

from indexer.errors import IconsError, LibraryError
from search.assistant.answers import (
    MOST_FINDINGS,
    MOST_OF_A_RULE,
    answered,
    checked,
    linted,
    listed,
    located,
    mapped,
    picked,
    shown,
    sure_names,
    written,
)
from search.assistant.arguments import (
    Code,
    Count,
    Format,
    Keys,
    Language,
    Licences,
    Names,
    Needs,
    Paths,
    Picture,
    SamePicture,
    Sets,
    Source,
    Styles,
    Text,
    Without,
    Words,
)
from search.assistant.pictures import shown_icon, shown_screen
from search.engine import SearchEngine
from search.mapping.map import map_icons as map_to
from search.mapping.map import source_names, source_sets, target_set
from search.picking.code import fill, write_picks
from search.picking.needs import read_needs
from search.picking.pick import MOST_SHOWN, Choice, Picking, served_sets
from search.query import Filters, Query, Window
from search.references.check import CheckOptions, check, check_text
from search.snippets.drawn import AS_IT_IS, Look, NamedIcon, named_icon
from search.snippets.frameworks import Framework, framework
from search.snippets.write import write

_log = logging.getLogger(__name__)


class IconTools:
    """The tools, over the engine of whatever generation is current."""

    def __init__(self, engine: SearchEngine) -> None:
        self._opened = engine

    @property
    def _engine(self) -> SearchEngine:
        """The engine of one call, with what was published since the last one."""
        try:
            self._opened.refresh()
        except LibraryError as error:
            _log.warning("%s", error)
        return self._opened.together(lambda engine: engine)

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
        """Find icons by meaning, looks or name, best first. Styles: outline, filled."""
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
        """Find icons that look like one or a picture; query pulls towards a meaning."""
        if bool(key) == bool(picture):
            raise IconsError("say what they are to look like: either key or picture")
        engine = self._engine
        icon = engine.find(key) if key else None
        pixels = shown_icon(picture, size=engine.image_size) if picture else None
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

    def locate(self, picture: SamePicture, sets: Sets = [], format: Text = "") -> str:  # noqa: B006
        """Find all icons of a screenshot or mock-up; with format as code."""
        engine = self._engine
        wanted = framework(format) if format else None
        asked = served_sets(engine, engine.set_keys(sets), wanted.sets if wanted else ())
        shot = shown_screen(picture, size=engine.image_size)
        found = engine.locate(shot.pixels, filters=Filters(sets=asked), k=MOST_SHOWN, icon=shot.icon)
        chosen = sure_names(found)
        code = write_picks(engine, [(hit.key, hit) for hit in chosen], wanted, AS_IT_IS) if wanted and chosen else None
        return written(located(found, code))

    def map_icons(self, names: Names, to: Text, source: Source = "") -> str:
        """Find the icons of a set that stand for those of another."""
        engine = self._engine
        wanted = source_names(engine, names, source_sets(engine, [source] if source else []))
        return written(mapped(map_to(engine, wanted, target_set(engine, to), progress=lambda *_: None)))

    def show_icon(self, key: Text) -> str:
        """Tell tags, categories, licence, file and variants of an icon."""
        engine = self._engine
        return written(shown(engine.show(engine.find(key))))

    def get_code(
        self,
        keys: Keys,
        format: Text = "svg",
        colour: Text = "",
        size: int = 0,
        stroke_width: float = 0,
    ) -> str:
        """Write icons as code, imports first. An unknown format names near ones."""
        engine, wanted = self._engine, framework(format)
        look = Look(colour=colour or None, size=size or None, stroke_width=stroke_width or None)
        return write([_named(engine, key, wanted) for key in keys], wanted, look).code

    def check_icons(self, paths: Paths = [], code: Code = "", name: Text = "App.tsx") -> str:  # noqa: B006
        """Find icons named in code that do not exist, and the nearest real ones."""
        if bool(paths) == bool(code):
            raise IconsError("say what to check: either paths or code")
        engine = self._engine
        if code:
            return written(checked(check_text(engine, code, name=name)))
        places = [Path(path).expanduser() for path in paths]
        return written(checked(check(engine, places, CheckOptions(), progress=lambda *_: None)))

    def lint_icons(self, paths: Paths = [], sets: Sets = [], rule: Text = "") -> str:  # noqa: B006
        """Tell what is wrong in folders of icons, or sets."""
        if not paths and not sets:
            raise IconsError("say what to look at: paths of folders, or a set")
        from search.linting.lint import Asked, lint

        folders = tuple(Path(path).expanduser() for path in paths)
        asked = Asked(folders=folders, sets=tuple(sets), rules=(rule,) if rule else ())
        report = lint(asked, library=self._engine.library, progress=lambda *_: None)
        return written(linted(report, most=MOST_FINDINGS if rule else MOST_OF_A_RULE))

    def list_sets(self, query: Annotated[Text, Field(description="part of a name")] = "") -> str:
        """List the library's sets, largest first."""
        known = self._engine.facets()["set"]
        part = query.casefold()
        return written(listed(one for one in known if part in f"{one.value} {one.title}".casefold()))


def _named(engine: SearchEngine, key: str, wanted: Framework) -> NamedIcon:
    """An icon, with its picture where the framework draws it."""
    icon = engine.find(key)
    return named_icon(engine.show(icon).hit, engine.picture(icon) if wanted.needs_svg else None)
