"""The tools of a coding assistant: they find icons, show them, and write them as code.

An icon is named by its key ("mdi:home"), which the others take.
"""

import base64
import binascii
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from indexer.errors import IconsError, LibraryError, SourceError
from indexer.sources.records import read_regular
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
from search.code.check import check, check_text
from search.code.map import map_icons as map_to
from search.code.map import source_names, source_sets, target_set
from search.code.pick import MOST_SHOWN, Picking, pick_icons, read_needs, served_sets, write_picks
from search.drawings.drawn import AS_IT_IS, Look, NamedIcon, named_icon
from search.drawings.frameworks import Framework, framework
from search.drawings.write import write
from search.engine import SearchEngine
from search.pictures import MAX_BYTES, drawing, pixels_of, screenshot_of
from search.query import MOST_WITHOUT, Filters, Query, Window

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indexer.rendering.screenshot import Screenshot

MOST_HITS = 100
"""Of one answer, which an assistant reads whole, too."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ALONE = BeforeValidator(_as_list)
Text = Annotated[str, Field(max_length=300)]
Texts = Annotated[list[Text], ALONE, Field(max_length=50)]

Words = Annotated[str, Field(max_length=10_000)]
Keys = Annotated[list[Text], ALONE, Field(max_length=100)]
Needs = Annotated[list[Text], ALONE, Field(max_length=100)]
Names = Annotated[list[Text], ALONE, Field(max_length=500)]
Source = Annotated[Text, Field(alias="from")]
Format = Annotated[Text, Field(description="lucide-react, vue, css")]
"""What is described once need not be again: an assistant reads all tools. The others take `Text`."""
Paths = Annotated[list[Annotated[str, Field(max_length=4096)]], ALONE, Field(max_length=100)]
Code = Annotated[str, Field(max_length=2_000_000)]
Count = Annotated[int, Field(ge=1, le=MOST_HITS)]
Sets = Annotated[Texts, Field(alias="set")]
Styles = Annotated[Texts, Field(alias="style")]
Licences = Annotated[Texts, Field(alias="licence", description="SPDX id, or permissive")]
Without = Annotated[list[Text], ALONE, Field(max_length=MOST_WITHOUT, alias="not", description="steer away from")]
Language = Annotated[Text, Field(description="the user's: de")]
Picture = Annotated[str, Field(max_length=15_000_000), Field(description="file, or data: URI")]
SamePicture = Annotated[str, Field(max_length=15_000_000)]


_DATA = re.compile(r"data:[\w/+.-]*(;base64)?,")


def shown_icon(picture: str, *, size: int) -> "NDArray[np.uint8]":
    """A picture of one icon, as a query takes it.

    Raises:
        IconsError: it can't be read, or is no picture.
    """
    content, name = _read(picture)
    return pixels_of(content, name=name, size=size)


def shown_screen(picture: str, *, size: int) -> "Screenshot":
    """A picture of a whole screen; raises as `shown_icon` does."""
    content, name = _read(picture)
    with drawing() as pool:
        return screenshot_of(pool, content, name=name, size=size)


def _read(picture: str) -> tuple[bytes, str]:
    """The bytes of a picture, and what a message calls it."""
    if found := _DATA.match(picture):
        return _decoded(picture[found.end() :]), "data: URI"
    try:
        path = Path(picture).expanduser()
        return read_regular(path, limit=MAX_BYTES), path.name
    except (OSError, ValueError, RuntimeError, SourceError) as error:
        raise IconsError(f'picture "{picture[:200]}" can\'t be read: {error}') from error


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise IconsError(f"the data: URI of the picture is not base64 ({error})") from error


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
        chosen = framework(format) if format else None
        how = Picking(
            filters=Filters(sets=tuple(sets), styles=tuple(styles)),
            window=Window(k=MOST_SHOWN),
            first=True,
            framework=chosen,
        )
        queries = [Query(words=need) for need in read_needs(needs)]
        return written(picked(pick_icons(self._engine, queries, how, progress=lambda *_: None)))

    def locate(self, picture: SamePicture, sets: Sets = [], format: Text = "") -> str:  # noqa: B006
        """Find all icons of a screenshot or mock-up; with format as code."""
        engine = self._engine
        chosen = framework(format) if format else None
        asked = served_sets(engine, engine.set_keys(sets), chosen.sets if chosen else ())
        shot = shown_screen(picture, size=engine.image_size)
        found = engine.locate(shot.pixels, filters=Filters(sets=asked), k=MOST_SHOWN, icon=shot.icon)
        sure = [(hit.key, hit) for hit in sure_names(found)]
        code = write_picks(engine, sure, chosen, AS_IT_IS) if chosen and sure else None
        return written(located(found, code))

    def map_icons(self, names: Names, to: Text, source: Source = "") -> str:
        """Find the icons of a set that stand for those of another."""
        engine = self._engine
        asked = source_names(engine, names, source_sets(engine, [source] if source else []))
        return written(mapped(map_to(engine, asked, target_set(engine, to), progress=lambda *_: None)))

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
        engine, chosen = self._engine, framework(format)
        look = Look(colour=colour or None, size=size or None, stroke_width=stroke_width or None)
        return write([_named(engine, key, chosen) for key in keys], chosen, look).code

    def check_icons(self, paths: Paths = [], code: Code = "", name: Text = "App.tsx") -> str:  # noqa: B006
        """Find icons named in code that do not exist, and the nearest real ones."""
        if bool(paths) == bool(code):
            raise IconsError("say what to check: either paths or code")
        engine = self._engine
        if code:
            return written(checked(check_text(engine, code, name=name)))
        places = [Path(path).expanduser() for path in paths]
        return written(checked(check(engine, places, progress=lambda *_: None)))

    def lint_icons(self, paths: Paths = [], sets: Sets = [], rule: Text = "") -> str:  # noqa: B006
        """Tell what is wrong in folders of icons, or sets."""
        if not paths and not sets:
            raise IconsError("say what to look at: paths of folders, or a set")
        from search.linting.lint import LintOptions, lint

        folders = tuple(Path(path).expanduser() for path in paths)
        asked = LintOptions(folders=folders, sets=tuple(sets), rules=(rule,) if rule else ())
        report = lint(asked, library=self._engine.library, progress=lambda *_: None)
        return written(linted(report, most=MOST_FINDINGS if rule else MOST_OF_A_RULE))

    def list_sets(self, query: Annotated[Text, Field(description="part of a name")] = "") -> str:
        """List the library's sets, largest first."""
        known = self._engine.facets()["set"]
        part = query.casefold()
        return written(listed(one for one in known if part in f"{one.value} {one.title}".casefold()))


def _named(engine: SearchEngine, key: str, chosen: Framework) -> NamedIcon:
    """An icon, with its picture where the framework draws it."""
    icon = engine.find(key)
    return named_icon(engine.show(icon).hit, engine.picture(icon) if chosen.needs_svg else None)
