"""What holds for every request, whatever it asks: who may ask, what a browser may do with it, what is counted."""

import hashlib
import hmac
import time
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from search.web.metrics import Metrics

COOKIE = "icons_token"
OPEN_PATHS = ("/health",)
"""Asked by whoever watches the server; tells nothing of the icons."""

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Outermost of the app: checks the host and the token, adds headers, measures."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, token: str | None, hosts: Collection[str], is_shared: bool
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._token = token
        self._hosts = frozenset(hosts)
        self._headers = dict(_HEADERS, **{"Cross-Origin-Resource-Policy": "cross-origin"} if is_shared else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            refusal = self._refuse(scope)
            await (refusal or self._app)(scope, receive, send_guarded)
        finally:
            self._metrics.count(scope, status=status, seconds=time.perf_counter() - started)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = host_of(headers.get("host", ""))
        if self._hosts and host not in self._hosts:
            # A page from elsewhere whose name is made to point here (DNS rebinding) still says its own name.
            return JSONResponse({"error": f'this server does not answer as "{host[:100]}"; see --allow-host'}, 421)
        if self._token is None or scope["path"] in OPEN_PATHS or self._is_known(headers):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(given):
            return self._let_in(scope)
        return JSONResponse(
            {"error": "send the header Authorization: Bearer TOKEN, or open /?token=TOKEN in a browser"},
            401,
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _let_in(self, scope: Scope) -> Response:
        """Take the token out of the address: pictures of a page can't send a header, but a cookie they send."""
        assert self._token is not None
        rest = [(name, value) for name, values in _query(scope).items() if name != "token" for value in values]
        response = RedirectResponse(f"/?{urlencode(rest)}" if rest else "/", 303)
        response.set_cookie(COOKIE, _digest(self._token), httponly=True, samesite="strict")
        return response

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._is_token(given.strip())
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        assert self._token is not None
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), _digest(self._token).encode())

    def _is_token(self, given: str) -> bool:
        assert self._token is not None
        return hmac.compare_digest(given.encode(errors="replace"), self._token.encode())


def host_of(header: str) -> str:
    """The host of a Host header, without its port: "[::1]:8000" -> "::1"."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def _query(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _digest(token: str) -> str:
    return hashlib.sha256(f"icons {token}".encode()).hexdigest()
