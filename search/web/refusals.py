"""What is said when there is no answer? One sentence, one form, and nothing of the inside."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from indexer.errors import (
    EmbedError,
    IconsError,
    LibraryError,
    RenderError,
    SourceError,
    UnknownIconError,
    UnreachableError,
)
from search.web.gate import BusyError, TooSlowError

_log = logging.getLogger(__name__)
_TOLD = 10
"""Errors of one request that are told; each has the same form."""
_SHOWN = 100
"""Characters of a refused value that are told back."""


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
            status, sentence = 422, "; ".join(map(_reason, error.errors()[:_TOLD]))
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
