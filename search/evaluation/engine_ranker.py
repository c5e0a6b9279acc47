"""Which icons does the engine itself answer with, given an encoder, weights, and the tags that it may know?"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.publishing.calibration import N_ASKED, Answering, Asked, calibrate, spread
from indexer.publishing.index_kinds import FP16
from indexer.publishing.lexicon import Lexicon
from indexer.publishing.manifest import Weights
from indexer.publishing.vector_index import VectorIndex
from indexer.publishing.vectors import TagVectors, Vectors
from search.evaluation.contenders import CorpusVectors
from search.evaluation.corpus import Corpus
from search.evaluation.regimes import Tags
from search.generation.backend import Ability
from search.generation.facets import Chosen
from search.generation.opened import Opened
from search.generation.vectors import FaissVectors
from search.query import Query
from search.ranking.asked import read_asked, read_avoided
from search.ranking.candidates import Reach, by_words
from search.ranking.gathering import N_CANDIDATES
from search.ranking.scores import good_enough
from search.words.spelling import Speller


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
        asked = read_asked(self._opened, text, vector=vector)
        avoided = read_avoided(self._opened, Query(words=text), asked)
        found = by_words(self._opened, asked, avoided, Reach(N_CANDIDATES, self._only))
        kept = good_enough(np.arange(len(found.ids)), found.scores, None)
        scores = np.full(len(self._corpus), -np.inf, np.float32)
        ranked_by = np.stack([found.tiers[kept], -found.evidence[kept]])
        places = np.unique(ranked_by, axis=1, return_inverse=True)[1].reshape(-1)
        scores[np.searchsorted(self._corpus.icon_ids, found.ids[kept])] = -places
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
    bearers = zip(corpus.name_ids[corpus.name_rows].tolist(), corpus.icon_ids.tolist(), strict=True)
    lexicon = Lexicon.of_keywords(keywords, bearers)
    of_names = (set(f"{words} {tag_words}".split()) for _, words, tag_words, _ in keywords)
    vocabulary = Counter(word for words in of_names for word in words if len(word) > 1)
    speller = Speller.of(lambda: vocabulary, lexicon, opened.encoder)
    facets = opened.in_memory(Ability.EVALUATE).telling("tag", np.stack([known.rows, known.codes]))
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
    icons = _index(seen.icon_ids, seen.fused(weights), dim=dim)
    pictures = _index(corpus.image_ids[shown], [vectors.images[shown]], dim=dim)
    first_icons = np.unique(corpus.image_rows, return_index=True)[1]
    answering = Answering(
        icons=icons,
        pictures=pictures,
        lexicon=opened.lexicon,
        encoder=vectors.encoder,
        bearers=(seen.icon_ids, corpus.name_ids[seen.name_rows]),
        drawings=(corpus.image_ids[shown], opened.in_memory(Ability.EVALUATE).drawings[first_icons[shown]]),
    )
    names = [
        Asked(corpus.words[int(corpus.name_ids[row])], vectors.names[row], int(corpus.name_ids[row]))
        for row in spread(len(corpus.name_ids), N_ASKED).tolist()
    ]
    manifest = replace(opened.manifest, calibration=calibrate(answering, names))
    return replace(
        opened, manifest=manifest, encoder=vectors.encoder, icons=FaissVectors(icons), pictures=FaissVectors(pictures)
    )


def _index(ids: Ids, chunks: Iterable[Floats], *, dim: int) -> VectorIndex:
    return VectorIndex.build(ids, chunks, dim=dim, spec=FP16.spec(len(ids), dim=dim))
