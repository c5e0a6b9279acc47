"""How do tools become a server that an assistant starts? On stdin and stdout, with errors in a sentence."""

import logging
import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.naming.printable import printable
from indexer.telemetry import SERVERS, silence
from search.assistant.tools import IconTools
from search.engine import SearchEngine

_INSTRUCTIONS = """Icons of a library on this machine. Take keys (mdi:home) from answers, invent none. No hits: no icon
fits, try other words. Mind licences."""
_MOST_SHOWN = 60
"""Letters of a value in a message."""
_READ_ONLY = ToolAnnotations(read_only_hint=True)
"""What clients ask before they run a tool unasked; the other hints mean nothing beside it."""
_SAID_ELSEWHERE = frozenset(("title", "maximum", "minimum"))
"""Keywords of a schema that repeat a name, or are told to who is beyond them."""


def create_assistant(engine: SearchEngine) -> MCPServer:
    """Put the server together."""
    own = IconTools(engine)
    tools = [
        _tool(own.search_icons),
        _tool(own.similar_icons),
        _tool(own.locate),
        _tool(own.pick_icons),
        _tool(own.map_icons),
        _tool(own.show_icon),
        _tool(own.get_code),
        _tool(own.check_icons),
        _tool(own.lint_icons),
        _tool(own.list_sets),
    ]
    return MCPServer("icons", title="Icon search", instructions=_INSTRUCTIONS, version=version("icons"), tools=tools)


class _StrictTool(Tool):
    """Refuses an argument that it does not know, which the assistant would take to have counted.

    What it refuses it says in a sentence, without what the SDK puts before.
    """

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run the tool."""
        known = self.parameters["properties"]
        if unknown := [f'"{printable(name[:100])}"' for name in arguments if name not in known]:
            raise ToolError(f"{self.name} has no argument {', '.join(unknown)}; it takes {', '.join(known)}")
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            own = str(error).removeprefix(f"Error executing tool {self.name}: ")
            raise ToolError(_refused(cause) if isinstance(cause, ValidationError) else own) from cause


def _refused(error: ValidationError) -> str:
    """Which arguments are not as they should be, each in a few words."""
    return "; ".join(_in_words(one["loc"], one["input"], one["msg"]) for one in error.errors(include_url=False))


def _in_words(place: tuple[int | str, ...], value: Any, why: str) -> str:
    name = ".".join(map(str, place))
    why = f"{why[:1].lower()}{why[1:]}".removeprefix("value error, ")
    is_short = isinstance(value, str | int | float) and len(str(value)) <= _MOST_SHOWN
    return f'{name} "{printable(str(value))}": {why}' if is_short else f"{name}: {why}"


def _tool(method: Callable[..., str]) -> Tool:
    @wraps(method)
    def call(**given: Any) -> str:
        try:
            return method(**{names.get(name, name): value for name, value in given.items()})
        except IconsError as error:  # the sentence of any other stays here
            raise ToolError(str(error)) from error

    tool = _StrictTool.from_function(call, annotations=_READ_ONLY, structured_output=False)
    fields = tool.fn_metadata.arg_model.model_fields
    names = {field.alias: name for name, field in fields.items() if field.alias}
    tool.parameters = _shortened(tool.parameters)
    return tool


def _shortened(schema: Any) -> Any:
    """A JSON schema without what goes without saying: an assistant reads all of it."""
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _shortened(part) for name, part in schema.items() if not _is_idle(name, part)}


def _is_idle(name: str, part: Any) -> bool:
    """Whether it is no property, and says nothing that an assistant needs: of defaults, words alone are told."""
    is_keyword = not isinstance(part, dict)
    return is_keyword and (name in _SAID_ELSEWHERE or (name == "default" and not (part and isinstance(part, str))))


def assist(library: Library) -> None:
    """Answer an assistant on stdin and stdout until it closes them.

    Raises:
        LibraryError: there is no generation that can be read.
    """
    silence(SERVERS)
    engine = SearchEngine.open(library)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    create_assistant(engine).run("stdio")
