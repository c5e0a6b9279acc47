"""The tools of a coding assistant: they find icons, show them, and write them as code.

An icon is named by its key ("mdi:home"), which the others take. Answers are in few words, since an assistant reads all
of them: JSON without what says nothing.
"""

import base64
import binascii
import logging
import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from indexer.errors import IconsError, LibraryError, SourceError
from indexer.library.named import several
from indexer.sources.folders import reason_of
from indexer.sources.records import read_regular
from search.code import map as mapping
from search.code.check import Checked, check, check_text
from search.code.pick import MOST_SHOWN, Pick, Picking, Written, pick_icons, read_needs, served_sets, write_picks
from search.drawings.frameworks import AS_IT_IS, Look, framework, named_icon
from search.drawings.write import write
from search.engine import SearchEngine
from search.pictures import MAX_BYTES, drawing, pixels_of, screenshot_of
from search.query import MOST_WITHOUT, Answer, Filters, Hit, Query, Window, refuse_empty
from search.ranking.weights import GOOD_SCORE
from search.screens.results import LocatedIcon

MOST_HITS = 100
"""Of one answer, which an assistant reads whole, too."""
MOST_LOCATED = 100
"""Icons of one picture, in one answer: the surest ones."""
MOST_FINDINGS = 100
"""Of code, in one answer."""
MOST_OF_A_RULE = 3
"""Findings of icons, in one answer, unless one rule is asked."""
Plain = dict[str, Any]


def _listed(between: str, value: Any) -> Any:
    """Take a list as text, too, with these signs or line ends between; what says nothing is not in it."""
    listed = list(several(value, between=between)) if isinstance(value, str | int) else value
    return [one for one in listed if one not in (None, "")] if isinstance(listed, list) else listed


ALONE, BETWEEN_COMMAS = BeforeValidator(partial(_listed, "")), BeforeValidator(partial(_listed, ",;|"))
Text = Annotated[str, Field(max_length=300, coerce_numbers_to_str=True)]
Texts = Annotated[list[Text], BETWEEN_COMMAS, Field(max_length=50)]

Words = Annotated[str, Field(max_length=10_000, coerce_numbers_to_str=True)]
Hundred = Annotated[list[Text], ALONE, Field(max_length=100)]
_BETWEEN_KEYS = re.compile(r"[\s,;|]+(?=[^\s,;|:]+:)")
Keys = Annotated[Hundred, BeforeValidator(lambda keys: _BETWEEN_KEYS.split(keys) if isinstance(keys, str) else keys)]
"""One, several in a list, or several with commas between: a comma in a name is no end of it."""
Format = Annotated[Text, Field(description="lucide-react, vue, css")]
"""What is described once need not be again: an assistant reads all tools. The others take `Text`."""
Paths = Annotated[list[Annotated[str, Field(max_length=4096)]], ALONE, Field(max_length=100)]
Number = BeforeValidator(lambda value: value.removesuffix("px") if isinstance(value, str) else value)
Count = Annotated[int, Field(ge=1, le=MOST_HITS)]
Sets = Annotated[Texts, Field(alias="set")]
Styles = Annotated[Texts, Field(alias="style")]
Picture = Annotated[str, Field(max_length=15_000_000)]


_DATA = re.compile(r"data:[\w/+.-]*(;base64)?,")


def _read(picture: str) -> Plain:
    """The `content` of a picture, and the `name` by which a message calls it.

    Raises:
        IconsError: it can't be read.
    """
    if found := _DATA.match(picture):
        try:
            return {"content": base64.b64decode(picture[found.end() :], validate=True), "name": "data: URI"}
        except binascii.Error as error:
            raise IconsError(f"the data: URI of the picture is not base64 ({error})") from error
    try:
        path = Path(picture).expanduser()
        return {"content": read_regular(path, limit=MAX_BYTES), "name": path.name}
    except (OSError, ValueError, RuntimeError, SourceError) as error:
        raise IconsError(f'picture "{picture[:200]}" can\'t be read: {reason_of(error)}') from error


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
        licences: Annotated[Texts, Field(alias="licence", description="SPDX id, or permissive")] = [],  # noqa: B006
        without: Annotated[
            list[Text], ALONE, Field(max_length=MOST_WITHOUT, alias="not", description="steer away from")
        ] = [],  # noqa: B006
        language: Annotated[Text, Field(description="the user's: de")] = "",
    ) -> Plain:
        """Find icons by meaning, looks or name, best first. Styles: outline, filled."""
        refuse_empty(query)
        asked = Query(words=query, without=tuple(without), languages=(language,) if language else ())
        filters = Filters(sets=tuple(sets), styles=tuple(styles), licences=tuple(licences))
        return _answered(self._engine.ask(asked, filters=filters, window=Window(k=k)))

    def similar_icons(
        self,
        key: Text = "",
        picture: Annotated[Picture, Field(description="file, or data: URI")] = "",
        query: Words = "",
        k: Count = 10,
        sets: Sets = [],  # noqa: B006
        styles: Styles = [],  # noqa: B006
    ) -> Plain:
        """Find icons that look like one or a picture; query pulls towards a meaning."""
        if bool(key) == bool(picture):
            raise IconsError("say what they are to look like: either key or picture")
        engine = self._engine
        icon = engine.find(key) if key else None
        pixels = pixels_of(**_read(picture), size=engine.image_size) if picture else None
        asked, filters = Query(words=query, icon=icon, picture=pixels), Filters(sets=tuple(sets), styles=tuple(styles))
        return _answered(engine.ask(asked, filters=filters, window=Window(k=k)))

    def pick_icons(
        self,
        needs: Hundred,
        sets: Sets = [],  # noqa: B006
        styles: Styles = [],  # noqa: B006
        format: Format = "",
    ) -> Plain:
        """Pick an icon for each of many needs, all of one set; with format as code."""
        how = Picking(
            filters=Filters(sets=tuple(sets), styles=tuple(styles)),
            window=Window(k=MOST_SHOWN),
            first=True,
            framework=framework(format) if format else None,
        )
        queries = [Query(words=need) for need in read_needs(needs)]
        picked = pick_icons(self._engine, queries, how, progress=lambda *_: None)
        return {"icons": list(map(_picked, picked.picks)), **_coded(picked.written, remarked=True)}

    def locate(self, picture: Picture, sets: Sets = [], format: Text = "") -> Plain:  # noqa: B006
        """Find all icons of a screenshot or mock-up; with format as code."""
        engine = self._engine
        chosen = framework(format) if format else None
        asked = served_sets(engine, engine.set_keys(sets), chosen.sets if chosen else ())
        with drawing() as pool:
            shot = screenshot_of(pool, **_read(picture), size=engine.image_size)
        found = engine.locate(shot.pixels, filters=Filters(sets=asked), k=MOST_SHOWN, icon=shot.icon)
        good = (icon.hits[0] for icon in found.named if icon.hits[0].score >= GOOD_SCORE)
        sure = {hit.id: (hit.key, hit) for hit in good if hit.is_svg}  # no framework writes bitmaps as code
        code = write_picks(engine, list(sure.values()), chosen, AS_IT_IS) if chosen and sure else None
        icons = found.icons
        if len(icons) > MOST_LOCATED:
            least = sorted((icon.score for icon in icons), reverse=True)[MOST_LOCATED - 1]
            icons = [icon for icon in icons if icon.score >= least][:MOST_LOCATED]
        more = _stated(n_found=found.n_found if found.n_found > len(icons) else None)
        return {"kind": found.kind, "icons": list(map(_located, icons)), **more, **_coded(code)}

    def map_icons(
        self,
        names: Annotated[list[Text], BETWEEN_COMMAS, Field(max_length=500)],
        to: Text,
        source: Annotated[Text, Field(alias="from")] = "",
    ) -> Plain:
        """Find the icons of a set that stand for those of another."""
        engine = self._engine
        asked = mapping.source_names(engine, names, mapping.source_sets(engine, [source] if source else []))
        found = mapping.map_icons(engine, asked, mapping.target_set(engine, to), progress=lambda *_: None).mappings
        sure = {one.source.key: one.target.name.key for one in found if one.target and not one.is_doubtful}
        others = (one for one in found if one.is_doubtful or not one.target)
        doubtful = {one.source.key: [candidate.name.key for candidate in one.candidates] for one in others}
        return {"icons": sure, **_stated(doubtful=doubtful)}

    def show_icon(self, key: Text) -> Plain:
        """Tell tags, categories, licence, file and variants of an icon."""
        engine = self._engine
        plain = asdict(engine.show(engine.find(key)))
        hit = {name: value for name, value in plain.pop("hit").items() if name not in _MEASURED}
        for others in ("variants", "near_duplicates"):
            plain[others] = [other["key"] for other in plain[others]]
        return _stated(**hit, **plain)

    def get_code(
        self,
        keys: Keys,
        format: Text = "svg",
        colour: Text = "",
        size: Annotated[int, Number] = 0,
        stroke_width: Annotated[float, Number] = 0,
    ) -> str:
        """Write icons as code, imports first. An unknown format names near ones."""
        engine, chosen = self._engine, framework(format)
        icons = ((engine.show(icon).hit, icon) for icon in map(engine.find, keys))
        named = [named_icon(hit, engine.picture(icon) if chosen.needs_svg else None) for hit, icon in icons]
        look = Look(colour=colour or None, size=size or None, stroke_width=stroke_width or None)
        return write(named, chosen, look).code

    def check_icons(
        self,
        paths: Paths = [],  # noqa: B006
        code: Annotated[str, Field(max_length=2_000_000)] = "",
        name: Text = "App.tsx",
    ) -> Plain:
        """Find icons named in code that do not exist, and the nearest real ones."""
        if bool(paths) == bool(code):
            raise IconsError("say what to check: either paths or code")
        engine = self._engine
        if code:
            return _checked(check_text(engine, code, name=name))
        return _checked(check(engine, [Path(path).expanduser() for path in paths], progress=lambda *_: None))

    def lint_icons(self, paths: Paths = [], sets: Sets = [], rule: Text = "") -> Plain:  # noqa: B006
        """Tell what is wrong in folders of icons, or sets."""
        if not paths and not sets:
            raise IconsError("say what to look at: paths of folders, or a set")
        from search.linting.lint import LintOptions, lint

        folders, rules = tuple(Path(path).expanduser() for path in paths), (rule,) if rule else ()
        asked = LintOptions(folders=folders, sets=tuple(sets), rules=rules)
        report = lint(asked, library=self._engine.library, progress=lambda *_: None)
        most = MOST_FINDINGS if rule else MOST_OF_A_RULE
        by_rule = {rule: [one for one in report.findings if one.rule == rule][:most] for rule in report.counts}
        findings = {  # where there are several icons, the message names them
            rule: [f"{one.icons[0].place}: {one.message}" if len(one.icons) == 1 else one.message for one in found]
            for rule, found in by_rule.items()
        }
        return {"findings": findings, "counts": dict(report.counts), "n_icons": report.n_icons}

    def list_sets(self, query: Annotated[Text, Field(description="part of a name")] = "") -> Plain:
        """List the library's sets, largest first."""
        known = self._engine.facets()["set"]
        found = (one for one in known if query.casefold() in f"{one.value} {one.title}".casefold())
        return {"sets": {one.value: f"{one.title}, {one.n:,} icons" for one in found}}


_MEASURED = {"score", "similarity", "exact", "n_variants", "also", "n_also", "id", "image", "digest"}
"""Fields of a hit that say nothing of the icon itself."""
_DOUBTFUL = {"note": "no good match"}


def _stated(**values: Any) -> Plain:
    """Those that say something."""
    return {name: value for name, value in values.items() if value not in (None, "", [], (), {})}


def _answered(answer: Answer) -> Plain:
    """The hits of an answer, and what is to be said of it."""
    told = _stated(
        is_more=answer.is_more or None,
        note="no good match; these come nearest" if answer.is_doubtful else None,
        read_as=answer.read_as and str(answer.read_as),
        did_you_mean=answer.spelled,
    )
    return {"icons": list(map(_found, answer.hits)), "n_found": answer.n_found, **told}


def _found(hit: Hit) -> Plain:
    """An icon in a few words."""
    score, also = round(hit.score, 2), list(hit.also)
    return _stated(key=hit.key, style=hit.style, licence=hit.licence, score=score, also=also)


def _picked(pick: Pick) -> Plain:
    """What a need has found: its icon, and the others that were near."""
    if not pick.chosen:
        return {"need": pick.need, "note": "nothing found"}
    plain = {"need": pick.need, "key": pick.chosen.key} | (_DOUBTFUL if pick.found.is_doubtful else {})
    return plain | {"or": [hit.key for hit in pick.hits if hit is not pick.chosen]}


def _located(icon: LocatedIcon) -> Plain:
    """An icon of a picture: its box and name, and the others that were near."""
    if not icon.hits:
        return {"box": icon.box, "note": "no name found"}
    first, *others = icon.hits
    plain = {"box": icon.box, "key": first.key, "score": round(first.score, 2)}
    return plain | (_DOUBTFUL if first.score < GOOD_SCORE else {}) | _stated(**{"or": [hit.key for hit in others]})


def _coded(done: Written | None, *, remarked: bool = False) -> Plain:
    """Icons as code, what is to be installed for it, and what can't be written."""
    if done is None:
        return {}
    code = done.remarked if remarked else done.snippet.code
    return {"code": code, **_stated(install=done.snippet.install, refused=dict(done.refused))}


def _checked(found: Checked) -> Plain:
    """What is to be mended, each with its place and the nearest real icon; how many names were read."""
    lines = [f"{one.path}:{one.line}:{one.column}: {one.message}" for one in found.findings[:MOST_FINDINGS]]
    absent = [one.key for one in found.sets if not one.is_here]
    more = _stated(
        sets_not_in_this_library=absent, not_readable=len(found.computed) or None, not_read=dict(found.not_read)
    )
    return {"findings": lines, "n_findings": len(found.findings), "names": found.n_references, **more}
