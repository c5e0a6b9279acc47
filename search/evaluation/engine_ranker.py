"""Which icons does the engine itself answer with? Asked over a lexicon of names alone, for evaluations.

A search knows tags, too. Where tags are the queries it would find what it was told, so they are left out here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from indexer.arrays import Floats, Ids
from indexer.publishing.calibration import N_ASKED, calibrate, spread
from indexer.publishing.index_kinds import CHUNK, FP16
from indexer.publishing.lexicon import Lexicon
from indexer.publishing.vector_index import VectorIndex
from search.evaluation.contenders import CorpusVectors
from search.evaluation.corpus import Corpus
from search.generation.opened import Opened
from search.ranking.answer import N_CANDIDATES
from search.ranking.candidates import Reach, by_words
from search.ranking.scores import good_enough
from search.words.lexical import Lexical
from search.words.spelling import Speller
from search.words.wording import read_words

_FIRST = 10.0
"""More than any similarity: an exact name comes first."""


class EngineRanker:
    """The engine over one generation, as an encoder and a weight of pictures would have it."""

    def __init__(self, opened: Opened, corpus: Corpus, vectors: CorpusVectors, *, picture_weight: float) -> None:
        self._corpus = corpus
        is_seen = vectors.has_image[corpus.image_rows]
        self._only = None if is_seen.all() else corpus.icon_ids[is_seen]
        if (vectors.fingerprint, picture_weight) != (opened.manifest.fingerprint, opened.manifest.picture_weight):
            opened = _published(opened, corpus, vectors, picture_weight=picture_weight)
        self._opened = _without_tags(opened, corpus)

    def scores(self, texts: Sequence[str], vectors: Floats) -> Floats:
        """What each icon is ranked by, (texts, icons), minus infinity for all that the answer leaves out."""
        return np.stack([self._of_icons(text, vector) for text, vector in zip(texts, vectors, strict=True)])

    def _of_icons(self, text: str, vector: Floats) -> Floats:
        wording = read_words(text, self._opened.speller)
        found = by_words(self._opened, wording, vector, Reach(N_CANDIDATES, self._only))
        kept = good_enough(np.arange(len(found.ids)), found.scores, None)
        scores = np.full(len(self._corpus), -np.inf, np.float32)
        scores[np.searchsorted(self._corpus.icon_ids, found.ids[kept])] = (
            found.similarities[kept] + _FIRST * found.exact[kept]
        )
        return scores


def _without_tags(opened: Opened, corpus: Corpus) -> Opened:
    words = [(name, corpus.words[name]) for name in corpus.name_ids.tolist()]
    bearers = zip(corpus.name_ids[corpus.name_rows].tolist(), corpus.icon_ids.tolist(), strict=True)
    lexical = Lexical(Lexicon.of_names(words, bearers))
    vocabulary = Counter(word for _, name in words for word in set(name.split()) if len(word) > 1)
    speller = Speller(lambda: vocabulary, is_borne=lexical.knows, is_usual=opened.encoder.has_token)
    return replace(opened, lexical=lexical, speller=speller)


def _published(opened: Opened, corpus: Corpus, vectors: CorpusVectors, *, picture_weight: float) -> Opened:
    """The same generation, as a merge would make it for another encoder or weight; its indexes are exact."""
    is_seen = vectors.has_image[corpus.image_rows]
    icon_ids = corpus.icon_ids[is_seen]
    image_rows, name_rows = corpus.image_rows[is_seen], corpus.name_rows[is_seen]

    def fused() -> Iterator[Floats]:
        for start in range(0, len(icon_ids), CHUNK):
            part = slice(start, start + CHUNK)
            pictures, names = vectors.images[image_rows[part]], vectors.names[name_rows[part]]
            yield picture_weight * pictures + (1 - picture_weight) * names

    shown = np.flatnonzero(vectors.has_image)
    dim = vectors.images.shape[1]
    icons = _index(icon_ids, fused(), dim=dim)
    pictures = _index(corpus.image_ids[shown], [vectors.images[shown]], dim=dim)
    first_icons = np.unique(corpus.image_rows, return_index=True)[1]
    chosen = spread(len(corpus.name_ids), N_ASKED)
    calibration = calibrate(
        icons,
        pictures,
        names=(vectors.names[chosen], corpus.name_ids[chosen]),
        bearers=(icon_ids, corpus.name_ids[name_rows]),
        drawings=(corpus.image_ids[shown], opened.drawings[first_icons[shown]]),
        encoder=vectors.encoder,
    )
    manifest = replace(opened.manifest, calibration=calibration)
    return replace(opened, manifest=manifest, encoder=vectors.encoder, icons=icons, pictures=pictures)


def _index(ids: Ids, chunks: Iterable[Floats], *, dim: int) -> VectorIndex:
    return VectorIndex.build(ids, chunks, dim=dim, spec=FP16.spec(len(ids), dim=dim))
