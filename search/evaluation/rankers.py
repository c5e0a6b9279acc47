"""In what order each ranker puts all icons, the engine among them.

Larger is better; minus infinity is "not ranked". Scores are worked out once a distinct name and a distinct picture, so
that icons that share one are tied to the last bit.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.query_encoder import EncoderFacts, QueryEncoder, open_query_encoder, read_facts
from indexer.errors import LibraryError, ModelError
from indexer.languages.words import normalise
from indexer.library.folder import Library
from indexer.library.foreign import folders_in
from indexer.library.shards import Kind, read_coverage, read_vectors
from indexer.merging.index_kinds import FP16
from indexer.merging.lexicon import Lexicon
from indexer.merging.manifest import N_ASKED, Answering, NamedQuery, Weights, calibrate, spread
from indexer.merging.merge import TagVectors, Vectors
from indexer.merging.vector_index import VectorIndex
from search.evaluation.corpus import Corpus
from search.evaluation.queries import Tags
from search.generation.backend import Ability
from search.generation.facets import Chosen, FaissVectors
from search.generation.opened import Opened
from search.query import Query
from search.ranking.combine import ScoreCutoff, weigh
from search.ranking.features import features
from search.ranking.parsing import parse_avoided, parse_query
from search.ranking.retrieve import N_CANDIDATES, direct_of, question_of_words, retrieve
from search.words.wording import Speller


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
    found = [_contender(library, known, model) for model in dict.fromkeys(models or [in_use])]
    found = list({contender.fingerprint: contender for contender in found}.values())
    labels = Counter(contender.label for contender in found)
    return [
        contender
        if labels[contender.label] == 1
        else replace(contender, label=f"{contender.label} {contender.fingerprint}")
        for contender in found
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


def _contender(library: Library, known: dict[str, str], model: str) -> Contender:
    fingerprint = model if model in known else _fingerprint(library, model)
    name = known.get(fingerprint, model)
    if fingerprint not in known:
        raise _lacks_vectors(model)
    return Contender(name.removeprefix(LOCAL).rstrip("/").rpartition("/")[2] or name, name, fingerprint)


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
    """The engine over one generation, as another encoder, other weights or fewer tags would have it."""

    def __init__(
        self, opened: Opened, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags | None = None
    ) -> None:
        self._corpus = corpus
        is_seen = vectors.has_image[corpus.image_rows]
        self._only = None if is_seen.all() else Chosen(corpus.icon_ids[is_seen])
        is_its_own = (vectors.fingerprint, weights) == (opened.manifest.fingerprint, opened.manifest.weights)
        every = Tags.read(opened)
        if known is not None and len(known.rows) < len(every.rows):
            opened, is_its_own = _stating(opened, corpus, known), False
        self._opened = opened if is_its_own else _published(opened, corpus, vectors, weights, known or every)

    def scores(self, texts: Sequence[str], vectors: Floats) -> Floats:
        """Where each icon stands, 0 for the first, then -1 ..., (texts, icons); minus infinity for what is left out."""
        return np.stack([self._of_icons(text, vector) for text, vector in zip(texts, vectors, strict=True)])

    def _of_icons(self, text: str, vector: Floats) -> Floats:
        asked = parse_query(self._opened, text, vector=vector)
        avoided = parse_avoided(self._opened, Query(words=text), asked)
        question = replace(
            question_of_words(self._opened, asked), direct=direct_of(self._opened, asked), avoided=avoided
        )
        found = retrieve(question, N_CANDIDATES, self._only, is_first=True)
        rows = weigh(question, features(question, found.ids[found.fits], found))
        kept = ScoreCutoff.of(rows, None, is_never_empty=False).hits(rows)
        scores = np.full(len(self._corpus), -np.inf, np.float32)
        ranked_by = np.stack([kept["tier"], -kept["evidence"]])
        places = np.unique(ranked_by, axis=1, return_inverse=True)[1].reshape(-1)
        scores[np.searchsorted(self._corpus.icon_ids, kept["icon"])] = -places
        return scores


def _stating(opened: Opened, corpus: Corpus, known: Tags) -> Opened:
    """The same generation, as if its sources stated some tags alone: what its words say and filters know of them."""
    tags: defaultdict[int, set[str]] = defaultdict(set)
    for row, code in zip(corpus.name_rows[known.rows].tolist(), known.codes.tolist(), strict=True):
        tags[row].add(known.words[code])
    keywords = [
        (name, corpus.words[name], " ; ".join(sorted(tags[row])), "")
        for row, name in enumerate(corpus.name_ids.tolist())
    ]
    named = zip(corpus.name_ids[corpus.name_rows].tolist(), corpus.icon_ids.tolist(), strict=True)
    lexicon = Lexicon.of_keywords(keywords, named)
    of_names = (set(f"{words} {tag_words}".split()) for _, words, tag_words, _ in keywords)
    vocabulary = Counter(word for words in of_names for word in words if len(word) > 1)
    speller = Speller.of(lambda: vocabulary, lexicon, opened.encoder)
    facets = opened.in_memory(Ability.EVALUATE).with_pairs("tag", np.stack([known.rows, known.codes]))
    return replace(opened, lexicon=lexicon, speller=speller, facets=facets)


def _published(opened: Opened, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags) -> Opened:
    """The same generation, as a merge would make it of these vectors; its indexes are exact."""
    is_seen = vectors.has_image[corpus.image_rows]
    rows = np.flatnonzero(is_seen)
    stated = is_seen[known.rows]
    tags = TagVectors(vectors.tags, np.searchsorted(rows, known.rows[stated]), known.codes[stated])
    seen = Vectors(
        image_ids=corpus.image_ids,
        images=vectors.images,
        name_ids=corpus.name_ids,
        names=vectors.names,
        icon_ids=corpus.icon_ids[rows],
        image_rows=corpus.image_rows[rows],
        name_rows=corpus.name_rows[rows],
        tags=tags,
    )
    dim, shown = vectors.images.shape[1], np.flatnonzero(vectors.has_image)
    icons, pictures = (
        VectorIndex.build(ids, chunks, dim=dim, spec=FP16.spec(len(ids), dim=dim))
        for ids, chunks in ((seen.icon_ids, seen.fused(weights)), (corpus.image_ids[shown], [vectors.images[shown]]))
    )
    first_icons = np.unique(corpus.image_rows, return_index=True)[1]
    answering = Answering(
        icons=icons,
        pictures=pictures,
        lexicon=opened.lexicon,
        encoder=vectors.encoder,
        names=(seen.icon_ids, corpus.name_ids[seen.name_rows]),
        drawings=(corpus.image_ids[shown], opened.in_memory(Ability.EVALUATE).drawings[first_icons[shown]]),
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


class KeywordRanker:
    """BM25 over the words of names and tags (SQLite FTS5); an icon that bears no word of the query is not ranked."""

    def __init__(self, corpus: Corpus, known: Tags) -> None:
        self._n = len(corpus)
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE icons USING fts5 (name, tags, tokenize = 'porter unicode61')")
        tags: defaultdict[int, list[str]] = defaultdict(list)
        for row, code in zip(known.rows.tolist(), known.codes.tolist(), strict=True):
            tags[row].append(known.words[code])
        rows = (
            (row, corpus.words[name], " ; ".join(tags[row]))
            for row, name in enumerate(corpus.name_ids[corpus.name_rows].tolist())
        )
        self._connection.executemany("INSERT INTO icons (rowid, name, tags) VALUES (?, ?, ?)", rows)

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its BM25, a word of the name as three of tags."""
        return {"keyword": np.stack([self._of_icons(text) for text in texts])}

    def _of_icons(self, text: str) -> Floats:
        scores = np.full(self._n, -np.inf, np.float32)
        found = self._connection.execute(
            "SELECT rowid, -bm25(icons, 3.0, 1.0) FROM icons WHERE icons MATCH ?", (any_word_of(text),)
        ).fetchall()
        if found:
            rows, values = zip(*found, strict=True)
            scores[list(rows)] = values
        return scores


def any_word_of(text: str) -> str:
    """Spell a query for FTS5: any of its words, each quoted, since most signs are operators there."""
    quoted = ('"' + word.replace('"', '""').replace("\0", "") + '"' for word in normalise(text).split())
    return " OR ".join(quoted)


class VectorRankers:
    """Names, pictures and tags by inner product with the query's vector, their weighted sum, and the engine."""

    def __init__(
        self, opened: Opened, corpus: Corpus, vectors: CorpusVectors, weights: Weights, known: Tags | None = None
    ) -> None:
        self._corpus = corpus
        self._vectors = vectors
        self._weights = weights
        known = known or Tags.read(opened)
        self._means = TagVectors(vectors.tags, known.rows, known.codes).means(np.arange(len(corpus)))
        self._is_tagged = self._means.any(axis=1)
        self._engine = EngineRanker(opened, corpus, vectors, weights, known)
        self._unseen = ~vectors.has_image[corpus.image_rows]

    def scores(self, texts: Sequence[str]) -> dict[str, Floats]:
        """Score every icon by its name, its picture and its tags, by all three, and by where the engine puts it."""
        queries = encode_texts(self._vectors.encoder, texts)
        names = (queries @ self._vectors.names.T)[:, self._corpus.name_rows]
        pictures = (queries @ self._vectors.images.T)[:, self._corpus.image_rows]
        fused = self._weights.picture * pictures + (1 - self._weights.picture) * names
        found = {"names": names, "pictures": pictures}
        if self._is_tagged.any():
            tags = queries @ self._means.T
            share = self._weights.tags * self._is_tagged
            fused = (1 - share) * fused + share * tags
            tags[:, ~self._is_tagged] = -np.inf
            found["tags"] = tags
        for scores in (pictures, fused):
            scores[:, self._unseen] = -np.inf
        return {**found, "fused": fused, "engine": self._engine.scores(texts, queries)}


Rankers = KeywordRanker | VectorRankers
"""One or several rankers that answer a question together."""


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
