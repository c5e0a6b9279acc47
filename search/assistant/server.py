"""The server that an assistant starts: tools on stdin and stdout, with errors in a sentence."""

import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import wraps
from importlib.metadata import version
from typing import Any, cast

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations
from pydantic import ValidationError

from indexer.errors import IconsError
from indexer.languages.words import printable
from indexer.library.folder import Library
from indexer.process import SERVERS, silence
from search.assistant.tools import IconTools
from search.engine import SearchEngine

_INSTRUCTIONS = """Icons of a library on this machine. Take keys (mdi:home) from answers, invent none. No hits: no icon
fits, try other words. Mind licences."""
_MOST_SHOWN = 60
"""Letters of a value in a message."""
_READ_ONLY = ToolAnnotations(read_only_hint=True)
"""What clients ask before they run a tool unasked; the other hints mean nothing beside it."""
_LONGEST_LINE = 32_000_000
"""Bytes of a message: the largest picture takes half of it."""
_SAID_ELSEWHERE = frozenset(("title", "maximum", "minimum", "maxLength", "maxItems"))
"""Keywords of a schema that repeat a name, or stand in the message of an error."""


def create_assistant(engine: SearchEngine) -> MCPServer:
    """Put the server together."""
    own = IconTools(engine)
    tools = [
        _tool(method)
        for method in (
            *(own.search_icons, own.similar_icons, own.locate, own.pick_icons, own.map_icons),
            *(own.show_icon, own.get_code, own.check_icons, own.lint_icons, own.list_sets),
        )
    ]
    return _Assistant("icons", title="Icon search", instructions=_INSTRUCTIONS, version=version("icons"), tools=tools)


class _Assistant(MCPServer):
    """Answers every line, where the SDK leaves whoever sent no message waiting, and reads none without end."""

    async def run_stdio_async(self) -> None:
        """Answer what stdin brings until it ends.

        Raises:
            IconsError: a line is too long to be a message.
        """
        lines, server = _Lines(), self._lowlevel_server
        async with stdio_server(stdin=cast(Any, lines)) as (messages, answers):
            answered = cast(Any, _messages(messages, answers))
            await server.run(answered, answers, server.create_initialization_options())
        if lines.is_too_long:
            raise IconsError(f"stdin has a line of more than {_LONGEST_LINE / 1e6:g} MB, which is no message")


class _Lines:
    """Lines of stdin, up to one that is too long."""

    is_too_long = False

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await to_thread.run_sync(sys.stdin.buffer.readline, _LONGEST_LINE + 1):
            if len(line) > _LONGEST_LINE:
                self.is_too_long = True
                break
            yield line.decode(errors="replace")


async def _messages(stream: Any, answers: Any) -> AsyncIterator[Any]:
    """The messages of a stream; what is none is answered here."""
    async for message in stream:
        if not isinstance(message, ValidationError):
            yield message
        elif refusal := _refusal(message):
            await answers.send(SessionMessage(refusal))


def _refusal(error: ValidationError) -> JSONRPCError | None:
    """What to answer to a line that is no message; None to an empty one."""
    reasons = error.errors(include_url=False)
    if reasons[0]["type"] != "json_invalid":
        sent = next((one["input"] for one in reasons if isinstance(one["input"], dict)), {})
        code, why = INVALID_REQUEST, "this is no request of JSON-RPC 2.0"
    elif reasons[0]["input"].isspace():
        return None
    else:
        sent, code, why = {}, PARSE_ERROR, f"this is no JSON: {reasons[0]['ctx']['error']}"
        with suppress(ValueError, RecursionError):  # halves of a pair, which no text holds, are read here
            sent = json.loads(reasons[0]["input"])
    asked = sent.get("id") if isinstance(sent, dict) else None
    is_one = type(asked) is int or (isinstance(asked, str) and asked.isprintable())
    return JSONRPCError(jsonrpc="2.0", id=asked if is_one else None, error=ErrorData(code=code, message=why))


class _StrictTool(Tool):
    """Refuses an argument that it does not know, which the assistant would take to have counted.

    An optional one that is null or "" is not given: some clients send all that a tool has.
    What it refuses it says in a sentence, without what the SDK puts before.
    """

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run the tool."""
        known = self.parameters["properties"]
        if unknown := [f'"{printable(name[:100])}"' for name in arguments if name not in known]:
            raise ToolError(f"{self.name} has no argument {', '.join(unknown)}; it takes {', '.join(known)}")
        needed, sent = self.parameters.get("required", ()), self.fn_metadata.pre_parse_json(arguments)
        arguments = {name: value for name, value in sent.items() if name in needed or value not in (None, "")}
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError:
            raise
        except ToolError as error:
            cause = error.__cause__
            own = str(cause if isinstance(cause, ToolError) else error)
            if isinstance(cause, ValidationError):
                own = "; ".join(map(_refused, cause.errors(include_url=False)))
            raise ToolError(own) from cause


def _refused(invalid: Mapping[str, Any]) -> str:
    """How an argument is not as it should be, in a few words."""
    value, why = invalid["input"], invalid["msg"]
    why = f"{why[:1].lower()}{why[1:]}".removeprefix("value error, ")
    is_short = isinstance(value, str | int | float) and len(str(value)) <= _MOST_SHOWN
    shown = f' "{printable(str(value))}"' if is_short else ""
    return f"{'.'.join(map(str, invalid['loc']))}{shown}: {why}"


def _tool(method: Callable[..., Any]) -> Tool:
    @wraps(method)
    def call(**arguments: Any) -> str:
        try:
            answer = method(**{names.get(name, name): value for name, value in arguments.items()})
            return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        except IconsError as error:  # the sentence of any other stays here
            raise ToolError(error.plain) from error

    tool = _StrictTool.from_function(call, annotations=_READ_ONLY, structured_output=False)
    fields = tool.fn_metadata.arg_model.model_fields
    names = {field.alias: name for name, field in fields.items() if field.alias}
    tool.parameters = _shortened(tool.parameters)
    return tool


def _shortened(schema: Any) -> Any:
    """A JSON schema without what goes without saying, as an assistant reads all of it; of defaults words stay."""
    if isinstance(schema, list):
        return [_shortened(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    words = {name for name, part in schema.items() if isinstance(part, dict) or (part and isinstance(part, str))}
    idle = _SAID_ELSEWHERE | ({"default"} - words)
    return {name: _shortened(part) for name, part in schema.items() if name not in idle or isinstance(part, dict)}


def assist(library: Library) -> None:
    """Answer an assistant on stdin and stdout until it closes them.

    Raises:
        LibraryError: there is no generation that can be read.
        IconsError: a line is too long to be a message.
    """
    silence(SERVERS)
    engine = SearchEngine.open(library)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    create_assistant(engine).run("stdio")
