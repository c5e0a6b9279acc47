"""What a request asks: its parameters as a query; a picture or a list of icons in its body.

Fields are called as those of the engine's own classes; an alias is what the address says.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import Depends
from fastapi import Path as PathParameter
from fastapi import Query as QueryParameter
from fastapi.exceptions import RequestValidationError
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from search.drawings.frameworks import COLOUR, is_colour
from search.query import MOST_HITS, MOST_LANGUAGES, MOST_OFFSET, MOST_WITHOUT, Filters, Query, Sort, Window
from search.screens.locate import MOST_NAMES
from search.screens.results import AsKind
from search.web.connections import BusyError, Limits

_LONGEST_KEY = 500
IconKey = Annotated[
    str,
    PathParameter(description="Key of an icon (mdi:home), its id, or a name.", max_length=_LONGEST_KEY),
]
"""Keys of some sets hold slashes: @mdi/svg:home."""
Key = Annotated[str, Field(max_length=_LONGEST_KEY)]
Layers = Annotated[
    list[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,17}(-[0-9a-f]{32})?$")]],
    QueryParameter(
        alias="image",
        max_length=100,
        description="`image` of a hit, or better IMAGE-DIGEST by its `image` and `digest`, which can mean no other.",
    ),
]


def _known_colour(typed: str | None) -> str | None:
    if typed and not is_colour(typed):
        raise ValueError("no colour; give a name or a number, as navy or #08f")
    return typed


_Colour = Annotated[str | None, AfterValidator(_known_colour)]
_Coloured = Annotated[_Colour, QueryParameter(pattern=COLOUR, description="For what the icon leaves open: #08f, navy.")]


def _colour_of(
    colour: _Coloured = None,
    color: Annotated[_Colour, QueryParameter(pattern=COLOUR, deprecated=True, description="As `colour`.")] = None,
) -> str | None:
    """The colour of an icon; addresses of older pages and programs say "color"."""
    return colour or color


Colour = Annotated[str | None, Depends(_colour_of)]

Text = Annotated[str, Field(max_length=200)]
Without = Annotated[
    tuple[Text, ...],
    QueryParameter(alias="not", max_length=MOST_WITHOUT, description="What to steer away from. Repeatable."),
]
Texts = Annotated[tuple[Text, ...], Field(max_length=50)]


def _cut_at_commas(values: object) -> object:
    """Cut "de,fr" at its commas; values that are no texts are left to whoever checks them."""
    if not isinstance(values, (list, tuple)):
        return values
    return [part.strip() for value in values for part in (value.split(",") if isinstance(value, str) else [value])]


Languages = Annotated[
    tuple[Text, ...],
    Field(max_length=MOST_LANGUAGES),
    # The header Accept-Language is not read: the address alone says what is asked, whoever sends it again.
    BeforeValidator(_cut_at_commas),
    QueryParameter(
        alias="language",
        description="A language that the user reads, most used first: de, pt-BR. Repeatable, or a list with commas; it "
        "decides where a word is two languages'. Words of any language are read without.",
    ),
]


LeastScore = Annotated[
    float | None,
    Field(ge=0, le=1, description="Least score of a hit; if not given, what separates right from wrong here."),
]


class FilterParameters(BaseModel):
    """What a hit must be. An unknown parameter is refused."""

    model_config = ConfigDict(extra="forbid")

    sets: Texts = Field((), alias="set", description="Only icons of this set. Repeatable, as all that follow.")
    styles: Texts = Field((), alias="style", description="outline or line, filled or solid, duotone, color, ...")
    corners: Texts = Field((), alias="corner", description="rounded, sharp")
    categories: Texts = Field((), alias="category")
    tags: Texts = Field((), alias="tag")
    licences: Texts = Field((), alias="licence", description="An SPDX id, or a family: permissive, copyleft, ...")
    sizes: Annotated[tuple[int, ...], Field(max_length=50)] = Field(
        (), alias="size", description="Of the grid that it is drawn on, in px."
    )
    animated: bool | None = None
    coloured: bool | None = Field(None, description="true: of several colours; false: of one.")

    def filters(self) -> Filters:
        """Spell them as the engine takes them."""
        return Filters(**self._taken(Filters))

    def _taken(self, kind: type[Filters | Window | Query]) -> dict[str, Any]:
        """Values of the parameters that are fields of a kind."""
        return {field.name: getattr(self, field.name) for field in fields(kind) if hasattr(self, field.name)}


class LocateParameters(FilterParameters):
    """What is asked about a picture with icons, beside what a name must be."""

    k: int = Field(5, ge=1, le=MOST_NAMES, description="How many hits of each icon.")
    as_kind: AsKind | None = Field(
        None, description="What the picture shows: icon, one alone; screen, many. It is judged if not given."
    )
    min_score: LeastScore = None


class HitParameters(FilterParameters):
    """What a hit must be, and which part of the answer is asked for."""

    k: int = Field(10, ge=1, le=MOST_HITS, description="How many hits.")
    offset: int = Field(0, ge=0, le=MOST_OFFSET, description="Hits to leave out at the beginning: for pages.")
    sort: Sort = Field(
        "relevance",
        description="relevance; name, as people count: arrow-2 before arrow-10; set, then name; newest: the last "
        "indexed. Of a query's hits the best 1,000 are sorted. Where nothing is looked for, relevance means set.",
    )
    min_score: LeastScore = None
    flat: bool = Field(False, description="Every icon by itself: no grouping of variants.")
    facets: bool = Field(False, description="Count sets, styles, corners, licences, ... of what is found.")

    def window(self) -> Window:
        """Spell them as the engine takes them."""
        return Window(**self._taken(Window))


class WordParameters(HitParameters):
    """Words that are looked for, beside what a hit must be."""

    words: Text = Field(alias="q")
    without: Without = ()
    languages: Languages = ()
    prefer: Annotated[tuple[Text, ...] | None, Field(max_length=50)] = Field(
        None,
        description="A set that comes first where several have an icon. Repeatable; `icons config sets` if not given.",
    )

    def query(self, *, picture: NDArray[np.uint8] | None = None) -> Query:
        """Spell it as the engine takes it."""
        return Query(picture=picture, **self._taken(Query))


class SearchParameters(WordParameters):
    """What is looked for, beside what a hit must be."""

    words: str = Field(
        "",
        alias="q",
        max_length=10_000,
        description="What it means, how it looks, or its name. Without it, and without `icon`, all icons that the "
        "filters leave are shown: by set, if `sort` says nothing else.",
    )
    keyword: bool = Field(False, description='Take q for a keyword query: prefix*, "a phrase", -excluded.')
    like: str | None = Field(
        None,
        alias="icon",
        max_length=_LONGEST_KEY,
        description="More like this icon: its key (mdi:home), its id, or a name.",
    )
    picture_share: float = Field(0.5, ge=0, le=1, description="Share of the picture or icon beside words.")


FIELD = "picture"
_FORM_BYTES = 10_000
"""For boundaries and headers of a form, beside its picture."""
_HEARD_OUT = 4
"""Times the limit that are read, and thrown away, so that the sender hears why; beyond that the connection ends."""
_CLOSE = {"Connection": "close"}
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
"""How OpenAPI describes it."""


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
        """Put into `body` what arrives; a sender that hardly gets on is refused."""
        stated, allowed = request.headers.get("content-length", ""), most + _FORM_BYTES
        if stated.isascii() and stated.isdigit() and int(stated) > _HEARD_OUT * allowed:
            raise _too_large(most, headers=_CLOSE)
        now, n = asyncio.get_running_loop().time, 0
        latest, ends = now() + self._limits.upload_seconds, now() + _PATIENCE_SECONDS
        try:
            async with asyncio.timeout_at(ends) as patience:
                async for chunk in request.stream():
                    n += len(chunk)
                    if n > _HEARD_OUT * allowed:
                        raise _too_large(most, headers=_CLOSE)
                    if n <= allowed and len(chunk) > self._room:
                        raise BusyError
                    if n <= allowed:
                        self._room -= len(chunk)
                        body += chunk
                    ends = min(ends + len(chunk) / _LEAST_BYTES_A_SECOND, now() + _PATIENCE_SECONDS, latest)
                    patience.reschedule(ends)
        except TimeoutError as error:
            limit = f"{self._limits.upload_seconds:g} s, at {_LEAST_BYTES_A_SECOND / 1000:g} kB/s or more"
            raise HTTPException(408, f"the {what} did not arrive within {limit}", headers=_CLOSE) from error
        if n > allowed:
            raise _too_large(most)


def json_body(kind: type[BaseModel]) -> dict[str, Any]:
    """Tell OpenAPI of a body that `Uploads.json` reads."""
    return {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}


async def _from_form(request: Request, body: bytes) -> bytes:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        # The boundary alone: a sender may name any codec of Python's, slow ones too, for names of fields.
        _, named = parse_options_header(request.headers["content-type"])
        headers = Headers(raw=[(b"content-type", b'multipart/form-data; boundary="%b"' % named[b"boundary"])])
        form = await MultiPartParser(headers, stream(), max_files=1, max_fields=10).parse()
    except (MultiPartException, KeyError) as error:
        raise HTTPException(400, f"the form can't be read: {error}") from error
    picture = form.get(FIELD)
    if not isinstance(picture, UploadFile):
        raise HTTPException(422, f'the form holds no file "{FIELD}"')
    try:
        return await picture.read()
    finally:
        await form.close()


def _too_large(most: int, *, headers: dict[str, str] | None = None) -> HTTPException:
    return HTTPException(413, f"what is sent has more than {most / 1e6:g} MB", headers=headers)
