"""How does the server run? One process, one engine, until Ctrl-C or a signal ends it."""

import ipaddress
import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.telemetry import SERVERS, silence
from search.engine import SearchEngine
from search.web.app import Access, create_app
from search.web.connections import BoundedConnection
from search.web.gate import Limits

_log = logging.getLogger(__name__)
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
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
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def access_of(options: ServeOptions) -> Access:
    """Who may ask: on a network, where no name is given, whoever calls the machine by an address or its own name."""
    is_open = not is_loopback(options.host) and not options.names
    own = (name for name in (_own_name(), _own_name().partition(".")[0]) if is_open and name)
    names = (*_LOOPBACK_NAMES, *(name.lower() for name in (options.host, *options.names, *own)))
    return Access(token=options.token, hosts=names, is_by_address=is_open, origins=options.origins)


def _own_name() -> str:
    """What this machine calls itself; no name server is asked."""
    return socket.gethostname()


def serve(library: Library, options: ServeOptions) -> None:
    """Serve a library until the process is told to end.

    Raises:
        LibraryError: there is no generation that can be read.
        IconsError: the port is taken, or the token is empty.
    """
    silence(SERVERS)
    access = access_of(options)
    engine = SearchEngine.open(library)
    listening = _listen(options)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    config = uvicorn.Config(
        create_app(engine, options.limits, access),
        access_log=False,  # addresses would hold what people look for, and tokens
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        http=BoundedConnection,
        ws="none",
        h11_max_incomplete_event_size=_LONGEST_LINE,
        timeout_graceful_shutdown=5,
    )
    server = _Server(config)
    server.greeting = f"{engine.manifest.icons.n:,} icons at {_address(listening)}, until Ctrl-C"
    if access.is_by_address and options.token is None:
        _log.warning("everyone who reaches this machine can search; --token TOKEN lets in only who knows it")
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Says where it listens as soon as it answers."""

    greeting = ""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _log.info(self.greeting)


def _listen(options: ServeOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        options.host.encode("idna")
        listening = socket.create_server((options.host, options.port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        where, why = f"{options.host}:{options.port}", getattr(error, "strerror", "no name of a host")
        raise IconsError(f'nothing can listen on "{where}" ({why}); choose another --host or --port') from error
    # Connections inherit it. Without it a body waits 40 ms until its headers are acknowledged: asyncio sets it only for
    # sockets that name their protocol, which those of create_server don't.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
