"""What holds for every request: who may ask, what a browser may do with it, what is said when there is no answer."""

import hmac
import ipaddress
import logging
import secrets
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
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
from search.web.connections import BusyError, TooSlowError
from search.web.metrics import Metrics

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


class Hosts:
    """The names that a server answers to: a page that leads its visitors here under a name of its own gets nothing."""

    def __init__(self, names: Collection[str], *, is_by_address: bool) -> None:
        self._names = frozenset(names)
        self._is_by_address = is_by_address

    def __contains__(self, host: str) -> bool:
        """Whether a server that is called so answers; with no names it answers to all."""
        return not self._names or host in self._names or (self._is_by_address and _is_address(host))


class Guard:
    """Around the app: checks the host, the page that asks and the token, adds headers, measures."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        token: str | None,
        hosts: "Hosts",
        origins: Collection[str],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._token = token
        self._session = secrets.token_urlsafe(32)
        """What a browser that was let in brings; of this process alone."""
        self._hosts = hosts
        self._origins = frozenset(origins)
        self._headers = dict(_HEADERS, **{"Cross-Origin-Resource-Policy": "cross-origin"} if origins else {})

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
            await (self._refuse(asked) or self._app)(asked, receive, send_guarded)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.count({**asked, "method": scope["method"]}, status=status, seconds=seconds)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = host_of(headers.get("host", ""))
        if host not in self._hosts:
            # A page from elsewhere whose name is made to point here (DNS rebinding) still says its own name.
            return JSONResponse({"error": f'this server does not answer as "{host[:100]}"; see --allow-host'}, 421)
        if page := self._foreign_page(scope, headers):
            return JSONResponse({"error": f'"{page[:100]}" may not ask this server; see --allow-origin'}, 403)
        if scope["query_string"].count(b"&") >= MOST_PARAMETERS:
            return JSONResponse({"error": f"more than {MOST_PARAMETERS} parameters"}, 400)
        return None if scope["path"] in OPEN_PATHS or self._token is None else self._refuse_stranger(scope, headers)

    def _refuse_stranger(self, scope: Scope, headers: Headers) -> Response | None:
        token = _query(scope).get("token", [""])[0]
        if scope["path"] == "/" and scope["method"] == "GET" and self._is_token(token):
            return self._let_in(scope)
        if self._is_known(scope, headers):
            return None
        return JSONResponse(
            {"error": "send the header Authorization: Bearer TOKEN, or open /?token=TOKEN in a browser"},
            401,
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _foreign_page(self, scope: Scope, headers: Headers) -> str | None:
        """Name the page of another server that has a browser ask; None for own pages, allowed ones, and programs.

        Following a link is what a person does, once; whatever a page loads by itself it can load a thousand times.
        """
        origin = headers.get("origin") or _origin_of(headers.get("referer", ""))
        if ANY_PAGE in self._origins or origin.lower() in self._origins:
            return None
        site = headers.get("sec-fetch-site")
        if site is None:  # a program, or a browser that does not tell where networks are not encrypted
            is_own = not origin or _is_at(origin, headers.get("host", ""))
            is_followed = scope["path"] == "/" and "origin" not in headers
        else:
            is_own = site in ("same-origin", "none")
            is_page = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
            is_followed = is_page and "sec-purpose" not in headers  # a page may have links fetched before any click
        is_reading = scope["method"] == "GET"
        return None if is_own or (is_followed and is_reading) else origin or "a page of another server"

    def _let_in(self, scope: Scope) -> Response:
        """Take the token out of the address: pictures of a page can't send a header, but a cookie they send."""
        rest = [(name, value) for name, values in _query(scope).items() if name != "token" for value in values]
        response = RedirectResponse(f"/?{urlencode(rest)}" if rest else "/", 303)
        response.set_cookie(cookie_name(scope), self._session, httponly=True, samesite="strict")
        return response

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(token.strip())
        session = HTTPConnection(scope).cookies.get(cookie_name(scope), "")
        return hmac.compare_digest(session.encode(errors="replace"), self._session.encode())

    def _is_token(self, token: str) -> bool:
        assert self._token is not None
        return hmac.compare_digest(token.encode(errors="replace"), self._token.encode())


def _is_address(host: str) -> bool:
    """Whether a host is an address: 192.168.1.7."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def host_of(header: str) -> str:
    """The host of a Host header, without its port: "[::1]:8000" -> "::1"."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def cookie_name(scope: Scope) -> str:
    """What the cookie of this server is called: all ports of a host share their cookies."""
    _, port = scope.get("server") or ("", None)
    return f"icons_session_{port}" if port else "icons_session"


def _origin_of(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if rest else ""


def _is_at(origin: str, host: str) -> bool:
    """Whether an origin is that of a Host header; a port that goes without saying may be left out of either."""
    page, own = urlsplit(origin), urlsplit(f"//{host}")
    usual = {"http": 80, "https": 443}.get(page.scheme)
    with suppress(ValueError):  # a port that is none
        return (page.hostname, page.port or usual) == (own.hostname, own.port or usual)
    return False


def _query(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)


_log = logging.getLogger(__name__)
_MOST_ERRORS = 10
"""Errors of one request that its refusal names."""
_SHOWN = 100
"""Characters of a refused value in a refusal."""


def refuse_in_json(app: FastAPI) -> None:
    """Give every error that can leave a request its status and its sentence."""
    ours, of_http = (IconsError, BusyError, TooSlowError), (RequestValidationError, HTTPException, ClientDisconnect)
    for kind in (*ours, *of_http, Exception):
        app.add_exception_handler(kind, _refuse)


async def _refuse(_: Request, error: Exception) -> JSONResponse:
    headers: Mapping[str, str] | None = None
    match error:
        case UnknownIconError():
            status, sentence = 404, str(error)
        case RenderError():
            status, sentence = 422, f"the picture can't be drawn: {error}"
        case SourceError():
            _log.warning("%s", error)  # its message names files of this machine
            gone = "the picture of this icon has gone or changed since it was indexed"
            status, sentence = 410, f"{gone}; `icons index` mends it"
        case UnreachableError():
            _log.error("%s", error)  # its message names the server
            headers = {"Retry-After": "5"}
            status, sentence = 503, "the server that holds the icons does not answer at the moment; try again"
        case LibraryError() | EmbedError():
            _log.error("%s", error)
            headers = {"Retry-After": "5"}
            status, sentence = 503, "the library can't be read at the moment; the server's log says why"
        case IconsError():
            status, sentence = 400, str(error)
        case BusyError():
            headers = {"Retry-After": "1"}
            status, sentence = 503, "too many ask at the moment; try again in a second"
        case TooSlowError():
            headers = {"Retry-After": "1"}
            status, sentence = 504, str(error)
        case RequestValidationError():
            status, sentence = 422, "; ".join(map(_reason, error.errors()[:_MOST_ERRORS]))
        case HTTPException():
            headers = error.headers
            status, sentence = error.status_code, str(error.detail)
        case ClientDisconnect():
            status, sentence = 400, "the request did not arrive"
        case _:
            status, sentence = 500, "something went wrong here; the server's log says what"
    return JSONResponse({"error": sentence}, status, headers=headers)


def _reason(invalid: Mapping[str, Any]) -> str:
    """Why one parameter is refused."""
    name = ".".join(str(part) for part in invalid["loc"][1:])
    value = str(invalid.get("input"))
    shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
    return f'{name or "request"} is "{shown}": {invalid["msg"]}'
