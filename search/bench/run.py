"""How fast is search here? Cold starts, warm queries, filters, many clients, and the kinds of index side by side.

Reads one generation and the vectors behind it; writes into a temporary folder only.

    icons bench search --report search.html
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.encoders.query_encoder import open_query_encoder
from indexer.library.folder import Library
from indexer.library.shards import read_vectors
from indexer.reports.bars import Progress
from search.bench.indexes import measure_indexes
from search.bench.latency import measure_cold, measure_filtered, measure_loads, measure_pictured, measure_warm
from search.bench.machine import describe_machine
from search.bench.measured import SearchBench
from search.bench.options import CLIENTS, COLD, FILTERS, INDEXES, PICTURES, WARM, SearchBenchOptions
from search.bench.timed_engine import TimedEngine
from search.engine import SearchEngine
from search.evaluation.corpus import Corpus
from search.evaluation.queries import read_queries
from search.evaluation.rankers import encode_texts

N_QUERIES = 100


def bench_search(library: Library, options: SearchBenchOptions, progress: Progress) -> SearchBench:
    """Measure the parts that were asked for; Ctrl-C ends it early, and what was measured until then is kept.

    Raises:
        LibraryError: there is no library, nothing in it, or too little.
        QueryFileError: a query file is not as it should be.
        IconsError: more vectors were asked for than memory holds.
    """
    engine = TimedEngine.open(library.root)
    corpus = Corpus.read(engine.generation)
    texts = _choose_texts(corpus, options)
    source = ", ".join(str(file) for file in options.queries) or "names of its own icons"
    found = SearchBench(
        library=str(library.root),
        generation=engine.generation.number,
        n_icons=len(corpus),
        n_pictures=len(corpus.image_ids),
        dim=engine.manifest.dim,
        seed=options.seed,
        queries=f"{len(texts)} queries: {source}",
        machine=describe_machine(),
    )
    try:
        _Run(engine, corpus, texts, options, progress).measure(found)
    except KeyboardInterrupt:
        found.stopped = True
    return found


def _choose_texts(corpus: Corpus, options: SearchBenchOptions) -> list[str]:
    """Take at most N_QUERIES texts."""
    own = [words for words in corpus.words.values() if words]
    texts = [query.text for file in options.queries for query in read_queries(file)] if options.queries else own
    generator = np.random.default_rng(options.seed)
    return [texts[place] for place in generator.permutation(len(texts))[:N_QUERIES].tolist()]


@dataclass(frozen=True, slots=True)
class _Run:
    """One measurement under way: an open library, and what is asked of it."""

    engine: TimedEngine
    corpus: Corpus
    texts: list[str]
    options: SearchBenchOptions
    progress: Progress

    def measure(self, found: SearchBench) -> None:
        """Fill in part after part."""
        parts, k, progress = self.options.parts, self.options.k, self.progress
        if COLD in parts:
            found.cold = measure_cold(self.engine.library, n_runs=self.options.n_cold, progress=progress)
        if WARM in parts:
            found.warm = measure_warm(self.engine, self.texts, k=k, progress=progress)
        untimed = SearchEngine.open(self.engine.library.root)
        if FILTERS in parts:
            found.filtered = measure_filtered(untimed, self.texts, k=k, progress=progress)
        if PICTURES in parts:
            icons = self.corpus.icon_ids.tolist()
            found.pictured = measure_pictured(untimed, icons, k=k, seed=self.options.seed, progress=progress)
        if CLIENTS in parts:
            found.loads = measure_loads(untimed, self.texts, k=k, progress=progress)
        if INDEXES in parts:
            measure_indexes(found, *self._vectors(), self.options, progress)

    def _vectors(self) -> tuple[NDArray[np.float16], Floats]:
        """Vectors of all pictures, and of the queries: words that ask for pictures are the hardest task of an index."""
        library, fingerprint = self.engine.library, self.engine.manifest.fingerprint
        folder = library.vectors(fingerprint)
        vectors, filled = read_vectors(folder, "images", self.corpus.image_ids, fingerprint=fingerprint)
        encoder = open_query_encoder(library.encoder(fingerprint))
        return vectors[filled], encode_texts(encoder, self.texts)
