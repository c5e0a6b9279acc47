"""What we take from libraries that they do not promise: where a new version changes it, this says where to look."""

from importlib.metadata import version

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from picosvg.svg import SVG
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from search.web.connections import BoundedConnection


@pytest.mark.parametrize(
    ("package", "names", "used", "where"),
    [
        (
            "uvicorn",
            {*BoundedConnection.__dict__} & {"on_response_complete", "send_400_response", "resume_writing"},
            {*dir(H11Protocol), *H11Protocol.__init__.__code__.co_names},
            "BoundedConnection of search/web/connections.py",
        ),
        (
            "uvicorn",
            {"connections", "cycle", "flow", "loop"},
            {*H11Protocol.__init__.__code__.co_names, *H11Protocol.connection_made.__code__.co_names},
            "BoundedConnection of search/web/connections.py",
        ),
        (
            "uvicorn",
            {"disconnected", "message_event", "more_body", "response_complete"},
            {*RequestResponseCycle.__init__.__code__.co_names},
            "BoundedConnection of search/web/connections.py",
        ),
        ("mcp", {"_lowlevel_server"}, {*MCPServer.__init__.__code__.co_names}, "search/assistant/server.py"),
        (
            "mcp",
            {"pre_parse_json", "arg_model"},
            {*dir(FuncMetadata), *FuncMetadata.model_fields},
            "_StrictTool of search/assistant/server.py",
        ),
        ("picosvg", {"_stroke", "tolerance"}, {*dir(SVG)}, "_Large of search/drawings/web_font.py"),
        ("picosvg", {"_stroke"}, {*SVG._simplify.__code__.co_names}, "_Large of search/drawings/web_font.py"),
    ],
)
def test_private_names_are_those_of_the_installed_version(
    package: str, names: set[str], used: set[str], where: str
) -> None:
    assert names <= used, f"{package} {version(package)} has no {sorted(names - used)} any more: look at {where}"
