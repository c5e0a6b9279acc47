"""What is asked of a generation, and which of its icons could answer: near by a vector, or called or tagged so."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

import numpy as np

from indexer.arrays import Floats, Ids, Mask, distinct, is_in
from indexer.errors import IconsError
from indexer.merging.vector_index import Neighbours
from search.generation.backend import Ability, Selection, VectorSearch
from search.generation.opened import Opened
from search.query import Query, pasted_svg, refuse_late
from search.ranking.order import SetPriority, set_priority
from search.ranking.parsing import NOTHING, Avoided, ParsedQuery, icons_called, parse_avoided, parse_query
from search.words.wording import Keywords, read_keywords

N_CANDIDATES = 800
"""Icons that the vectors are asked for at first. Of Lucide's tags 600 lose R@10 .003, by what is usual among them;
with 1,000 the open sets differ by one or two queries, for .2 ms more."""
N_FIRST = 400
"""The nearest of these by which scores are measured, beside what is named, whatever is filtered: of 433 texts over
Iconify all have the cutoff that all set, of the nearest 200 .97. So many are near among a selection at first, too."""
N_USUAL = 64
"""Of all that is found without filters, about so many say how much like the query pictures usually are."""
N_LEXICAL = 400
"""Icons that names add to those that the vectors find; one in five where more are asked for."""
N_DRAWN = 50
"""Icons that each customary drawing adds, by its name."""
_SIFTED = 8
"""Times as many names are looked at where a filter leaves some of them."""
_ENOUGH = 64
"""Where so many of the nearest of all are in a selection, they are those that are near among it."""
_N_REMEMBERED = 16
"""Lists of neighbours: who filters, or turns pages, asks for the same one again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query as a generation is asked, perhaps several times: deeper, or among fewer icons."""

    opened: Opened
    sets: SetPriority
    """How the library's sets stand for who asks."""
    parsed: ParsedQuery | None = None
    """Its words."""
    fits: Floats | None = None
    """(names,) how well each name of the library fits the words."""
    drawn_fits: tuple[Floats, ...] = ()
    """The same of each thing that is customarily drawn."""
    direct: tuple[Ids, Ids, Ids] = (np.empty(0, np.int64),) * 3
    """The icons that the words call, name and state as a tag."""
    synonyms: tuple[Ids, Floats] = (np.empty(0, np.int64), np.empty(0, np.float32))
    """The icons of names of which other sets say the words, and how much these do."""
    avoided: Avoided = NOTHING
    look: Floats | None = None
    """Vector of the picture, or of the icon's, that is asked with."""
    picture_share: float = 1.0
    """What it counts beside words."""
    keywords: Keywords | None = None
    own: int | None = None
    """Icon that is asked with, which does not answer; nor do its variants, where icons are grouped."""


def question_of(opened: Opened, query: Query) -> Question:
    """Read a query, and encode it.

    Raises:
        IconsError: it asks what can't be, or only excludes.
    """
    sets = set_priority(opened, query.prefer or ())
    if query.keyword:
        if query.picture is not None or query.icon is not None or query.without:
            raise IconsError("a keyword query takes words alone; write -word for what must not be there")
        if not query.words.strip():
            raise IconsError('the query is empty; try `icons search --keyword "arrow*"`')
        opened.engine.require(Ability.KEYWORDS)
        return Question(opened=opened, sets=sets, keywords=read_keywords(query.words))
    if query.picture is None and (svg := pasted_svg(query.words)):
        query = replace(query, words="", picture=svg)
    look = _look_of(opened, query)
    if look is not None and not query.words.strip():
        return Question(opened=opened, sets=sets, avoided=parse_avoided(opened, query), look=look, own=query.icon)
    if not 0 <= query.picture_share <= 1:
        raise IconsError(f'picture_share is "{query.picture_share}"; give a number from 0 to 1')
    parsed = parse_query(opened, query.words, languages=query.languages)
    return replace(
        question_of_words(opened, parsed),
        sets=sets,
        direct=direct_of(opened, parsed),
        avoided=parse_avoided(opened, query, parsed),
        look=look,
        picture_share=0.0 if look is None else query.picture_share,
        own=query.icon,
    )


def question_of_words(opened: Opened, parsed: ParsedQuery) -> Question:
    """Ask for words alone, of a user who prefers no set."""
    said = [(opened.snapshot.named(name), weight) for name, weight in parsed.wording.synonyms]
    says = np.repeat([weight for _, weight in said], [len(named) for named, _ in said])
    return Question(
        opened=opened,
        sets=set_priority(opened, ()),
        parsed=parsed,
        fits=opened.lexicon.coverage(parsed.wording.name),
        drawn_fits=tuple(map(opened.lexicon.coverage, parsed.wording.drawn)),
        synonyms=(np.concatenate([np.empty(0, np.int64), *(named for named, _ in said)]), says.astype(np.float32)),
        picture_share=0.0,
    )


def _look_of(opened: Opened, query: Query) -> Floats | None:
    """Vector of the picture that is asked with, or of an icon's; None where words alone are asked."""
    if query.icon is not None:
        if query.picture is not None:
            raise IconsError("the query holds a picture and an icon; ask with one of them")
        return np.asarray(opened.pictures.reconstruct(np.array([opened.snapshot.icon(query.icon).image_id]))[0])
    if query.picture is None:
        return None
    if not isinstance(query.picture, bytes):
        return opened.encoder.encode_picture(query.picture)
    from indexer.rendering.screenshot import cut_out  # words need no decoder

    return opened.encoder.encode_picture(cut_out(query.picture, size=opened.encoder.image_size))


def direct_of(opened: Opened, parsed: ParsedQuery) -> tuple[Ids, Ids, Ids]:
    """Icons that words lead to without any vector."""
    wording, snapshot = parsed.wording, opened.snapshot
    named = [np.empty(0, np.int64), *map(snapshot.named, wording.spellings)]
    if wording.style and not wording.spelled:
        of_name = snapshot.named(wording.name)
        named.append(of_name[opened.facets.is_like(of_name, wording.style)])
    stated = [np.empty(0, np.int64), *(opened.facets.stating(tag) for tag in tags_asked(opened, parsed))]
    called = np.empty(0, np.int64) if parsed.code is None else icons_called(opened, parsed.code)
    return called, np.concatenate(named), np.concatenate(stated)


def tags_asked(opened: Opened, parsed: ParsedQuery) -> list[int]:
    """Code of the tag that is what is asked, if there is one: as it is typed, before what signs or other languages say.

    Of Lucide's "legume" a bean is meant, and no "vegetable" that it is in French.
    """
    tags = (opened.snapshot.tag_code(words) for words in parsed.wording.spellings)
    return [tag for tag in tags if tag is not None][:1]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The icons that could answer."""

    ids: Ids
    """Ascending, each once."""
    is_first: Mask
    """Which of them are found at first, whatever is filtered: by these a query's scores are measured."""
    usual: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    """Some of those found at first where nothing is filtered: how much like the query pictures usually are."""
    cosines: Neighbours | None = None
    """Of icons with the words, as far as they are known; `beyond` is the most that one may have which was not found."""
    looks: Neighbours | None = None
    """The same of pictures."""
    words: float = 0.0
    """How well a name may fit that was not found."""
    merits: Floats | None = None
    """Of a keyword query, (ids,)."""
    is_cut: bool = False
    """Whether a keyword query has more."""


def retrieve(question: Question, n: int, only: Selection | None, *, is_first: bool) -> Retrieved:
    """Find the icons among which the best `n` are; where `is_first` also those that no filter would take away."""
    refuse_late()
    if question.keywords is not None:
        return _retrieve_keywords(question.opened, question.keywords, n, only)
    every: list[Ids] = []
    """Found where nothing is filtered."""
    first: list[Ids] = []
    """Those of them by which scores are measured."""
    among: list[Ids] = []
    """Found among what the filters leave, and perhaps beside."""
    cosines = looks = None
    words = 0.0
    facets, icons = question.opened.facets, question.opened.icons
    if (parsed := question.parsed) is not None and question.fits is not None:
        cosines, nearest = _near(question.opened, icons, parsed.vector, n, only, is_first=is_first)
        best, lexical, words = _best_named(question.opened, question.fits, max(N_LEXICAL, n // 5), only)
        named = [best, *question.direct, question.synonyms[0]]
        among = [cosines.ids, lexical]
        for fits in question.drawn_fits if is_first else ():  # nothing else is drawn for it, however deep is looked
            best, lexical, _ = _best_named(question.opened, fits, N_DRAWN, only)
            named.append(best)
            among.append(lexical)
        every, first = [nearest, *named], [nearest[:N_FIRST], *named]
    if question.look is not None:
        images = None if only is None else only.images
        looks, nearest = _near(question.opened, question.opened.pictures, question.look, n, images, is_first=is_first)
        shown = facets.showing(nearest) if is_first or only is None else nearest[:0]
        every.append(shown)
        first.append(shown)
        among.append(facets.showing(looks.ids))
    of_all, measured = distinct(np.concatenate(every)), distinct(np.concatenate(first))
    ids = of_all if only is None else distinct(np.concatenate([measured, *among]))
    usual = of_all[:: 1 + len(of_all) // N_USUAL] if is_first else of_all[:0]
    return Retrieved(ids, is_in(measured, ids) & is_first, usual, cosines, looks, words)


def _near(
    opened: Opened, vectors: VectorSearch, vector: Floats, n: int, only: Selection | None, *, is_first: bool
) -> tuple[Neighbours, Ids]:
    """What lies near to a vector among a selection, perhaps with more beside; and what does among all, best first."""
    if only is not None and not is_first:
        near = vectors.search(vector, k=n, only=only, is_rough=True)
        return near, near.ids[:0]
    found = _remembered_near(opened, vectors, vector, min(n, vectors.most))
    order = np.argsort(-found.scores, kind="stable")
    of_all = found.ids[order]
    if only is None or (len(only) > n and np.count_nonzero(only.has(of_all)) >= _ENOUGH):
        return found, of_all
    near = vectors.search(vector, k=N_FIRST if len(only) > n else n, only=only, is_rough=True)
    first = order[:N_FIRST]
    beside = first[~is_in(np.sort(near.ids), found.ids[first])]
    scores = np.concatenate([near.scores, found.scores[beside]])
    return Neighbours(scores, np.concatenate([near.ids, found.ids[beside]]), near.beyond), of_all


def _remembered_near(opened: Opened, vectors: VectorSearch, vector: Floats, n: int) -> Neighbours:
    """The nearest of all, which are asked for again by who filters or turns pages."""

    def search(_: int, content: bytes, n: int) -> Neighbours:
        return vectors.search(np.frombuffer(content, vector.dtype), k=n, is_rough=True)

    kept = opened.facets.keep(f"near {id(vectors)}", lambda: lru_cache(maxsize=_N_REMEMBERED)(search))
    return cast(Neighbours, kept(id(vectors), vector.tobytes(), n))


def _best_named(opened: Opened, fits: Floats, most: int, only: Selection | None) -> tuple[Ids, Ids, float]:
    """Icons whose names fit best, of all and of a selection; and how well one of it may fit that is none of them."""
    n_best = most if only is None else _SIFTED * most
    best = opened.facets.best_named(opened.lexicon, fits, most=n_best)
    lexical = best if only is None else best[only.has(best)]
    is_cut = len(lexical) >= most or len(best) == n_best
    last = lexical[most - 1 : most] if len(lexical) >= most else best[-1:]
    return best[:most], lexical[:most], float(fits[opened.name_rows(last)].max(initial=0)) if is_cut else 0.0


def _retrieve_keywords(opened: Opened, keywords: Keywords, n: int, only: Selection | None) -> Retrieved:
    """The icons whose names, tags and categories say all that a keyword query wants: of `n` names, of a selection all.

    Names are not known by what filters leave of them.
    """
    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    most = n if only is None else opened.icons.most
    names, merits = opened.snapshot.matching(*keywords, most=most) if keywords.match else nothing
    ids = np.sort(opened.lexicon.icons.of_many(opened.lexicon.rows(names)))
    ids = ids if only is None else ids.compress(only.has(ids))
    order = np.argsort(names)
    merits = merits[order][np.searchsorted(names[order], opened.facets.at(ids)["name"])]
    return Retrieved(ids, np.ones(len(ids), bool), merits=merits, is_cut=len(names) == most)
