"""Answers over HTTP: a model each, which is filled from what the engine answers and described by OpenAPI."""

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import cache
from os.path import basename
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, model_validator
from pydantic.dataclasses import dataclass

from search.drawings.write import Snippet
from search.query import Answer, Explanation, FacetCount, Hit, Judged, KnownOfIcon, SetCard, values_of
from search.screens.results import LocatedIcon, LocatedPicture, Use

API = "/api/v1"


def picture_url(path: str, digest: str) -> str:
    """Where a picture is. The digest is what it is seen by in every library, where numbers count anew."""
    return f"{API}/{path}?v={digest}"


@dataclass(frozen=True)
class _Answer:
    """A model that is filled from the engine's own record, wherever one stands in an answer."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, record: Any) -> Any:
        return cls.read(record) if is_dataclass(record) else record

    @classmethod
    def read(cls, record: Any) -> dict[str, Any]:
        """Read the engine's record; values that are no field of the model are left out."""
        return values_of(record)


@dataclass(frozen=True)
class _WithPictures(_Answer):
    """A hit, or a part of it, with the addresses of its pictures."""

    @classmethod
    def read(cls, record: Hit) -> dict[str, Any]:
        """Add the addresses; of the path only the file's name leaves the server."""
        svg_url, png_url = (picture_url(f"icons/{record.id}/{kind}", record.digest) for kind in ("svg", "png"))
        return {
            **values_of(record),
            "path": basename(record.path),  # noqa: PTH119 - ten times as quick
            "svg_url": svg_url if record.is_svg else None,
            "png_url": png_url,
        }


@dataclass(frozen=True)
class HitAnswer(_WithPictures, Hit):
    """A hit, and where its pictures are. `path` is the name of its file: where that lies is the server's business."""

    svg_url: str | None
    """None for a bitmap."""
    png_url: str


@dataclass(frozen=True)
class SearchAnswer(_Answer, Answer):
    """One window of what a query found."""

    hits: Sequence[HitAnswer]
    query: str
    generation: int
    ms: float


@dataclass(frozen=True)
class PictureAnswer(SearchAnswer):
    """What a picture found."""

    note: str | None
    """Where nothing fits: how to ask with a whole screen."""


@dataclass(frozen=True)
class LocatedIconAnswer(_Answer, LocatedIcon):
    """One icon of a picture: where it is, how sure that is, and what it may be."""

    hits: Sequence[HitAnswer]


@dataclass(frozen=True)
class LocatedAnswer(_Answer, LocatedPicture):
    """What is found in one picture."""

    icons: Sequence[LocatedIconAnswer]
    file: str | None
    """What the picture is called; null over HTTP, where it has no name."""
    generation: int
    ms: float


@dataclass(frozen=True)
class UseAnswer(_Answer, Use):
    """An icon at one place of a screenshot. `file` and `also` are names of files, without their folders."""

    screen: int
    """Number of the screenshot, which holds for this `generation` of the answer."""
    screen_url: str
    crop_url: str | None
    """None where no crops are kept."""


@dataclass(frozen=True)
class UsageAnswer:
    """Where an icon is used in screenshots."""

    uses: Sequence[UseAnswer]
    """The surest first, `k` at most."""
    n_found: int
    n_screens: int
    """On how many screenshots these are, all of `n_found`."""
    n_known: int
    """How many screenshots were looked at."""
    generation: int | None
    """Of what is known of screenshots; None where nothing is."""


@dataclass(frozen=True)
class IconAnswer(HitAnswer, KnownOfIcon):
    """Everything that is known of one icon."""

    variants: Sequence[HitAnswer]
    """The other icons of its name in its set."""
    near_duplicates: Sequence[HitAnswer]

    @classmethod
    def read(cls, record: Any) -> dict[str, Any]:
        """Lay the icon and what is known of it out as one flat object; the folder of its source stays."""
        return values_of(record) | super().read(record.hit) | {"source": Path(record.source).name or record.source}


@dataclass(frozen=True)
class JudgedAnswer(_Answer, Judged):
    """What an answer makes of one icon."""

    hit: HitAnswer


@dataclass(frozen=True)
class ExplanationAnswer(_Answer, Explanation):
    """Why an icon stands where it stands, beside the one that comes first."""

    icon: JudgedAnswer
    first: JudgedAnswer | None


@dataclass(frozen=True)
class SampleAnswer(_WithPictures):
    """An icon of a set's sample, and where its pictures are."""

    id: int
    key: str
    image: int
    digest: str
    svg_url: str | None
    """None for a bitmap."""
    png_url: str


@dataclass(frozen=True)
class SetAnswer(_Answer, SetCard):
    """What a set is like, in a few words and pictures."""

    sample: Sequence[SampleAnswer]  # type: ignore[assignment]


@dataclass(frozen=True)
class SetsAnswer:
    """All sets of the library, by key."""

    sets: Sequence[SetAnswer]
    generation: int


@dataclass(frozen=True)
class FrameworkAnswer(_Answer):
    """One way to write an icon."""

    name: str
    """What `format` takes."""
    title: str
    language: str
    """Of the code: tsx, jsx, vue, svelte, html, css, svg, text."""
    form: str
    """component: of a package, for an icon each; exported: data for one component; key, class: of any set of Iconify;
    drawn: the drawing itself."""
    sets: Sequence[str]
    """Keys of the sets that it serves; none: every set."""
    packages: Sequence[str]
    """Of npm."""


@dataclass(frozen=True)
class FrameworksAnswer:
    """Every way to write an icon: of packages of one set, of all sets, then drawings."""

    frameworks: Sequence[FrameworkAnswer]


@dataclass(frozen=True, kw_only=True)
class CodeAnswer(_Answer, Snippet):
    """Icons as code."""

    format: str
    language: str


@dataclass(frozen=True)
class Refusal:
    """Why there is no answer."""

    error: str


@dataclass(frozen=True)
class Health:
    """Whether searches are answered, and from what."""

    status: str
    """ok; busy: as many ask as may; failing: the library can't be searched, the server's log says why."""
    reason: str | None
    """Why it is not ok."""
    generation: int
    icons: int
    pictures: int
    model: str
    """Fingerprint of the encoder."""
    version: str


FacetsAnswer = dict[str, list[FacetCount]]


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def written(kind: Any, answer: Any) -> bytes:
    """Write an answer as JSON, held against its model: a field that is not declared never leaves.

    `answer` is the engine's record, or its fields and those that the model has beside them. It takes about .3 ms for 48
    hits, in the thread that asks.

    Raises:
        ValidationError: a field is missing, or not of its type.
    """
    adapter = _adapter(kind)
    return adapter.dump_json(adapter.validate_python(answer))
