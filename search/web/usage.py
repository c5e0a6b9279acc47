"""Which requests are there for screenshots: where an icon is used, a crop, a whole one?"""

from typing import Annotated

from fastapi import Path, Query, Request, Response
from starlette.exceptions import HTTPException

from search.web.answers import API, UsageAnswer
from search.web.declared import Served, as_json, errors, new_router
from search.web.drawings import SentPicture
from search.web.parameters import IconKey
from search.web.pictures import kinds, sent

_PNG = "image/png"
_MOST = 1_000
_Generation = Annotated[int, Path(ge=0, lt=10**9, description="`generation` of the answer that names it.")]
_Revision = Annotated[
    str | None, Query(max_length=100, description="As the address in an answer has it: of these screenshots alone.")
]
_Row = Annotated[int, Path(ge=0, lt=2**31)]
router = new_router()


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
    found = await service.screens.crop(generation, drawing, revision=v)
    return _sent(request, found, missing="there is no such crop; ask for the icon's usage again", keep="no-cache")


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
    found = await service.screens.shot(generation, screen, revision=v)
    return _sent(request, found, missing="the screenshot has gone, or is another one by now", keep="no-store")


def _sent(request: Request, found: SentPicture | None, *, missing: str, keep: str) -> Response:
    if found is None:
        raise HTTPException(404, missing)
    return sent(request, found, _PNG, keep=keep)
