"""How the server runs: one process, one engine, an app behind a guard, until a signal ends it."""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import Lifespan

from indexer.errors import IconsError
from indexer.library.folder import Library
from indexer.process import SERVERS, silence
from search.engine import SearchEngine
from search.web import paths
from search.web.answers import API
from search.web.connections import BoundedConnection, Limits
from search.web.guard import Access, Guard, refuse_in_json
from search.web.service import Service

STATIC = Path(__file__).parent / "static"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def create_app(engine: SearchEngine, limits: Limits | None = None, access: Access | None = None) -> FastAPI:
    """Put the app together. It starts its processes when it starts, and ends them when it ends."""
    limits, access = limits or Limits(), access or Access()
    origins = [origin.rstrip("/").lower() for origin in access.origins]  # as browsers spell them
    service = Service(engine, limits)

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncIterator[None]:
        beside = [asyncio.create_task(work) for work in (service.warm_up(), service.follow())]
        try:
            yield
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            service.close()

    app = new_api(live)
    app.state.service = service

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": PAGE_POLICY})

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    refuse_in_json(app)
    app.add_middleware(Guard, metrics=service.metrics, access=replace(access, origins=origins))
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    return app


def new_api(lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    """All paths of the API, which its OpenAPI document describes."""
    app = FastAPI(
        title="icons",
        summary="Find icons by what they mean or how they look.",
        version=version("icons"),
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # both load their scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,  # an operation is called as its function is
    )
    app.include_router(paths.open_router)
    app.include_router(paths.router)
    return app


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
    """Who may ask: on a network, without a name, whoever calls the machine by an address or its own name."""
    is_open = not is_loopback(options.host) and not options.names
    own = socket.gethostname()  # no name server is asked
    called = (own, own.partition(".")[0]) if is_open and own else ()
    names = (*_LOOPBACK_NAMES, *(name.lower() for name in (options.host, *options.names, *called)))
    return Access(token=options.token, hosts=names, is_by_address=is_open, origins=options.origins)


def serve(library: Library, options: ServeOptions) -> None:
    """Serve a library until the process is asked to end.

    Raises:
        LibraryError: there is no generation that can be read.
        IconsError: the port is taken, or the token is empty.
    """
    silence(SERVERS)
    access = access_of(options)
    engine = SearchEngine.open(library)
    try:
        options.host.encode("idna")
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        listening = socket.create_server((options.host, options.port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        where, why = f"{options.host}:{options.port}", getattr(error, "strerror", "no name of a host")
        raise IconsError(f'nothing can listen on "{where}" ({why}); choose another --host or --port') from error
    # Connections inherit it. Without it a body waits 40 ms until its headers are acknowledged: asyncio sets it only for
    # sockets that name their protocol, which those of create_server don't.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
    host, port = listening.getsockname()[:2]
    at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    _log.info("%s icons at http://%s, until Ctrl-C", f"{engine.manifest.icons.n:,}", at)
    if access.is_by_address and options.token is None:
        _log.warning("everyone who reaches this machine can search; --token TOKEN lets in only who knows it")
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
