"""How does a coding assistant find icons? Three tools over the Model Context Protocol, on stdin and stdout.

Answers are short, since an assistant reads all of them. An icon is told by its key ("mdi:home"), which the others take.
"""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from indexer.errors import IconsError, LibraryError
from indexer.library.folder import Library
from indexer.telemetry import SERVERS, silence
from search.engine import SearchEngine
from search.query import MOST_WITHOUT, Filters, Query, Window, refuse_empty
from search.results import Answer, Details, Hit
from search.snippets.drawn import COLOUR
from search.web.parameters import Text
from search.web.svg import svg_text

_log = logging.getLogger(__name__)
_INSTRUCTIONS = """Finds icons in a library on this machine by what they mean or how they look ("go back", "a gear with
six teeth"), and gives their SVG. Search first, take a key from the hits, then get its SVG. Mind an icon's licence. No
hits mean that no icon fits: try other words, do not invent a key."""
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_MOST_HITS = 100

Given = ParamSpec("Given")
Result = TypeVar("Result")
Key = Annotated[str, Field(description='What search_icons gives: "mdi:home".', max_length=300)]
Texts = Annotated[list[Text], Field(max_length=50)]


def _with_plain_errors(tool: Callable[Given, Result]) -> Callable[Given, Result]:
    """Tell an assistant our own errors, which say what to do; the sentence of any other stays here."""

    @wraps(tool)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return tool(*args, **kwargs)
        except IconsError as error:
            raise ToolError(str(error)) from error

    return checked


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
        query: Annotated[str, Field(description="What it means, how it looks, or its name.", max_length=10_000)],
        k: Annotated[int, Field(ge=1, le=_MOST_HITS, description="How many hits.")] = 10,
        sets: Annotated[Texts, Field(description='Only icons of these sets: ["lucide"].')] = [],  # noqa: B006
        styles: Annotated[Texts, Field(description='["outline"], ["color"], ["sharp filled"] ...')] = [],  # noqa: B006
        licences: Annotated[Texts, Field(description='SPDX ids, or families: ["permissive"].')] = [],  # noqa: B006
        avoid: Annotated[list[Text], Field(max_length=MOST_WITHOUT, description='Steer away from: ["filled"].')] = [],  # noqa: B006
        language: Annotated[Text | None, Field(description="Of the query, if not English: de, pt-BR.")] = None,
    ) -> str:
        """Find icons by meaning, looks or name, best first."""
        refuse_empty(query)
        asked = Query(words=query, without=tuple(avoid), languages=(language,) if language else ())
        filters = Filters(sets=tuple(sets), styles=tuple(styles), licences=tuple(licences))
        return _written(_answered(self._engine.ask(asked, filters=filters, window=Window(k=k))))

    def show_icon(self, key: Key) -> str:
        """Tell tags, categories, licence, file and variants of an icon."""
        engine = self._engine
        return _written(_shown(engine.show(engine.find(key))))

    def get_svg(
        self,
        key: Key,
        colour: Annotated[
            str | None, Field(pattern=COLOUR, description="For what the icon leaves open: #08f, navy.")
        ] = None,
    ) -> str:
        """Get the SVG of an icon, as its set holds it or in a colour."""
        engine = self._engine
        icon = engine.find(key)
        document = svg_text(engine.picture(icon), colour=colour)
        if document is None:
            shown = engine.show(icon)
            raise ToolError(f'"{key}" is no SVG but a bitmap: {shown.hit.path}')
        return document.decode(errors="replace")


def _answered(answer: Answer) -> dict[str, Any]:
    """The hits of an answer, and what is to be said of it."""
    plain: dict[str, Any] = {"icons": [_found(hit) for hit in answer.hits], "n_found": answer.n_found}
    if answer.is_more:
        plain["is_more"] = True
    if answer.is_doubtful:
        plain["note"] = "no good match; these come nearest"
    if answer.read_as:
        plain["read_as"] = str(answer.read_as)
    if answer.spelled:
        plain["did_you_mean"] = answer.spelled
    return plain


def _found(hit: Hit) -> dict[str, Any]:
    """An icon in a few words."""
    plain = {"key": hit.key, "style": hit.style, "licence": hit.licence, "score": round(hit.score, 2)}
    found = {name: value for name, value in plain.items() if value is not None}
    return {**found, "also": list(hit.also)} if hit.also else found


def _shown(details: Details) -> dict[str, Any]:
    """Everything that is known of an icon; other icons by their keys."""
    plain = asdict(details)
    hit = plain.pop("hit")
    for measured in ("score", "similarity", "exact", "n_variants", "also", "n_also", "id", "image"):
        del hit[measured]
    for others in ("variants", "near_duplicates"):
        plain[others] = [other["key"] for other in plain[others]]
    return {name: value for name, value in {**hit, **plain}.items() if value not in (None, "", [], ())}


def _written(plain: dict[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def create_assistant(engine: SearchEngine) -> MCPServer:
    """Put the server together."""
    server = MCPServer("icons", title="Icon search", instructions=_INSTRUCTIONS, version=version("icons"))
    tools = IconTools(engine)
    for title, tool in (
        ("Find icons", tools.search_icons),
        ("Show an icon", tools.show_icon),
        ("Get an icon's SVG", tools.get_svg),
    ):
        server.tool(title=title, annotations=_READ_ONLY, structured_output=False)(_with_plain_errors(tool))
    return server


def assist(library: Library) -> None:
    """Answer an assistant on stdin and stdout until it closes them.

    Raises:
        LibraryError: there is no generation that can be read.
    """
    silence(SERVERS)
    engine = SearchEngine.open(library.root)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    create_assistant(engine).run("stdio")
