"""Which requests are there? The paths of the HTTP API, all read-only."""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from search.query import Query as EngineQuery
from search.results import Explanation, FacetCount
from search.snippets.drawn import COLOUR
from search.web.answers import API, Health, IconAnswer, Refusal, SearchAnswer
from search.web.parameters import FilterParameters, IconId, ImageIds, Languages, SearchParameters, Text, Without
from search.web.service import Service
from search.web.svg import svg_text
from search.web.upload import BODY, read_upload

SVG = "image/svg+xml"
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Opened by itself, a stored SVG runs no script, loads nothing, and belongs to no origin."""

Colour = Annotated[str | None, Query(pattern=COLOUR, description="For what the icon leaves open: #08f, navy.")]
Version = Annotated[int | None, Query(description="`image` of the hit: then the answer may be kept for ever.")]


def service_of(request: Request) -> Service:
    """The service that the app was made with."""
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(service_of)]
router = APIRouter(
    responses={
        400: {"model": Refusal, "description": "Asks for what can't be."},
        422: {"model": Refusal, "description": "A parameter is not as it should be."},
        503: {"model": Refusal, "description": "Too busy; Retry-After says when to come back."},
    }
)


@router.get(f"{API}/search", response_model=SearchAnswer, summary="Find icons by words, or more like an icon")
async def search(service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons by what they mean, how they look, or their name; by keywords; or more like an icon."""
    return JSONResponse(await service.search(asked.query(), asked.filters(), asked.window()))


@router.post(
    f"{API}/search",
    response_model=SearchAnswer,
    summary="Find icons by a picture",
    openapi_extra={"requestBody": BODY},
    responses={413: {"model": Refusal, "description": "The picture is too large."}},
)
async def search_picture(request: Request, service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons that look like a picture: a screenshot, a drawing, any format and size; words may come along."""
    with service.uploading():
        picture = await read_upload(request, service.limits)
        query = await service.query_of(picture, asked)
    return JSONResponse(await service.search(query, asked.filters(), asked.window()))


@router.get(f"{API}/similar/{{icon}}", response_model=SearchAnswer, summary="Find icons like an icon")
async def similar(icon: IconId, service: Served, asked: Annotated[FilterParameters, Query()]) -> Response:
    """Find icons that look like one of the library: in other sets, in other styles."""
    return JSONResponse(await service.search(EngineQuery(icon=icon), asked.filters(), asked.window()))


@router.get(f"{API}/facets", response_model=dict[str, list[FacetCount]], summary="What icons can be filtered by")
async def facets(service: Served) -> Response:
    """Tell the most frequent values of every filter, and how many icons of the library have each."""
    return JSONResponse(await service.facets())


@router.get(f"{API}/icons/{{icon}}", response_model=IconAnswer, summary="Everything that is known of an icon")
async def show(icon: IconId, service: Served) -> Response:
    """Tell all fields, variants, near-duplicates, source and licence of an icon."""
    return JSONResponse(await service.show(icon))


@router.get(f"{API}/icons/{{icon}}/why", response_model=Explanation, summary="Why an icon stands where it stands")
async def why(
    icon: IconId,
    service: Served,
    words: Annotated[Text, Query(alias="q")],
    without: Without = (),
    languages: Languages = (),
) -> Response:
    """Tell what each part of a search for some words says of an icon, beside the icon that comes first."""
    return JSONResponse(await service.explain(EngineQuery(words=words, without=without, languages=languages), icon))


@router.get(f"{API}/icons/{{icon}}/svg", summary="An icon as SVG", response_class=Response)
async def svg(icon: IconId, service: Served, request: Request, color: Colour = None, v: Version = None) -> Response:
    """Give an icon's SVG as it is stored, or in a colour. It is sent so that no script in it can run."""
    found = await service.picture(icon)
    document = svg_text(found.content, colour=color)
    if document is None:
        raise HTTPException(404, f'the icon "{icon}" is no SVG; {API}/icons/{icon}/png draws it')
    return _kept(request, document, SVG, is_fixed=v == found.image)


@router.get(f"{API}/svgs", summary="Many pictures as one SVG", response_class=Response)
async def svgs(service: Served, images: ImageIds, request: Request) -> Response:
    """Give many pictures in one answer, for `img`: the fragment #i17 shows the one that a hit calls image 17."""
    document, is_whole = await service.svgs(images)
    return _kept(request, document, SVG, is_fixed=is_whole)


@router.get(f"{API}/icons/{{icon}}/png", summary="An icon as PNG", response_class=Response)
async def png(
    icon: IconId,
    service: Served,
    request: Request,
    size: Annotated[int, Query(ge=8, le=1024, description="Longer side, in px.")] = 128,
    color: Colour = None,
    v: Version = None,
) -> Response:
    """Draw an icon on nothing."""
    found = await service.picture(icon)
    content = found.content if color is None else svg_text(found.content, colour=color) or found.content
    drawn = await service.png(content, size=size)
    return _kept(request, drawn, "image/png", is_fixed=v == found.image)


@router.get(
    "/health",
    response_model=Health,
    summary="Whether searches are answered",
    responses={503: {"model": Health, "description": 'They are not: status is "busy" or "failing".'}},
)
async def health(service: Served) -> Response:
    """Say whether a search would be answered now, and from which generation."""
    state = await service.health()
    return JSONResponse(state, 200 if state["status"] == "ok" else 503)


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(service: Served) -> Response:
    """Give counters and times."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


def _kept(request: Request, content: bytes, kind: str, *, is_fixed: bool) -> Response:
    """A picture, for ever where its address names it; else to be asked for again, and not sent twice."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    kept = "max-age=31536000, immutable" if is_fixed else "no-cache"
    headers = {"ETag": tag, "Cache-Control": f"private, {kept}"}
    if kind == SVG:
        headers["Content-Security-Policy"] = SVG_POLICY
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)
