"""What does a request ask? Its parameters, by the names that the page's address uses too, as a query of the engine."""

from typing import Annotated

import numpy as np
from fastapi import Path as PathParameter
from fastapi import Query as QueryParameter
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from search.query import MOST_HITS, MOST_WITHOUT, Filters, Query, Window

IconId = Annotated[int, PathParameter(description="Id of an icon, as a hit tells it.", ge=1, lt=2**63)]
ImageIds = Annotated[list[Annotated[int, Field(ge=1, lt=2**63)]], QueryParameter(alias="image", max_length=100)]
COLOUR = r"^(#[0-9a-fA-F]{3,4}|#[0-9a-fA-F]{6}|#[0-9a-fA-F]{8}|[a-zA-Z]{3,20})$"

Text = Annotated[str, Field(max_length=200)]
Texts = Annotated[tuple[Text, ...], Field(max_length=50)]


class FilterParameters(BaseModel):
    """What a hit must be, and which part of the answer is wanted. An unknown parameter is refused."""

    model_config = ConfigDict(extra="forbid")

    set: Texts = Field((), description="Only icons of this set. Repeatable, as all that follow.")
    style: Texts = Field((), description="outline, filled, ...")
    category: Texts = ()
    tag: Texts = ()
    licence: Texts = Field((), description="An SPDX id, or a family: permissive, copyleft, ...")
    size: Annotated[tuple[int, ...], Field(max_length=50)] = Field(
        (), description="Of the grid that it is drawn on, in px."
    )
    animated: bool | None = None
    coloured: bool | None = Field(None, description="true: of several colours; false: of one.")
    k: int = Field(10, ge=1, le=1000, description="How many hits.")
    offset: int = Field(0, ge=0, le=MOST_HITS, description="Hits to leave out at the beginning: for pages.")
    min_score: float | None = Field(
        None, ge=0, le=1, description="Least score of a hit; if not given, what separates right from wrong here."
    )
    flat: bool = Field(False, description="Every icon by itself: no grouping of variants.")
    facets: bool = Field(False, description="Count sets, styles, licences, ... of what is found.")

    def filters(self) -> Filters:
        """Spell them as the engine takes them."""
        return Filters(
            sets=self.set,
            styles=self.style,
            categories=self.category,
            tags=self.tag,
            licences=self.licence,
            sizes=self.size,
            animated=self.animated,
            coloured=self.coloured,
        )

    def window(self) -> Window:
        """Spell them as the engine takes them."""
        return Window(k=self.k, offset=self.offset, min_score=self.min_score, flat=self.flat, facets=self.facets)


class SearchParameters(FilterParameters):
    """What is looked for, beside what a hit must be."""

    q: str = Field("", max_length=10_000, description="What it means, how it looks, or its name.")
    keyword: bool = Field(False, description='Take q for a keyword query: prefix*, "a phrase", -excluded.')
    without: Annotated[tuple[Text, ...], Field(max_length=MOST_WITHOUT)] = Field(
        (), alias="not", description="What to steer away from. Repeatable."
    )
    icon: int | None = Field(None, ge=1, lt=2**63, description="Id of an icon: more like this one.")
    picture_share: float = Field(0.5, ge=0, le=1, description="Share of the picture or icon beside words.")

    def query(self, *, picture: NDArray[np.uint8] | None = None) -> Query:
        """Spell it as the engine takes it."""
        return Query(
            words=self.q,
            picture=picture,
            icon=self.icon,
            without=self.without,
            keyword=self.keyword,
            picture_share=self.picture_share,
        )
