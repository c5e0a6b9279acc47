"""How do a service, its paths and its guard become one app?"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import Lifespan

from indexer.errors import IconsError
from search.engine import SearchEngine
from search.web import api, copies, pictures, usage
from search.web.answers import API
from search.web.gate import Limits
from search.web.guard import Guard, Hosts
from search.web.refusals import refuse_in_json
from search.web.service import Service

STATIC = Path(__file__).parent / "static"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask."""

    token: str | None = None
    """What every request must bring; None: nothing."""
    hosts: Sequence[str] = ()
    """Names that the server answers to; none: every name."""
    is_by_address: bool = False
    """Whether it also answers to addresses, beside these names: a page that is led here says a name, its own."""
    origins: Sequence[str] = ()
    """Pages of other servers that may ask from a browser; none: no page but its own. "*": every page."""

    def __post_init__(self) -> None:
        """Refuse what is stated and empty, as an unset variable of a shell is: it would let everybody in.

        Raises:
            IconsError: one of them is empty.
        """
        stated = {
            "--token or ICONS_TOKEN": [self.token],
            "--host or --allow-host": self.hosts,
            "--allow-origin": self.origins,
        }
        for option, values in stated.items():
            if any(value is not None and not value.strip() for value in values):
                raise IconsError(f'{option} is "", which would let everybody in; give a value, or leave it out')


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
    _add_page(app)
    refuse_in_json(app)
    hosts = Hosts(access.hosts, is_by_address=access.is_by_address)
    app.add_middleware(Guard, metrics=service.metrics, token=access.token, hosts=hosts, origins=origins)
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
    for more in (pictures, usage, copies):
        app.include_router(more.router)
    app.include_router(api.open_router)
    app.include_router(api.router)  # its icons/{key} would take the addresses of their pictures
    return app


def _add_page(app: FastAPI) -> None:
    """Serve the page and what belongs to it."""
    headers = {"Content-Security-Policy": PAGE_POLICY}

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=headers)

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
