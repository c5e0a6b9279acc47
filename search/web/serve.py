"""How does the server run? One process, one engine, until Ctrl-C or a signal ends it."""

import ipaddress
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import uvicorn

from indexer.library import Library
from search.web.app import Access, create_app
from search.web.holder import EngineHolder
from search.web.limits import Limits

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_MOST_CONNECTIONS = 500
_LONGEST_LINE = 256 * 1024
"""Of a request, in bytes: 10,000 characters of any language, written in percents."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where to listen, for whom, and how much of it."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    names: Sequence[str] = ()
    """Further names that it answers to."""
    origins: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)


def is_loopback(host: str) -> bool:
    """Whether a host that is listened on can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(library: Library, options: ServeOptions) -> None:
    """Serve a library until the process is told to end.

    Raises:
        LibraryError: there is no generation that can be read.
    """
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    names = [*_LOOPBACK_NAMES, options.host.lower(), *options.names]
    hosts = names if is_loopback(options.host) or options.names else ()
    access = Access(token=options.token, hosts=hosts, origins=options.origins)
    app = create_app(EngineHolder(library), options.limits, access)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        access_log=False,  # addresses would hold what people look for, and tokens
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_LONGEST_LINE,
        timeout_graceful_shutdown=5,
    )
