"""How does a picture arrive, or a list of icons? As a body, or one file of a form, never larger than the limit."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from search.web.gate import BusyError, Limits

FIELD = "picture"
_FORM_BYTES = 10_000
"""For boundaries and headers of a form, beside its picture."""
_HEARD_OUT = 4
"""Times the limit that are read, and thrown away, so that the one who sends hears why; beyond that it is hung up."""
_HANG_UP = {"Connection": "close"}
_JSON_BYTES = 1_000_000
"""Of a request that names icons."""
_MOST_AT_ONCE = 4
"""Bodies of the largest size that there is room for, a thread."""
_PATIENCE_SECONDS = 5.0
"""For the first bytes of a body, and for a pause between two."""
_LEAST_BYTES_A_SECOND = 4_000
"""That a body brings on average; a pause uses up what was quicker."""
Model = TypeVar("Model", bound=BaseModel)

BODY = {
    "required": True,
    "content": {
        "image/*": {"schema": {"type": "string", "format": "binary"}},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": [FIELD],
                "properties": {FIELD: {"type": "string", "format": "binary"}},
            }
        },
    },
}
"""How OpenAPI is told of it."""


class Uploads:
    """Bodies of requests. Nobody has a place before all of it is there; what has come takes room in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._room = _MOST_AT_ONCE * limits.threads * max(limits.upload_bytes + _FORM_BYTES, _JSON_BYTES)
        """Bytes that may still come."""

    @asynccontextmanager
    async def picture(self, request: Request) -> AsyncIterator[bytes]:
        """Read the picture that a request brings; it has its room until the block ends.

        Raises:
            HTTPException: it is too large, too slow, empty, or not where it should be.
            BusyError: there is no room for it.
        """
        most = self._limits.upload_bytes
        async with self._body(request, "picture", most) as body:
            is_form = request.headers.get("content-type", "").lower().startswith("multipart/form-data")
            picture = await _from_form(request, body) if is_form else body
            if len(picture) > most:
                raise _too_large(most)
            if not picture:
                reason = 'the picture is empty; send its bytes as the body, or as the file "picture" of a form'
                raise HTTPException(422, reason)
            yield picture

    async def json(self, request: Request, kind: type[Model]) -> Model:
        """Read what a request asks for in its body, as JSON.

        Raises:
            HTTPException: it is too large, or too slow.
            BusyError: there is no room for it.
            RequestValidationError: it is not what is declared.
        """
        async with self._body(request, "request", _JSON_BYTES) as body:
            try:
                return kind.model_validate_json(body)
            except ValidationError as error:
                reasons = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
                raise RequestValidationError(reasons) from error

    @asynccontextmanager
    async def _body(self, request: Request, what: str, most: int) -> AsyncIterator[bytes]:
        body = bytearray()
        try:
            await self._read(request, what, most, body)
            yield bytes(body)
        finally:
            self._room += len(body)

    async def _read(self, request: Request, what: str, most: int, body: bytearray) -> None:
        """Put into `body` what arrives; who hardly gets on is given up."""
        stated, allowed = request.headers.get("content-length", ""), most + _FORM_BYTES
        if stated.isascii() and stated.isdigit() and int(stated) > _HEARD_OUT * allowed:
            raise _too_large(most, headers=_HANG_UP)
        now, n = asyncio.get_running_loop().time, 0
        latest = now() + self._limits.upload_seconds
        ends = now() + _PATIENCE_SECONDS
        try:
            async with asyncio.timeout_at(ends) as patience:
                async for chunk in request.stream():
                    n += len(chunk)
                    if n > _HEARD_OUT * allowed:
                        raise _too_large(most, headers=_HANG_UP)
                    if n <= allowed:
                        self._take(chunk, body)
                    ends = min(ends + len(chunk) / _LEAST_BYTES_A_SECOND, now() + _PATIENCE_SECONDS, latest)
                    patience.reschedule(ends)
        except TimeoutError as error:
            limit = f"{self._limits.upload_seconds:g} s, at {_LEAST_BYTES_A_SECOND / 1000:g} kB/s or more"
            raise HTTPException(408, f"the {what} did not arrive within {limit}", headers=_HANG_UP) from error
        if n > allowed:
            raise _too_large(most)

    def _take(self, chunk: bytes, body: bytearray) -> None:
        if len(chunk) > self._room:
            raise BusyError
        self._room -= len(chunk)
        body += chunk


def json_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Tell OpenAPI of a body that `Uploads.json` reads."""
    return {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}


async def _from_form(request: Request, body: bytes) -> bytes:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        form = await MultiPartParser(_as_utf8(request.headers), stream(), max_files=1, max_fields=10).parse()
    except (MultiPartException, KeyError) as error:
        raise HTTPException(400, f"the form can't be read: {error}") from error
    picture = form.get(FIELD)
    if not isinstance(picture, UploadFile):
        raise HTTPException(422, f'the form holds no file "{FIELD}"')
    try:
        return await picture.read()
    finally:
        await form.close()


def _as_utf8(headers: Headers) -> Headers:
    """Leave a form its boundary alone: a sender may name any codec of Python's, slow ones too, for names of fields."""
    _, named = parse_options_header(headers["content-type"])
    return Headers(raw=[(b"content-type", b'multipart/form-data; boundary="%b"' % named[b"boundary"])])


def _too_large(most: int, *, headers: dict[str, str] | None = None) -> HTTPException:
    return HTTPException(413, f"what is sent has more than {most / 1e6:g} MB", headers=headers)
