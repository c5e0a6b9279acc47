"""How fast is search here? Cold starts, warm queries, filters, many clients, and the kinds of index side by side.

Reads one generation and the vectors behind it; writes into a temporary folder only.

    icons bench search --report search.html
"""

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
from search.generation.snapshot import Snapshot

N_QUERIES = 100


def bench_search(library: Library, options: SearchBenchOptions, progress: Progress) -> SearchBench:
    """Measure the parts that were asked for; Ctrl-C ends it early, and what was measured until then is kept.

    Raises:
        LibraryError: there is no library, nothing in it, or too little.
        QueryFileError: a query file is not as it should be.
        IconsError: more vectors were asked for than memory holds.
    """
    run = _Run(TimedEngine.open(library.root), options, progress)
    found = run.begin()
    try:
        run.measure(found)
    except KeyboardInterrupt:
        found.stopped = True
    return found


class _Run:
    """One measurement under way: an open library, and what is asked of it."""

    def __init__(self, engine: TimedEngine, options: SearchBenchOptions, progress: Progress) -> None:
        self._engine = engine
        self._corpus = Corpus.read(Snapshot(engine.generation.catalog))
        self._options = options
        self._progress = progress
        self._texts = self._choose_texts()

    def begin(self) -> SearchBench:
        """Say what is measured, before anything is."""
        options = self._options
        source = ", ".join(str(file) for file in options.queries) or "names of its own icons"
        return SearchBench(
            library=str(self._engine.library.root),
            generation=self._engine.generation.number,
            n_icons=len(self._corpus),
            n_pictures=len(self._corpus.image_ids),
            dim=self._engine.manifest.dim,
            seed=options.seed,
            queries=f"{len(self._texts)} queries: {source}",
            machine=describe_machine(),
        )

    def measure(self, found: SearchBench) -> None:
        """Fill in part after part."""
        parts, k, progress = self._options.parts, self._options.k, self._progress
        if COLD in parts:
            found.cold = measure_cold(self._engine.library, n_runs=self._options.n_cold, progress=progress)
        if WARM in parts:
            found.warm = measure_warm(self._engine, self._texts, k=k, progress=progress)
        untimed = SearchEngine.open(self._engine.library.root)
        if FILTERS in parts:
            found.filtered = measure_filtered(untimed, self._texts, k=k, progress=progress)
        if PICTURES in parts:
            icons = self._corpus.icon_ids.tolist()
            found.pictured = measure_pictured(untimed, icons, k=k, seed=self._options.seed, progress=progress)
        if CLIENTS in parts:
            found.loads = measure_loads(untimed, self._texts, k=k, progress=progress)
        if INDEXES in parts:
            measure_indexes(found, *self._vectors(), self._options, progress)

    def _choose_texts(self) -> list[str]:
        """Take at most N_QUERIES texts."""
        files = self._options.queries
        own = [words for words in self._corpus.words.values() if words]
        texts = [query.text for file in files for query in read_queries(file)] if files else own
        generator = np.random.default_rng(self._options.seed)
        return [texts[place] for place in generator.permutation(len(texts))[:N_QUERIES].tolist()]

    def _vectors(self) -> tuple[NDArray[np.float16], Floats]:
        """Vectors of all pictures, and of the queries: words that ask for pictures are the hardest task of an index."""
        library, fingerprint = self._engine.library, self._engine.manifest.fingerprint
        folder = library.vectors(fingerprint)
        vectors, filled = read_vectors(folder, "images", self._corpus.image_ids, fingerprint=fingerprint)
        encoder = open_query_encoder(library.encoder(fingerprint))
        return vectors[filled], encode_texts(encoder, self._texts)
