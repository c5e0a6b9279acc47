"""How does a picture arrive, or a list of icons? As a body, or one file of a form, never larger than the limit."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from search.web.gate import Limits

FIELD = "picture"
_FORM_BYTES = 10_000
"""For boundaries and headers of a form, beside its picture."""
_HEARD_OUT = 4
"""Times the limit that are read, and thrown away, so that the one who sends hears why; beyond that it is hung up."""
_HANG_UP = {"Connection": "close"}
_JSON_BYTES = 1_000_000
"""Of a request that names icons."""
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


async def read_upload(request: Request, limits: Limits) -> bytes:
    """Read the picture that a request brings.

    Raises:
        HTTPException: it is too large, too slow, empty, or not where it should be.
    """
    try:
        async with asyncio.timeout(limits.upload_seconds):
            body = await _read_body(request, limits)
    except TimeoutError as error:
        reason = f"the picture did not arrive within {limits.upload_seconds:g} s"
        raise HTTPException(408, reason, headers=_HANG_UP) from error
    if request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        body = await _from_form(request, body)
    if len(body) > limits.upload_bytes:
        raise _too_large(limits)
    if not body:
        raise HTTPException(422, 'the picture is empty; send its bytes as the body, or as the file "picture" of a form')
    return body


async def read_json(request: Request, limits: Limits, kind: type[Model]) -> Model:
    """Read what a request asks for in its body, as JSON.

    Raises:
        HTTPException: it is too large, or too slow.
        RequestValidationError: it is not what is declared.
    """
    small = replace(limits, upload_bytes=_JSON_BYTES)
    try:
        async with asyncio.timeout(limits.upload_seconds):
            body = await _read_body(request, small)
    except TimeoutError as error:
        reason = f"the request did not arrive within {limits.upload_seconds:g} s"
        raise HTTPException(408, reason, headers=_HANG_UP) from error
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        told = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(told) from error


def json_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Tell OpenAPI of a body that `read_json` reads."""
    return {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}


async def _read_body(request: Request, limits: Limits) -> bytes:
    most = limits.upload_bytes + _FORM_BYTES
    stated = request.headers.get("content-length", "")
    n = int(stated) if stated.isascii() and stated.isdigit() else 0
    if n > _HEARD_OUT * most:
        raise _too_large(limits, headers=_HANG_UP)
    body, n = bytearray(), 0
    async for chunk in request.stream():
        n += len(chunk)
        if n > _HEARD_OUT * most:
            raise _too_large(limits, headers=_HANG_UP)
        if n <= most:
            body += chunk
    if n > most:
        raise _too_large(limits)
    return bytes(body)


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


def _too_large(limits: Limits, *, headers: dict[str, str] | None = None) -> HTTPException:
    return HTTPException(413, f"what is sent has more than {limits.upload_bytes / 1e6:g} MB", headers=headers)
