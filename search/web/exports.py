"""Which request is there for exports: chosen icons as files, a sprite, Iconify JSON, a font, a package?"""

import json
from typing import Annotated, Any

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from search.exporting.collection import Collection
from search.exporting.export import Exported, Kind, Options
from search.snippets.drawn import Look
from search.web.answers import API
from search.web.code import MOST_ICONS, Corners, Size, StrokeWidth
from search.web.declared import Served, errors, new_router
from search.web.parameters import Key
from search.web.upload import json_body, read_json

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


class ExportRequest(BaseModel):
    """Which icons are exported, and how."""

    model_config = ConfigDict(extra="forbid")

    icons: list[Key] = Field(min_length=1, max_length=MOST_ICONS, description="Keys, ids or names.")
    kind: Kind = Field("zip", description="zip: a file an icon; sprite; iconify: JSON; font; react: a package.")
    name: str = Field("icons", min_length=1, max_length=100, description="Of the collection.")
    prefix: Annotated[str | None, Field(max_length=200, description="Of Iconify JSON, a font, a package.")] = None
    colour: str | None = None
    stroke_width: StrokeWidth = None
    size: Size = None
    corner: Corners = None
    skip_unreadable: bool = Field(False, description="Leave out what can't be exported so; else nothing is exported.")

    @property
    def collection(self) -> Collection:
        """The icons, each once."""
        return Collection(self.name, tuple(dict.fromkeys(self.icons)))

    @property
    def options(self) -> Options:
        """How it is made; what is left out is looked at by whoever asks for it."""
        look = Look(colour=self.colour, stroke_width=self.stroke_width, size=self.size, corner=self.corner)
        return Options(look=look, prefix=self.prefix, skip_unreadable=True)


@router.post(
    f"{API}/export",
    summary="Chosen icons as a download",
    openapi_extra={"requestBody": json_body(ExportRequest)},
    response_class=Response,
    responses=_DOWNLOAD | errors(408, 413),
)
async def export(request: Request, service: Served) -> Response:
    """Give chosen icons as a zip of files, a sprite, Iconify JSON, a web font or a React package, with licences."""
    asked = await read_json(request, service.limits, ExportRequest)
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
