"""Which requests are there for files: chosen icons as a zip, a sprite, Iconify JSON, a font, a package?"""

from typing import Annotated

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from search.exporting.collection import collected
from search.exporting.export import Kind, Options
from search.snippets.drawn import Look
from search.web.answers import API
from search.web.code import MOST_ICONS, Corners, Size, StrokeWidth
from search.web.declared import Served, errors, new_router
from search.web.parameters import Key
from search.web.upload import json_body, read_json

LEFT_OUT = "X-Icons-Left-Out"
"""The header that says how many icons could not be read."""
router = new_router()


class ExportRequest(BaseModel):
    """Which icons go into which file, and in what look."""

    model_config = ConfigDict(extra="forbid")

    icons: list[Key] = Field(min_length=1, max_length=MOST_ICONS, description="Keys, ids or names.")
    kind: Kind
    name: Annotated[str, Field(min_length=1, max_length=200, description="Of the file, and of what is in it.")] = (
        "icons"
    )
    colour: str | None = None
    stroke_width: StrokeWidth = None
    size: Size = None
    corner: Corners = None


@router.post(
    f"{API}/export",
    operation_id="export",
    summary="Many icons as a file",
    openapi_extra={"requestBody": json_body(ExportRequest)},
    response_class=Response,
    responses={
        200: {
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            "description": f"The files and the licences as one zip; the header {LEFT_OUT} counts icons that are not in it.",
        },
        **errors(404, 408, 413),
    },
)
async def export(request: Request, service: Served) -> Response:
    """Make what a project takes in: files, an SVG sprite, Iconify JSON, a web font or a React package, with licences."""
    asked = await read_json(request, service.limits, ExportRequest)
    look = Look(colour=asked.colour, stroke_width=asked.stroke_width, size=asked.size, corner=asked.corner)
    collection, _ = collected(asked.name, asked.icons)
    made = await service.export(collection, asked.kind, Options(look=look, skip_unreadable=True))
    named = {"Content-Disposition": f'attachment; filename="{made.file_name}"', LEFT_OUT: str(len(made.left_out))}
    return Response(made.content, media_type=made.media_type, headers=named)
