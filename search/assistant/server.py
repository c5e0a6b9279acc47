"""How do tools become a server that an assistant starts? On stdin and stdout, with errors in a sentence."""

import logging
import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.naming.printable import printable
from indexer.telemetry import SERVERS, silence
from search.assistant.tools import IconTools
from search.engine import SearchEngine

_INSTRUCTIONS = """Icons of a library on this machine. Take keys (mdi:home) from answers, invent none. No hits: no icon
fits, try other words. Mind licences."""
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
    """Refuses an argument that it does not know, which the assistant would take to have counted."""

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run the tool."""
        known = self.parameters["properties"]
        if unknown := [f'"{printable(name[:100])}"' for name in arguments if name not in known]:
            raise ToolError(f"{self.name} has no argument {', '.join(unknown)}; it takes {', '.join(known)}")
        return await super().run(arguments, context, convert_result)


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
    engine = SearchEngine.open(library.root)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    create_assistant(engine).run("stdio")
