"""The paths of the HTTP API: icons, sets, pictures, code and files to take away, screenshots."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from indexer.sources.records import shown
from search.drawings.export import Kind, Options
from search.drawings.frameworks import FRAMEWORKS, Corner, Look
from search.drawings.licences import Collection
from search.query import Query as EngineQuery
from search.web.answers import (
    API,
    CodeAnswer,
    ExplanationAnswer,
    FacetsAnswer,
    FrameworksAnswer,
    Health,
    IconAnswer,
    LocatedAnswer,
    PictureAnswer,
    Refusal,
    SearchAnswer,
    SetsAnswer,
    UsageAnswer,
    written,
)
from search.web.parameters import (
    BODY,
    Colour,
    HitParameters,
    IconKey,
    Key,
    Layers,
    LocateParameters,
    SearchParameters,
    WordParameters,
    json_body,
)
from search.web.service import Service
from search.web.svg import Layer, SentPicture, id_of

_WHEN = {
    400: "Asks for what can't be.",
    401: "The server wants a token.",
    403: "A page of another server asks, and may not.",
    404: "There is no such icon, or it has no such picture.",
    408: "What is sent came too slowly.",
    410: "The icon's file has gone or changed since it was indexed.",
    413: "What is sent, or asked for, is too large.",
    421: "The server does not answer to this name.",
    422: "A parameter is not as it should be, or a picture is none.",
    500: "Something went wrong; the server's log says what.",
    503: "Too busy; Retry-After says when to come back.",
    504: "No answer in time.",
}
_ALWAYS = (400, 401, 403, 421, 422, 500, 503, 504)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare the errors of a path beside those that every path has."""
    return {status: {"model": Refusal, "description": _WHEN[status]} for status in statuses}


async def refuse_unknown(request: Request) -> None:  # of one thread: FastAPI describes itself once, and not to two
    """Refuse a parameter that a path does not take: it may be a slip.

    Raises:
        HTTPException: it has one.
    """
    described = request.app.openapi()["paths"][request.scope["route"].path_format][request.method.lower()]
    known = [one["name"] for one in described.get("parameters", ()) if one["in"] == "query"]
    for name, value in request.query_params.items():
        if name not in known:
            takes = ", ".join(sorted(known)) or "none"
            raise HTTPException(422, f'{shown(name)} is "{shown(value)}": no parameter of this path; it takes {takes}')


def service_of(request: Request) -> Service:
    """The service that the app was made with."""
    return cast(Service, request.app.state.service)


Served = Annotated[Service, Depends(service_of)]


as_json = partial(Response, media_type="application/json")
"""Send what was written as its model says."""

router = APIRouter(responses=errors(*_ALWAYS), dependencies=[Depends(refuse_unknown)])
open_router = APIRouter(
    responses=errors(*(status for status in _ALWAYS if status != 401)), dependencies=[Depends(refuse_unknown)]
)
"""Paths that want no token."""


@router.get(
    f"{API}/search",
    response_model=SearchAnswer,
    summary="Find icons by words, or more like an icon; or browse them",
    responses=errors(404),
)
async def search(service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons by what they mean, how they look, or their name; by keywords; or more like an icon."""
    return as_json(await service.answer(asked))


@router.post(
    f"{API}/search",
    response_model=PictureAnswer,
    summary="Find icons by a picture",
    openapi_extra={"requestBody": BODY},
    responses=errors(404, 408, 413),
)
async def search_by_picture(request: Request, service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons that look like a picture: a screenshot, a drawing, any format and size; words may come along.

    The icons in a picture of a whole screen are for `locate`.
    """
    async with service.uploads.picture(request) as picture:
        query = asked.query(picture=await service.drawings.pixels(picture))
    return as_json((await service.search(query, asked, like=asked.like, kind=PictureAnswer)).content)


@router.post(
    f"{API}/locate",
    response_model=LocatedAnswer,
    summary="Find every icon in a picture of a screen",
    openapi_extra={"requestBody": BODY},
    responses=errors(408, 413),
)
async def locate(request: Request, service: Served, asked: Annotated[LocateParameters, Query()]) -> Response:
    """Find where icons are in a screenshot or a mock-up, and what each is called; or say that it shows one, or none."""
    async with service.uploads.picture(request) as picture:
        pass  # few wait for what comes, so that they need no room here
    return as_json(await service.locate(picture, asked))


@router.get(
    f"{API}/similar/{{icon:path}}",
    response_model=SearchAnswer,
    summary="Find icons like an icon",
    responses=errors(404),
)
async def similar(icon: IconKey, service: Served, asked: Annotated[HitParameters, Query()]) -> Response:
    """Find icons that look like one of the library: in other sets, in other styles."""
    return as_json((await service.search(EngineQuery(), asked, like=icon)).content)


@router.get(
    f"{API}/facets",
    response_model=FacetsAnswer,
    summary="What icons can be filtered by",
)
async def facets(service: Served) -> Response:
    """Tell the most frequent values of every filter, and how many icons of the library have each."""
    return as_json(await service.once("facets", lambda engine: written(FacetsAnswer, engine.facets())))


@router.get(f"{API}/sets", response_model=SetsAnswer, summary="All sets, as cards")
async def sets(service: Served) -> Response:
    """Tell of every set: how many icons it has, under what licence, in what styles, and eight of them to look at."""
    told = service.once(
        "sets", lambda engine: written(SetsAnswer, {"sets": engine.sets(), "generation": engine.generation.number})
    )
    return as_json(await told)


@router.get(
    f"{API}/icons/{{icon:path}}/why",
    response_model=ExplanationAnswer,
    summary="Why an icon stands where it stands",
    responses=errors(404),
)
async def why(icon: IconKey, service: Served, asked: Annotated[WordParameters, Query()]) -> Response:
    """Tell what each part of a search for some words says of an icon, beside the icon that comes first."""

    filters, window = asked.filters(), asked.window()
    return as_json(
        await service.ask(
            lambda engine: written(
                ExplanationAnswer,
                engine.explain(asked.query(), id_of(engine, icon), filters=filters, window=window),
            )
        )
    )


@open_router.get(
    "/health",
    response_model=Health,
    summary="Whether searches are answered",
    responses={503: {"model": Health, "description": 'They are not: status is "busy" or "failing".'}},
)
async def health(service: Served) -> Response:
    """Say whether a search would be answered now, and from which generation."""
    is_well, state = await service.health()
    return as_json(state, 200 if is_well else 503)


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Counters and times."}},
)
async def metrics(service: Served) -> Response:
    """Give counters and times."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


MOST_ICONS = 500
"""Of one request; more than a project takes in at once."""

Format = Annotated[str, Field(max_length=100, description="A name that `frameworks` tells: lucide-react, svg, ...")]
StrokeWidth = Annotated[float | None, Field(description="Of its widest stroke, in units of its viewBox.")]
Size = Annotated[int | None, Field(description="Of its longer side, in px.")]
Corners = Annotated[Corner | None, Field(description="Ends and joins of strokes.")]
ABOUT = "Icons-Export"
_MOST_NAMED = 20
"""Icons that were left out, and remarks, of one export: headers have little room."""
_DOWNLOAD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All files in one folder, with the licences of the sets.",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            ABOUT: {
                "description": "JSON: `icons`, how many are in it; `left_out`, keys of those that are not; `licences` "
                "summed up; `remarks`, how it is used and what a licence asks.",
                "schema": {"type": "string"},
            }
        },
    }
}


class ChosenIcons(BaseModel):
    """Which icons are taken, and in what look."""

    model_config = ConfigDict(extra="forbid")

    icons: list[Key] = Field(min_length=1, max_length=MOST_ICONS, description="Keys, ids or names.")
    colour: str | None = None
    stroke_width: StrokeWidth = None
    size: Size = None
    corner: Corners = None

    @property
    def look(self) -> Look:
        """How copies look."""
        return Look(colour=self.colour, stroke_width=self.stroke_width, size=self.size, corner=self.corner)


class CodeRequest(ChosenIcons):
    """Which icons are written, how, and in what look."""

    format: Format


class ExportRequest(ChosenIcons):
    """Which icons are exported, and how."""

    kind: Kind = Field("zip", description="zip: a file an icon; sprite; iconify: JSON; font; react: a package.")
    name: str = Field("icons", min_length=1, max_length=100, description="Of the collection.")
    prefix: Annotated[str | None, Field(max_length=200, description="Of Iconify JSON, a font, a package.")] = None
    skip_unreadable: bool = Field(False, description="Leave out what can't be exported so; else nothing is exported.")


def _look_of(
    colour: Colour,
    stroke_width: Annotated[StrokeWidth, Query()] = None,
    size: Annotated[Size, Query()] = None,
    corner: Annotated[Corners, Query()] = None,
) -> Look:
    return Look(colour=colour, stroke_width=stroke_width, size=size, corner=corner)


@router.get(
    f"{API}/frameworks",
    response_model=FrameworksAnswer,
    summary="For what icons can be written",
)
async def frameworks(service: Served) -> Response:
    """Tell every way to write an icon, and which sets it serves: packages of one set, of all sets, drawings."""
    return as_json(written(FrameworksAnswer, {"frameworks": list(FRAMEWORKS.values())}))


@router.get(
    f"{API}/icons/{{icon:path}}/code",
    response_model=CodeAnswer,
    summary="An icon as code",
    responses=errors(404, 410),
)
async def code(
    icon: IconKey,
    service: Served,
    framework: Annotated[Format, Query(alias="format")],
    look: Annotated[Look, Depends(_look_of)],
) -> Response:
    """Write an icon for a framework: what is imported, one use of it, and what has to be installed."""
    return as_json(await service.code([icon], framework, look))


@router.post(
    f"{API}/code",
    response_model=CodeAnswer,
    summary="Many icons as code",
    openapi_extra={"requestBody": json_body(CodeRequest)},
    responses=errors(404, 408, 410, 413),
)
async def code_of_many(request: Request, service: Served) -> Response:
    """Write icons for a framework: all imports as one, and one use an icon."""
    asked = await service.uploads.json(request, CodeRequest)
    return as_json(await service.code(asked.icons, asked.format, asked.look))


@router.post(
    f"{API}/export",
    summary="Chosen icons as a download",
    openapi_extra={"requestBody": json_body(ExportRequest)},
    response_class=Response,
    responses=_DOWNLOAD | errors(408, 413),
)
async def export(request: Request, service: Served) -> Response:
    """Give chosen icons as a zip of files, a sprite, Iconify JSON, a web font or a React package, with licences."""
    asked = await service.uploads.json(request, ExportRequest)
    made, content = await service.export(
        Collection(asked.name, tuple(dict.fromkeys(asked.icons))),
        asked.kind,
        Options(look=asked.look, prefix=asked.prefix, skip_unreadable=True),
        is_whole=not asked.skip_unreadable,
    )
    about = {
        "icons": len(made.icons),
        "left_out": [one.key for one in made.left_out[:_MOST_NAMED]],
        "n_left_out": len(made.left_out),
        "licences": made.licences,
        "remarks": made.remarks[:_MOST_NAMED],
    }
    headers = {"Content-Disposition": f'attachment; filename="{made.file_name}"', ABOUT: json.dumps(about)}
    return Response(content, media_type="application/zip", headers=headers)


SVG, _PNG = "image/svg+xml", "image/png"
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Opened by itself, a stored SVG runs no script, loads nothing, and belongs to no origin."""
LEFT_OUT = "Icons-Left-Out"
_LEFT_OUT_HEADER = {
    LEFT_OUT: {
        "description": "Ids of the images that are not in it: bitmaps, what can't be read or has another digest, and "
        "what would make it too large. Ask for each alone. Missing where all are in it.",
        "schema": {"type": "string"},
    }
}
_KEPT_SECONDS = 60
"""For which a browser may show the pictures of an answer without asking again."""

Digest = Annotated[
    str | None,
    Query(max_length=100, description="`digest` of the hit: if it is right, the answer may be kept for ever."),
]


def kinds(*, of: str, means: str, headers: dict[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    """Declare a picture, and that it has not changed."""
    drawn = {"content": {of: {"schema": {"type": "string", "format": "binary"}}}, "description": means}
    return {
        200: {**drawn, **({"headers": headers} if headers else {})},
        304: {"description": "It is as it was when it had the ETag that If-None-Match tells."},
    }


@router.get(
    f"{API}/icons/{{icon:path}}/svg",
    summary="An icon as SVG",
    response_class=Response,
    responses=kinds(of=SVG, means="The icon.") | errors(404, 410),
)
async def svg(icon: IconKey, service: Served, request: Request, colour: Colour = None, v: Digest = None) -> Response:
    """Give an icon's SVG as it is stored, or in a colour. It is sent so that no script in it can run."""
    missing = f'the icon "{icon}" is no SVG; {API}/icons/{icon}/png draws it'
    return sent(request, await service.drawings.svg(icon, colour=colour, digest=v), SVG, missing=missing)


@router.get(
    f"{API}/svgs",
    summary="Many pictures as one SVG",
    response_class=Response,
    responses=kinds(
        of=SVG,
        means="A layer a picture.",
        headers=_LEFT_OUT_HEADER,
    ),
)
async def svgs(service: Served, layers: Layers, request: Request) -> Response:
    """Give many pictures in one answer, for `img`: the fragment #i17-DIGEST, or #i17 where no digest was given, shows
    the image 17."""
    found, left_out = await service.drawings.svgs(list(map(Layer.read, layers)))
    return sent(request, found, SVG, left_out=left_out)


@router.get(
    f"{API}/search/svgs",
    summary="The pictures of what is found as one SVG",
    response_class=Response,
    responses=kinds(of=SVG, means="A layer a picture.", headers=_LEFT_OUT_HEADER) | errors(404),
)
async def search_svgs(service: Served, asked: Annotated[SearchParameters, Query()], request: Request) -> Response:
    """Give the pictures of the first hits of `search`, one of a name, 40 at most; asked for together, they are searched
    once. For `img`, as `svgs`: the fragment #i17-DIGEST shows the image 17."""
    layers = await service.layers(asked)
    if await request.is_disconnected():  # who types on wants other pictures
        return Response(status_code=204)
    found, left_out = await service.drawings.svgs(layers)
    changing = found._replace(is_fixed=False)  # the next search may find others
    return sent(request, changing, SVG, keep=f"max-age={_KEPT_SECONDS}", left_out=left_out)


@router.get(
    f"{API}/icons/{{icon:path}}/png",
    summary="An icon as PNG",
    response_class=Response,
    responses=kinds(of=_PNG, means="The icon, on nothing.") | errors(404, 410),
)
async def png(
    icon: IconKey,
    service: Served,
    request: Request,
    size: Annotated[int, Query(ge=8, le=1024, description="Longer side, in px.")] = 128,
    colour: Colour = None,
    v: Digest = None,
) -> Response:
    """Draw an icon on nothing; one that moves stands still."""
    return sent(request, await service.drawings.png(icon, colour=colour, size=size, digest=v), _PNG)


def sent(
    request: Request,
    picture: SentPicture | None,
    kind: str,
    *,
    missing: str = "",
    keep: str = "no-cache",
    left_out: Sequence[int] = (),
) -> Response:
    """A picture, or that who asks has it already: for ever where its address means no other, else as `keep` says.

    Raises:
        HTTPException: there is none; `missing` says so.
    """
    if picture is None:
        raise HTTPException(404, missing)
    keep = "max-age=31536000, immutable" if picture.is_fixed else keep
    headers = {"ETag": picture.tag, "Cache-Control": f"private, {keep}"}
    if kind == SVG:
        headers["Content-Security-Policy"] = SVG_POLICY
    if left_out:
        headers[LEFT_OUT] = ",".join(map(str, left_out))
    if picture.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=kind, headers=headers)


_MOST = 1_000
_Generation = Annotated[int, Path(ge=0, lt=10**9, description="`generation` of the answer that names it.")]
_Revision = Annotated[
    str | None, Query(max_length=100, description="As the address in an answer has it: of these screenshots alone.")
]
_Row = Annotated[int, Path(ge=0, lt=2**31)]


@router.get(
    f"{API}/icons/{{icon:path}}/usage",
    response_model=UsageAnswer,
    summary="Where an icon is used in screenshots",
    responses=errors(404),
)
async def usage(
    icon: IconKey,
    service: Served,
    k: Annotated[int, Query(ge=1, le=_MOST, description="How many places.")] = 50,
    min_score: Annotated[float | None, Query(ge=0, le=1, description="How sure a place has to be at least.")] = None,
) -> Response:
    """Tell on which of the screenshots that `icons usage add` has looked at an icon is, and where; the surest first."""
    return as_json(await service.screens.uses(icon, k=k, min_score=min_score))


@router.get(
    f"{API}/usage/{{generation}}/crops/{{drawing}}",
    summary="An icon as a screenshot shows it",
    response_class=Response,
    responses=kinds(of=_PNG, means="The icon, and a little of what is around it.") | errors(404),
)
async def usage_crop(
    generation: _Generation, drawing: _Row, service: Served, request: Request, v: _Revision = None
) -> Response:
    """Give the crop of one drawing, where crops are kept."""
    crop = service.screens.crop(generation, drawing, revision=v)
    return sent(request, await crop, _PNG, missing="there is no such crop; ask for the icon's usage again")


@router.get(
    f"{API}/usage/{{generation}}/screens/{{screen}}",
    summary="A screenshot",
    response_class=Response,
    responses=kinds(of=_PNG, means="The screenshot, no larger than 1600 px.") | errors(404),
)
async def usage_screen(
    generation: _Generation, screen: _Row, service: Served, request: Request, v: _Revision = None
) -> Response:
    """Give a screenshot that was indexed, read where it lies now, if it is still the one that was looked at."""
    shot = service.screens.shot(generation, screen, revision=v)
    return sent(request, await shot, _PNG, missing="the screenshot has gone, or is another one by now", keep="no-store")


# It stands last: it would take the addresses of what belongs to an icon.
@router.get(
    f"{API}/icons/{{icon:path}}",
    response_model=IconAnswer,
    summary="Everything that is known of an icon",
    responses=errors(404),
)
async def icon(icon: IconKey, service: Served) -> Response:
    """Tell all fields, variants, near-duplicates, source and licence of an icon."""
    return as_json(await service.ask(lambda engine: written(IconAnswer, engine.show(id_of(engine, icon)))))
