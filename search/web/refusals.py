"""What is said when there is no answer? One sentence, one form, and nothing of the inside."""

import logging
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from indexer.errors import EmbedError, IconsError, LibraryError, RenderError, SourceError, UnknownIconError
from search.web.gate import BusyError, TooSlowError

_log = logging.getLogger(__name__)
_TOLD = 10
"""Errors of one request that are told; each has the same form."""
_SHOWN = 100
"""Characters of a refused value that are told back."""


def refuse_in_json(app: FastAPI) -> None:
    """Give every error that can leave a request its status and its sentence."""
    app.add_exception_handler(IconsError, _of_ours)
    app.add_exception_handler(BusyError, _busy)
    app.add_exception_handler(TooSlowError, _too_slow)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(ClientDisconnect, _hung_up)
    app.add_exception_handler(Exception, _defect)


def _refusal(status: int, error: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": error}, status, headers=headers)


async def _of_ours(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, UnknownIconError):
        return _refusal(404, str(error))
    if isinstance(error, RenderError):
        return _refusal(422, f"the picture can't be drawn: {error}")
    if isinstance(error, SourceError):  # its message names files of this machine
        _log.warning("%s", error)
        return _refusal(
            410, "the picture of this icon has gone or changed since it was indexed; `icons index` mends it"
        )
    if isinstance(error, LibraryError | EmbedError):
        _log.error("%s", error)
        return _refusal(503, "the library can't be read at the moment; the server's log says why", {"Retry-After": "5"})
    return _refusal(400, str(error))


async def _busy(request: Request, error: Exception) -> JSONResponse:
    return _refusal(503, "too many ask at the moment; try again in a second", {"Retry-After": "1"})


async def _too_slow(request: Request, error: Exception) -> JSONResponse:
    return _refusal(504, str(error), {"Retry-After": "1"})


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    reasons = []
    for one in error.errors()[:_TOLD]:
        name = ".".join(str(part) for part in one["loc"][1:])
        value = str(one.get("input"))
        shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
        reasons.append(f'{name or "request"} is "{shown}": {one["msg"]}')
    return _refusal(422, "; ".join(reasons))


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _refusal(error.status_code, str(error.detail), error.headers)


async def _hung_up(request: Request, error: Exception) -> JSONResponse:
    return _refusal(400, "the request did not arrive")


async def _defect(request: Request, error: Exception) -> JSONResponse:
    return _refusal(500, "something went wrong here; the server's log says what")
