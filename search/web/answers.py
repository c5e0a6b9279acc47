"""What does an answer look like over HTTP? The engine's answers as JSON, and the shapes that OpenAPI tells of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from os.path import basename
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from search.drawings.frameworks import FRAMEWORKS, Framework
from search.drawings.write import Snippet
from search.results import Answer, Details, Explanation, FacetCount, Hit, Judged, NameRead, SetCard, envelope
from search.screens.locate import located_json
from search.screens.results import LocatedIcon, LocatedPicture, Use

API = "/api/v1"
_SVG_NAME = re.compile(r"\.svgz?(?:#[0-9]+)?$", re.IGNORECASE)
"""A manifest that lists a file twice calls it NAME#2."""


@dataclass(frozen=True, slots=True)
class HitAnswer(Hit):
    """A hit, and where its pictures are. `path` is the name of its file: where that lies is the server's business."""

    svg_url: str | None
    """None for a bitmap."""
    png_url: str


@dataclass(frozen=True, slots=True)
class SearchAnswer(Answer):
    """One window of what a query found."""

    hits: Sequence[HitAnswer]
    query: str
    generation: int
    ms: float


@dataclass(frozen=True, slots=True)
class LocatedIconAnswer(LocatedIcon):
    """One icon of a picture: where it is, how sure that is, and what it may be."""

    hits: Sequence[HitAnswer]


@dataclass(frozen=True, slots=True)
class LocatedAnswer(LocatedPicture):
    """What is found in one picture."""

    icons: Sequence[LocatedIconAnswer]
    file: str | None
    """What the picture is called; null over HTTP, where it has no name."""
    generation: int
    ms: float


@dataclass(frozen=True, slots=True)
class UseAnswer(Use):
    """An icon at one place of a screenshot. `file` and `also` are names of files, without their folders."""

    screen: int
    """Number of the screenshot, which holds for this `generation` of the answer."""
    screen_url: str
    crop_url: str | None
    """None where no crops are kept."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class IconAnswer(HitAnswer):
    """Everything that is known of one icon."""

    name_read: NameRead | None
    caption: str | None
    tags: Sequence[str]
    english_tags: Sequence[str]
    categories: Sequence[str]
    author: str | None
    version: str | None
    set_licence: str | None
    source: str
    variants: Sequence[HitAnswer]
    """The other icons of its name in its set."""
    near_duplicates: Sequence[HitAnswer]


@dataclass(frozen=True, slots=True)
class JudgedAnswer(Judged):
    """What an answer makes of one icon."""

    hit: HitAnswer


@dataclass(frozen=True, slots=True)
class ExplanationAnswer(Explanation):
    """Why an icon stands where it stands, beside the one that comes first."""

    icon: JudgedAnswer
    first: JudgedAnswer | None


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """An icon of a set's sample, and where its pictures are."""

    id: int
    key: str
    image: int
    digest: str
    svg_url: str | None
    """None for a bitmap."""
    png_url: str


@dataclass(frozen=True, slots=True)
class SetAnswer(SetCard):
    """What a set is like, in a few words and pictures."""

    sample: Sequence[SampleAnswer]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class SetsAnswer:
    """All sets of the library, by key."""

    sets: Sequence[SetAnswer]
    generation: int


@dataclass(frozen=True, slots=True)
class FrameworkAnswer:
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


@dataclass(frozen=True, slots=True)
class FrameworksAnswer:
    """Every way to write an icon: of packages of one set, of all sets, then drawings."""

    frameworks: Sequence[FrameworkAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAnswer(Snippet):
    """Icons as code."""

    format: str
    language: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer."""

    error: str


@dataclass(frozen=True, slots=True)
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


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def written(kind: Any, plain: Mapping[str, Any]) -> bytes:
    """Write an answer as JSON, held against its model: a field that is not declared never leaves.

    It takes 1.4 times as long as `json.dumps` (.3 ms for 48 hits), in the thread that asks.

    Raises:
        ValidationError: a field is missing, or not of its type.
    """
    adapter = _adapter(kind)
    return adapter.dump_json(adapter.validate_python(plain))


def picture_url(path: str, digest: str) -> str:
    """Where a picture is. The digest is what it is seen by in every library, where numbers count anew."""
    return f"{API}/{path}?v={digest}"


def hit_json(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Spell the fields of a hit."""
    name = basename(hit["path"])  # noqa: PTH119 - ten times as quick
    svg_url, png_url = (picture_url(f"icons/{hit['id']}/{kind}", hit["digest"]) for kind in ("svg", "png"))
    is_svg = hit["member"] != "" or _SVG_NAME.search(name)
    return {**hit, "path": name, "svg_url": svg_url if is_svg else None, "png_url": png_url}


def search_json(query: str, answer: Answer, *, generation: int, seconds: float) -> dict[str, Any]:
    """Spell an answer."""
    found = envelope(query, answer, generation=generation, seconds=seconds)
    return {**found, "hits": list(map(hit_json, found["hits"]))}


def located_answer_json(located: LocatedPicture, *, generation: int, seconds: float) -> dict[str, Any]:
    """Spell what is found in a picture."""
    told = located_json(located, file=None, generation=generation, seconds=seconds)
    return {**told, "icons": [{**icon, "hits": list(map(hit_json, icon["hits"]))} for icon in told["icons"]]}


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Spell why an icon stands where it stands."""
    told = asdict(explanation)
    for judged in filter(None, (told["icon"], told["first"])):
        judged["hit"] = hit_json(judged["hit"])
    return told


def sets_json(cards: Sequence[SetCard], *, generation: int) -> dict[str, Any]:
    """Spell the cards of all sets."""
    return {"sets": list(map(_card_json, cards)), "generation": generation}


def _card_json(card: SetCard) -> dict[str, Any]:
    told = asdict(card)
    shown = map(hit_json, told["sample"])
    return {**told, "sample": [{field.name: hit[field.name] for field in fields(SampleAnswer)} for hit in shown]}


def frameworks_json() -> dict[str, Any]:
    """Spell the table of frameworks."""
    names = [field.name for field in fields(FrameworkAnswer)]
    return {"frameworks": [{name: getattr(one, name) for name in names} for one in FRAMEWORKS.values()]}


def code_json(snippet: Snippet, framework: Framework) -> dict[str, Any]:
    """Spell icons that are written as code."""
    return {**asdict(snippet), "format": framework.name, "language": framework.language}


def facets_json(facets: Mapping[str, Sequence[FacetCount]]) -> dict[str, Any]:
    """Spell counts by kind."""
    return {kind: [asdict(one) for one in counts] for kind, counts in facets.items()}


def icon_json(details: Details) -> dict[str, Any]:
    """Spell everything that is known of an icon, as one flat object."""
    known = asdict(details)
    known["source"] = Path(details.source).name or details.source
    for others in ("variants", "near_duplicates"):
        known[others] = list(map(hit_json, known[others]))
    return {**hit_json(known.pop("hit")), **known}
