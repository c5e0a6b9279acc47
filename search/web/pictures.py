"""Which requests are there for pictures: an icon as SVG or PNG, many as one SVG?"""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.exceptions import HTTPException

from search.web.answers import API
from search.web.declared import Served, errors, new_router
from search.web.drawings import Layer, SentPicture
from search.web.parameters import Colour, IconKey, Layers, SearchParameters

SVG = "image/svg+xml"
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Opened by itself, a stored SVG runs no script, loads nothing, and belongs to no origin."""
LEFT_OUT = "Icons-Left-Out"
_LEFT_OUT_TOLD = {
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
router = new_router()


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
    found = await service.drawings.svg(icon, colour=colour, digest=v)
    if found is None:
        raise HTTPException(404, f'the icon "{icon}" is no SVG; {API}/icons/{icon}/png draws it')
    return _kept(request, found, SVG)


@router.get(
    f"{API}/svgs",
    summary="Many pictures as one SVG",
    response_class=Response,
    responses=kinds(
        of=SVG,
        means="A layer a picture.",
        headers=_LEFT_OUT_TOLD,
    ),
)
async def svgs(service: Served, layers: Layers, request: Request) -> Response:
    """Give many pictures in one answer, for `img`: the fragment #i17-DIGEST, or #i17 where no digest was given, shows
    the image 17."""
    found, left_out = await service.drawings.svgs(list(map(Layer.read, layers)))
    answer = _kept(request, found, SVG)
    if left_out:
        answer.headers[LEFT_OUT] = ",".join(map(str, left_out))
    return answer


@router.get(
    f"{API}/search/svgs",
    summary="The pictures of what is found as one SVG",
    response_class=Response,
    responses=kinds(of=SVG, means="A layer a picture.", headers=_LEFT_OUT_TOLD) | errors(404),
)
async def search_svgs(service: Served, asked: Annotated[SearchParameters, Query()], request: Request) -> Response:
    """Give the pictures of the first hits of `search`, one of a name, 40 at most; asked for together, they are searched
    once. For `img`, as `svgs`: the fragment #i17-DIGEST shows the image 17."""
    layers = await service.searches.layers(asked)
    if await request.is_disconnected():  # who types on wants other pictures
        return Response(status_code=204)
    found, left_out = await service.drawings.svgs(layers)
    answer = sent(request, found, SVG, keep=f"max-age={_KEPT_SECONDS}")
    if left_out:
        answer.headers[LEFT_OUT] = ",".join(map(str, left_out))
    return answer


@router.get(
    f"{API}/icons/{{icon:path}}/png",
    summary="An icon as PNG",
    response_class=Response,
    responses=kinds(of="image/png", means="The icon, on nothing.") | errors(404, 410),
)
async def png(
    icon: IconKey,
    service: Served,
    request: Request,
    size: Annotated[int, Query(ge=8, le=1024, description="Longer side, in px.")] = 128,
    colour: Colour = None,
    v: Digest = None,
) -> Response:
    """Draw an icon on nothing."""
    found = await service.drawings.png(icon, colour=colour, size=size, digest=v)
    return _kept(request, found, "image/png")


def _kept(request: Request, picture: SentPicture, kind: str) -> Response:
    """A picture, for ever where its address means no other; else to be asked for again, and not sent twice."""
    return sent(request, picture, kind, keep="max-age=31536000, immutable" if picture.is_fixed else "no-cache")


def sent(request: Request, picture: SentPicture, kind: str, *, keep: str) -> Response:
    """A picture, or that who asks has it already; `keep` says for how long they may."""
    headers = {"ETag": picture.tag, "Cache-Control": f"private, {keep}"}
    if kind == SVG:
        headers["Content-Security-Policy"] = SVG_POLICY
    if picture.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(picture.content, media_type=kind, headers=headers)
