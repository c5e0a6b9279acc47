"""In what order vectors put all icons, and which hits the engine shows.

Larger scores are better; minus infinity is "not ranked". They are worked out once a distinct name and a distinct
picture, so that icons that share one are tied to the last bit.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids, Mask
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.query_encoder import EncoderFacts, QueryEncoder, open_query_encoder, read_facts
from indexer.errors import LibraryError, ModelError
from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.library.shards import Kind, read_coverage, read_vectors
from indexer.merging.lexicon import Lexicon
from indexer.merging.manifest import FP16, N_ASKED, Answering, NamedQuery, Nonsense, Weights, calibrate, spread
from indexer.merging.merge import TagVectors, Vectors
from indexer.merging.vector_index import VectorIndex
from indexer.reports.figures import UNRANKED, Ranks, right_ranks
from search.engine import Filters, Query, SearchEngine
from search.evaluation.queries import Corpus, Question, Tags
from search.generation.backend import Ability
from search.generation.facets import FaissVectors
from search.generation.opened import Opened
from search.words.wording import Speller

ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Contender:
    """One encoder that the library holds vectors of."""

    label: str
    """Short, and unlike every other contender's."""
    model: str
    """As `--model` takes it."""
    fingerprint: str


@dataclass(frozen=True)
class CorpusVectors:
    """An open encoder and its vectors of a corpus: unit length, fp32 of what is kept in fp16."""

    fingerprint: str
    encoder: QueryEncoder
    images: Floats
    """(pictures of the corpus, dim)."""
    has_image: NDArray[np.bool_]
    """(pictures of the corpus,): False where this encoder could not embed one; its row is zero."""
    names: Floats
    """(names of the corpus, dim)."""
    tags: Floats
    """(tags of the corpus, dim), by code."""


def find_contenders(library: Library, models: Sequence[str], *, in_use: str) -> list[Contender]:
    """Find the encoders that `models` name, as `--model` of `icons index` does or by a fingerprint.

    Without any it is the one whose fingerprint is `in_use`.

    Raises:
        ModelError: a model is unknown.
        LibraryError: the library holds no vectors of it; the message says what makes them.
    """
    known = {facts.fingerprint: facts.model for facts in _encoders(library)}
    found: dict[str, Contender] = {}
    for model in models or [in_use]:
        fingerprint = model if model in known else _fingerprint(library, model)
        if fingerprint not in known:
            raise _lacks_vectors(model)
        name = known[fingerprint]
        label = name.removeprefix(LOCAL).rstrip("/").rpartition("/")[2] or name
        found[fingerprint] = Contender(label, name, fingerprint)
    labels = Counter(one.label for one in found.values())
    return [
        one if labels[one.label] == 1 else replace(one, label=f"{one.label} {one.fingerprint}")
        for one in found.values()
    ]


def read_vectors_of(library: Library, contender: Contender, corpus: Corpus) -> CorpusVectors:
    """Open an encoder and read its vectors of every picture, name and tag of a corpus.

    Raises:
        LibraryError: some have no vector, and no reason why.
        EmbedError: a shard is damaged.
    """
    folder = library.vectors(contender.fingerprint)

    def read(kind: Kind, ids: Ids) -> tuple[Floats, NDArray[np.bool_]]:
        vectors, filled = read_vectors(folder, kind, ids, fingerprint=contender.fingerprint)
        return vectors.astype(np.float32), filled

    images, has_image = read("images", corpus.image_ids)
    text_ids = np.union1d(corpus.name_ids, corpus.tag_ids)
    texts, has_text = read("names", text_ids)
    names, tags = (texts[np.searchsorted(text_ids, ids)] for ids in (corpus.name_ids, corpus.tag_ids))
    failed = np.fromiter(read_coverage(folder).failures, np.int64)
    n_missing = int((~has_text).sum() + (~np.isin(corpus.image_ids[~has_image], failed)).sum())
    if n_missing:
        raise _lacks_vectors(contender.model, n_missing)
    encoder = open_query_encoder(library.encoder(contender.fingerprint))
    return CorpusVectors(contender.fingerprint, encoder, images, has_image, names, tags)


def _fingerprint(library: Library, model: str) -> str:
    """Fingerprint of the encoder that a name means now; an open_clip name means the one that was embedded under it."""
    embedded = {
        facts.fingerprint
        for facts in _encoders(library)
        if (choice := ModelChoice.from_json(facts.choice)).model == model and choice.pretrained
    }
    if len(embedded) > 1:
        raise ModelError(
            f'model "{model}" is in this library {len(embedded)} times; choose by {", ".join(sorted(embedded))}'
        )
    try:
        return embedded.pop() if embedded else find_checkpoint(ModelChoice(model)).fingerprint
    except ModelError as error:
        here = ", ".join(sorted(f'"{facts.model}"' for facts in _encoders(library)))
        raise ModelError(f"{error}; embedded in this library: {here}") from error


def _encoders(library: Library) -> Iterator[EncoderFacts]:
    """What every query encoder of the library says of itself."""
    for folder in folders_in(library.root / "encoders"):
        try:
            yield read_facts(folder)
        except (OSError, ValueError) as error:
            raise LibraryError(f'"{folder}" can\'t be read ({error}); delete it and run `icons index`') from error


def _lacks_vectors(model: str, n_missing: int | None = None) -> LibraryError:
    what = f" for {n_missing:,} pictures, names and tags" if n_missing else ""
    return LibraryError(
        f'this library has no vectors of model "{model}"{what}; `icons index --only embed --model {model}` makes them'
    )


class EngineRanker:
    """The engine over one generation, as another encoder, other weights or no tags would have it."""

    def __init__(
        self, engine: SearchEngine, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags
    ) -> None:
        self._corpus = corpus
        opened = engine.with_generation(lambda opened: opened)
        is_its_own = (vectors.fingerprint, weights) == (opened.manifest.fingerprint, opened.manifest.weights)
        if not len(known.rows) and len(Tags.read(opened).rows):
            opened, is_its_own = _without_tags(opened, corpus), False
        self._engine = SearchEngine(
            engine.library, opened if is_its_own else _published(opened, corpus, vectors, weights, known)
        )

    def hits(self, text: str, sets: Iterable[str] = ()) -> Ids:
        """Rows of the hits that somebody is shown who prefers no set and asks for no more, best first."""
        found = self._engine.ask(Query(words=text, prefer=()), filters=Filters(sets=tuple(sets)))
        return np.searchsorted(self._corpus.icon_ids, np.array([hit.id for hit in found.hits], np.int64))

    def ranks(self, question: Question) -> Ranks:
        """Ranks of the hits that are right or stand for an icon that is, ascending; icons that none stands for follow.

        A hit stands for its variants, and for icons with its drawing.
        """
        hits, right = self.hits(question.query.text, question.sets), question.right
        missing = np.unique(self._corpus.group_rows[right[~self._stands(right, hits)]])
        return np.append(np.flatnonzero(self._stands(hits, right)) + 1, np.full(len(missing), UNRANKED))

    def _stands(self, rows: Ids, others: Ids) -> Mask:
        """Which of some icons are variants of others, or drawn as one of them."""
        numbers = self._corpus.group_rows, self._corpus.drawing_rows
        return np.asarray(np.any([np.isin(number[rows], number[others]) for number in numbers], axis=0))


def _without_tags(opened: Opened, corpus: Corpus) -> Opened:
    """The same generation, as if its sources stated none: what its words say and filters know of them."""
    names = [(name, corpus.words[name], "", "") for name in corpus.name_ids.tolist()]
    named = zip(corpus.name_ids[corpus.name_rows].tolist(), corpus.icon_ids.tolist(), strict=True)
    lexicon = Lexicon.of_keywords(names, named)
    vocabulary = Counter(word for _, words, *_ in names for word in set(words.split()) if len(word) > 1)
    speller = Speller.of(lambda: vocabulary, lexicon, opened.encoder)
    facets = opened.in_memory(Ability.EVALUATE).with_pairs("tag", np.empty((2, 0), np.int64))
    return replace(opened, lexicon=lexicon, speller=speller, facets=facets)


def _published(opened: Opened, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags) -> Opened:
    """The same generation, as a merge would make it of these vectors; its indexes are exact."""
    tags = TagVectors(vectors.tags, known.rows, known.codes)
    every = Vectors(
        image_ids=corpus.image_ids,
        images=vectors.images,
        name_ids=corpus.name_ids,
        names=vectors.names,
        icon_ids=corpus.icon_ids,
        image_rows=corpus.image_rows,
        name_rows=corpus.name_rows,
        tags=tags,
    )
    dim = vectors.images.shape[1]
    icons, pictures = (
        VectorIndex.build(ids, chunks, dim=dim, spec=FP16.spec(len(ids), dim=dim))
        for ids, chunks in ((corpus.icon_ids, every.fused(weights)), (corpus.image_ids, [vectors.images]))
    )
    answering = Answering(
        icons=icons,
        pictures=pictures,
        lexicon=opened.lexicon,
        nonsense=Nonsense.of(vectors.encoder),
        names=(corpus.icon_ids, corpus.name_ids[corpus.name_rows]),
        drawings=(corpus.image_ids, opened.in_memory(Ability.EVALUATE).drawings[corpus.first_rows]),
    )
    names = [
        NamedQuery(corpus.words[int(corpus.name_ids[row])], vectors.names[row], int(corpus.name_ids[row]))
        for row in spread(len(corpus.name_ids), N_ASKED).tolist()
    ]
    manifest = replace(opened.manifest, calibration=calibrate(answering, names))
    return replace(
        opened, manifest=manifest, encoder=vectors.encoder, icons=FaissVectors(icons), pictures=FaissVectors(pictures)
    )


SCORES_AT_ONCE = 8_000_000
"""Scores of one ranker in memory at a time: 32 MB."""
ENCODED_AT_ONCE = 64


class VectorRankers:
    """Names and pictures by inner product with the query's vector, and their weighted sum with tags; and the engine."""

    def __init__(
        self, engine: SearchEngine, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags
    ) -> None:
        self._corpus = corpus
        self._vectors = vectors
        self._weights = weights
        self._means = TagVectors(vectors.tags, known.rows, known.codes).means(np.arange(len(corpus)))
        self.engine = EngineRanker(engine, corpus, vectors, weights, known)

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its name, by its picture, and by these and its tags, (texts, icons) each."""
        queries = encode_texts(self._vectors.encoder, texts)
        names = (queries @ self._vectors.names.T)[:, self._corpus.name_rows]
        pictures = (queries @ self._vectors.images.T)[:, self._corpus.image_rows]
        seen = self._weights.picture * pictures + (1 - self._weights.picture) * names
        share = np.float32(self._weights.tags) * self._means.any(axis=1)
        fused: Floats = (1 - share) * seen + share * (queries @ self._means.T)
        for scores in (pictures, fused):
            scores[:, ~self._vectors.has_image[self._corpus.image_rows]] = -np.inf
        return {"names": names, "pictures": pictures, "fused": fused}

    def ranks(self, questions: Sequence[Question]) -> dict[str, list[Ranks]]:
        """Ranks of each question's right answers, ascending, by ranker."""
        found = {}
        for ranker, scores in self.scores([question.query.text for question in questions]).items():
            for row, question in zip(scores, questions, strict=True):
                row[self._corpus.outside(question.sets)] = -np.inf
            found[ranker] = [right_ranks(row, one.right) for row, one in zip(scores, questions, strict=True)]
        return {**found, ENGINE: [*map(self.engine.ranks, questions)]}


def encode_texts(encoder: QueryEncoder, texts: Sequence[str]) -> Floats:
    """Encode texts as a search does, (texts, dim)."""
    words = [normalise(text) for text in texts]
    parts = [words[start : start + ENCODED_AT_ONCE] for start in range(0, len(words), ENCODED_AT_ONCE)]
    return np.concatenate([encoder.encode_many_words(part) for part in parts])


def in_blocks(n: int, *, n_candidates: int, most: int = 1024) -> Iterator[slice]:
    """Cut `n` questions into blocks of at most `most` whose scores over all candidates fit in memory."""
    size = min(most, max(1, SCORES_AT_ONCE // max(1, n_candidates)))
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
