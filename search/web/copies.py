"""Which requests give icons to take away: as code for a framework; as files, a sprite, a font or a package?"""

import json
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from search.exporting.collection import Collection
from search.exporting.export import Exported, Kind, Options
from search.snippets.drawn import Corner, Look
from search.web.answers import API, CodeAnswer, FrameworksAnswer
from search.web.declared import Served, as_json, errors, new_router
from search.web.parameters import Colour, IconKey, Key
from search.web.upload import json_body

MOST_ICONS = 500
"""Of one request; more than a project takes in at once."""

Format = Annotated[str, Field(max_length=100, description="A name that `frameworks` tells: lucide-react, svg, ...")]
StrokeWidth = Annotated[float | None, Field(description="Of its widest stroke, in units of its viewBox.")]
Size = Annotated[int | None, Field(description="Of its longer side, in px.")]
Corners = Annotated[Corner | None, Field(description="Ends and joins of strokes.")]
ABOUT = "Icons-Export"
_MOST_TOLD = 20
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
router = new_router()


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
        """What copies are given."""
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

    @property
    def collection(self) -> Collection:
        """The icons, each once."""
        return Collection(self.name, tuple(dict.fromkeys(self.icons)))

    @property
    def options(self) -> Options:
        """How it is made; what is left out is looked at by whoever asks for it."""
        return Options(look=self.look, prefix=self.prefix, skip_unreadable=True)


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
        asked.collection, asked.kind, asked.options, is_whole=not asked.skip_unreadable
    )
    headers = {"Content-Disposition": f'attachment; filename="{made.file_name}"', ABOUT: _told_of(made)}
    return Response(content, media_type=made.media_type, headers=headers)


def _told_of(made: Exported) -> str:
    """What there is to say of an export beside its files, in the signs that a header takes."""
    left_out = [one.key for one in made.left_out[:_MOST_TOLD]]
    told = {"icons": len(made.icons), "left_out": left_out, "n_left_out": len(made.left_out)}
    return json.dumps({**told, "licences": made.licences, "remarks": made.remarks[:_MOST_TOLD]})
