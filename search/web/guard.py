"""What holds for every request: who may ask, what a browser may do with it, what is said when there is no answer.

And how many there were: this module alone knows the library of Prometheus.
"""

import hmac
import ipaddress
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from indexer.errors import (
    EmbedError,
    IconsError,
    LibraryError,
    RenderError,
    SourceError,
    UnknownIconError,
    UnreachableError,
)
from indexer.sources.records import shown
from search.web.connections import BusyError, TooSlowError

OPEN_PATHS = ("/health",)
"""Asked by whoever watches the server; tells nothing of the icons."""
MOST_PARAMETERS = 500
"""Of one request; more than any path takes, and few enough to be read in no time."""
ANY_PAGE = "*"

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Metrics:
    """One server's figures, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.text = partial(generate_latest, self._registry)
        """All figures, in the text format."""
        ProcessCollector(registry=self._registry)  # memory, processor time, open files
        self._requests = Counter(
            "icons_requests_total", "Requests answered.", ["route", "method", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "icons_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, registry=self._registry
        )

    def watch(self, name: str, meaning: str, value: Callable[[], float]) -> None:
        """Add a figure that is read when it is asked for."""
        Gauge(name, meaning, registry=self._registry).set_function(value)

    def count(self, scope: Scope, *, status: int, seconds: float) -> None:
        """Note a request. Routes are counted by their pattern, so that ids and junk make no series of their own."""
        route = getattr(scope.get("route"), "path_format", "other")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "OPTIONS") else "other"
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(seconds)


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

    def answers_to(self, host: str) -> bool:
        """Whether a server that is called so answers: a page that leads its visitors here says a name of its own."""
        if self.is_by_address:
            with suppress(ValueError):
                return bool(ipaddress.ip_address(host))
        return not self.hosts or host in self.hosts

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


class Guard:
    """Around the app: checks the host, the page that asks and the token, adds headers, measures."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, access: Access) -> None:
        self._app = app
        self._metrics = metrics
        self._access = access
        self._session = secrets.token_urlsafe(32)
        """What a browser that was let in brings; of this process alone."""
        opened = {"Cross-Origin-Resource-Policy": "cross-origin"} if access.origins else {}
        self._headers = _HEADERS | opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status, is_head = 500, scope["method"] == "HEAD"

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # A HEAD is answered as the GET that it asks about: every path has one, none has to know.
        asked = {**scope, "method": "GET"} if is_head else scope
        try:
            await (self._refuse(Request(asked)) or self._app)(asked, receive, send_guarded)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.count({**asked, "method": scope["method"]}, status=status, seconds=seconds)

    def _refuse(self, request: Request) -> Response | None:
        host = host_of(request.headers.get("host", ""))
        if not self._access.answers_to(host):
            # A page from elsewhere whose name is made to point here (DNS rebinding) still says its own name.
            return JSONResponse({"error": f'this server does not answer as "{host[:100]}"; see --allow-host'}, 421)
        if page := self._foreign_page(request):
            return JSONResponse({"error": f'"{page[:100]}" may not ask this server; see --allow-origin'}, 403)
        if request.scope["query_string"].count(b"&") >= MOST_PARAMETERS:
            return JSONResponse({"error": f"more than {MOST_PARAMETERS} parameters"}, 400)
        is_open = self._access.token is None or request.scope["path"] in OPEN_PATHS
        return None if is_open else self._refuse_stranger(request)

    def _refuse_stranger(self, request: Request) -> Response | None:
        name, token, own = cookie_name(request.scope), request.query_params.get("token", ""), self._access.token
        if (request.scope["path"], request.method) == ("/", "GET") and _is_same(token, own):
            # The token leaves the address: pictures of a page can't send a header, but a cookie they send.
            rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            response = RedirectResponse(f"/?{urlencode(rest)}" if rest else "/", 303)
            response.set_cookie(name, self._session, httponly=True, samesite="strict")
            return response
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer"
        if _is_same(*(token.strip(), own) if is_bearer else (request.cookies.get(name, ""), self._session)):
            return None
        hint = "send the header Authorization: Bearer TOKEN, or open /?token=TOKEN in a browser"
        return JSONResponse({"error": hint}, 401, headers={"WWW-Authenticate": "Bearer"})

    def _foreign_page(self, request: Request) -> str | None:
        """Name the page of another server that has a browser ask; None for own pages, allowed ones, and programs.

        Following a link is what a person does, once; whatever a page loads by itself it can load a thousand times.
        """
        headers = request.headers
        scheme, _, rest = headers.get("referer", "").partition("://")
        origin = headers.get("origin") or (f"{scheme}://{rest.partition('/')[0]}" if rest else "")
        if {ANY_PAGE, origin.lower()} & set(self._access.origins):
            return None
        site = headers.get("sec-fetch-site")
        if site is None:  # a program, or a browser that does not tell where networks are not encrypted
            is_own = not origin or _is_at(origin, headers.get("host", ""))
            is_followed = request.scope["path"] == "/" and "origin" not in headers
        else:
            is_own = site in ("same-origin", "none")
            is_page = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
            is_followed = is_page and "sec-purpose" not in headers  # a page may have links fetched before any click
        return None if is_own or (is_followed and request.method == "GET") else origin or "a page of another server"


def _is_same(text: str, secret: str | None) -> bool:
    return secret is not None and hmac.compare_digest(text.encode(errors="replace"), secret.encode(errors="replace"))


def host_of(header: str) -> str:
    """The host of a Host header, without its port: "[::1]:8000" -> "::1"."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def cookie_name(scope: Scope) -> str:
    """What the cookie of this server is called: all ports of a host share their cookies."""
    _, port = scope.get("server") or ("", None)
    return f"icons_session_{port}" if port else "icons_session"


def _is_at(origin: str, host: str) -> bool:
    """Whether an origin is that of a Host header; a port that goes without saying may be left out of either."""
    page, own = urlsplit(origin), urlsplit(f"//{host}")
    usual = {"http": 80, "https": 443}.get(page.scheme)
    with suppress(ValueError):  # a port that is none
        return (page.hostname, page.port or usual) == (own.hostname, own.port or usual)
    return False


_log = logging.getLogger(__name__)
_MOST_ERRORS = 10
"""Errors of one request that its refusal names."""
_AWAY = "the server that holds the icons does not answer at the moment; try again"
_DAMAGED = "the library can't be read at the moment; the server's log says why"
_GONE = "the picture of this icon has gone or changed since it was indexed"
_REFUSALS: dict[type[Exception], tuple[int, str, int, int]] = {
    UnknownIconError: (404, "{}", 0, 0),
    RenderError: (422, "the picture can't be drawn: {}", 0, 0),
    SourceError: (410, _GONE, 0, logging.WARNING),  # its message names files of this machine
    UnreachableError: (503, _AWAY, 5, logging.ERROR),  # ... or the server
    LibraryError: (503, _DAMAGED, 5, logging.ERROR),
    EmbedError: (503, _DAMAGED, 5, logging.ERROR),
    IconsError: (400, "{}", 0, 0),
    BusyError: (503, "too many ask at the moment; try again in a second", 1, 0),
    TooSlowError: (504, "{}", 1, 0),
    ClientDisconnect: (400, "the request did not arrive", 0, 0),
    Exception: (500, "something went wrong here; the server's log says what", 0, 0),
}
"""Status, sentence with {} for that of the error, seconds until another try, and how the error is logged, if at all."""


def refuse_in_json(app: FastAPI) -> None:
    """Give every error that can leave a request its status and its sentence."""
    for kind in (*_REFUSALS, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _refuse)


async def _refuse(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, RequestValidationError):
        return JSONResponse({"error": "; ".join(map(_reason, error.errors()[:_MOST_ERRORS]))}, 422)
    if isinstance(error, HTTPException):
        detail = error.detail
        if detail == "Not Found":  # as Starlette says it of a path
            detail = f'nothing is at "{shown(request.url.path)}"; /api/v1/openapi.json says what is where'
        return JSONResponse({"error": detail}, error.status_code, headers=error.headers)
    status, sentence, seconds, level = next(_REFUSALS[kind] for kind in type(error).__mro__ if kind in _REFUSALS)
    if level:
        _log.log(level, "%s", error)
    headers = {"Retry-After": str(seconds)} if seconds else None
    said = error.plain if isinstance(error, IconsError) else error
    return JSONResponse({"error": sentence.format(said)}, status, headers=headers)


def _reason(invalid: Mapping[str, Any]) -> str:
    """Why one parameter is refused; what is no text is not repeated, as Python's spelling of it helps nobody."""
    name, value = ".".join(str(part) for part in invalid["loc"][1:]) or "request", invalid.get("input")
    said = f' is "{shown(value)}"' if isinstance(value, str) else ""
    return f"{name}{said}: {invalid['msg'].removeprefix('Value error, ')}"
