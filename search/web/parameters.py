"""What does a request ask? Its parameters, by the names that the page's address uses too, as a query of the engine.

Fields are called as those of the engine's own classes; an alias is what the address says.
"""

from dataclasses import fields
from typing import Annotated, Any

import numpy as np
from fastapi import Depends
from fastapi import Path as PathParameter
from fastapi import Query as QueryParameter
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from search.locating.locate import MOST_NAMES
from search.locating.results import AsKind
from search.query import MOST_HITS, MOST_LANGUAGES, MOST_OFFSET, MOST_WITHOUT, Filters, Query, Sort, Window
from search.snippets.drawn import COLOUR

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
_Coloured = Annotated[
    str | None, QueryParameter(pattern=COLOUR, description="For what the icon leaves open: #08f, navy.")
]


def _colour_of(
    colour: _Coloured = None,
    color: Annotated[str | None, QueryParameter(pattern=COLOUR, deprecated=True, description="As `colour`.")] = None,
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
    """What a hit must be, and which part of the answer is wanted."""

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


class SearchParameters(HitParameters):
    """What is looked for, beside what a hit must be."""

    words: str = Field(
        "",
        alias="q",
        max_length=10_000,
        description="What it means, how it looks, or its name. Without it, and without `icon`, all icons that the "
        "filters leave are shown: by set, if `sort` says nothing else.",
    )
    keyword: bool = Field(False, description='Take q for a keyword query: prefix*, "a phrase", -excluded.')
    without: Without = ()
    languages: Languages = ()
    prefer: Annotated[tuple[Text, ...] | None, Field(max_length=50)] = Field(
        None,
        description="A set that comes first where several have an icon. Repeatable; `icons prefer` if not given.",
    )
    like: str | None = Field(
        None,
        alias="icon",
        max_length=_LONGEST_KEY,
        description="More like this icon: its key (mdi:home), its id, or a name.",
    )
    picture_share: float = Field(0.5, ge=0, le=1, description="Share of the picture or icon beside words.")

    def query(self, *, picture: NDArray[np.uint8] | None = None) -> Query:
        """Spell it as the engine takes it."""
        return Query(picture=picture, **self._taken(Query))
