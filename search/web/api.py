"""Which requests are there? The paths of the HTTP API that tell of icons and sets, all read-only."""

from typing import Annotated

from fastapi import Query, Request, Response

from search.query import Query as EngineQuery
from search.web.answers import (
    API,
    ExplanationAnswer,
    FacetsAnswer,
    Health,
    IconAnswer,
    LocatedAnswer,
    SearchAnswer,
    SetsAnswer,
)
from search.web.declared import Served, as_json, errors, new_router
from search.web.parameters import HitParameters, IconKey, Languages, LocateParameters, SearchParameters, Text, Without
from search.web.upload import BODY

router = new_router()
open_router = new_router(is_open=True)


@router.get(
    f"{API}/search",
    response_model=SearchAnswer,
    summary="Find icons by words, or more like an icon; or browse them",
    responses=errors(404),
)
async def search(service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons by what they mean, how they look, or their name; by keywords; or more like an icon."""
    return as_json(await service.searches.answer(asked))


@router.post(
    f"{API}/search",
    response_model=SearchAnswer,
    summary="Find icons by a picture",
    openapi_extra={"requestBody": BODY},
    responses=errors(404, 408, 413),
)
async def search_by_picture(request: Request, service: Served, asked: Annotated[SearchParameters, Query()]) -> Response:
    """Find icons that look like a picture: a screenshot, a drawing, any format and size; words may come along."""
    async with service.uploads.picture(request) as picture:
        query = asked.query(picture=await service.drawings.pixels(picture))
    return as_json((await service.searches.ask(query, asked.filters(), asked.window(), like=asked.like)).content)


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
    return as_json((await service.searches.ask(EngineQuery(), asked.filters(), asked.window(), like=icon)).content)


@router.get(
    f"{API}/facets",
    response_model=FacetsAnswer,
    summary="What icons can be filtered by",
)
async def facets(service: Served) -> Response:
    """Tell the most frequent values of every filter, and how many icons of the library have each."""
    return as_json(await service.facets())


@router.get(f"{API}/sets", response_model=SetsAnswer, summary="All sets, as cards")
async def sets(service: Served) -> Response:
    """Tell of every set: how many icons it has, under what licence, in what styles, and eight of them to look at."""
    return as_json(await service.sets())


@router.get(
    f"{API}/icons/{{icon:path}}/why",
    response_model=ExplanationAnswer,
    summary="Why an icon stands where it stands",
    responses=errors(404),
)
async def why(
    icon: IconKey,
    service: Served,
    words: Annotated[Text, Query(alias="q")],
    without: Without = (),
    languages: Languages = (),
) -> Response:
    """Tell what each part of a search for some words says of an icon, beside the icon that comes first."""
    return as_json(await service.explain(EngineQuery(words=words, without=without, languages=languages), icon))


@router.get(
    f"{API}/icons/{{icon:path}}",
    response_model=IconAnswer,
    summary="Everything that is known of an icon",
    responses=errors(404),
)
async def icon(icon: IconKey, service: Served) -> Response:
    """Tell all fields, variants, near-duplicates, source and licence of an icon."""
    return as_json(await service.show(icon))


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
