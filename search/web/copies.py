"""Which requests are there for code: an icon, or many, written for a framework?"""

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from search.snippets.drawn import Corner, Look
from search.web.answers import API, CodeAnswer, FrameworksAnswer
from search.web.declared import Served, as_json, errors, new_router
from search.web.parameters import Colour, IconKey, Key
from search.web.upload import json_body, read_json

MOST_ICONS = 500
"""Of one request; more than a project takes in at once."""

Format = Annotated[str, Field(max_length=100, description="A name that `frameworks` tells: lucide-react, svg, ...")]
StrokeWidth = Annotated[float | None, Field(description="Of its widest stroke, in units of its viewBox.")]
Size = Annotated[int | None, Field(description="Of its longer side, in px.")]
Corners = Annotated[Corner | None, Field(description="Ends and joins of strokes.")]
router = new_router()


class CodeRequest(BaseModel):
    """Which icons are written, how, and in what look."""

    model_config = ConfigDict(extra="forbid")

    icons: list[Key] = Field(min_length=1, max_length=MOST_ICONS, description="Keys, ids or names.")
    format: Format
    colour: str | None = None
    stroke_width: StrokeWidth = None
    size: Size = None
    corner: Corners = None

    @property
    def look(self) -> Look:
        """What copies are given."""
        return Look(colour=self.colour, stroke_width=self.stroke_width, size=self.size, corner=self.corner)


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
    return as_json(service.frameworks())


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
    asked = await read_json(request, service.limits, CodeRequest)
    return as_json(await service.code(asked.icons, asked.format, asked.look))
