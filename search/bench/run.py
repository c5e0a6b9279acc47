"""How fast is search here? Cold starts, warm queries, many clients, and the kinds of index side by side.

Reads one generation and the vectors behind it; writes into a temporary folder only.

    icons bench search --report search.html
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.library import Library
from indexer.shards import read_vectors
from search.asking import Progress
from search.bench.indexes import measure_indexes
from search.bench.latency import measure_cold, measure_loads, measure_warm
from search.bench.machine import describe_machine
from search.bench.measured import SearchBench
from search.bench.options import CLIENTS, COLD, INDEXES, WARM, SearchBenchOptions
from search.bench.timed_engine import TimedEngine
from search.corpus import Corpus
from search.encoder import Vector, open_query_encoder
from search.engine import SearchEngine
from search.queries import read_queries
from search.rankers import encode_texts
from search.snapshot import Snapshot

N_QUERIES = 100


def bench_search(library: Library, options: SearchBenchOptions, progress: Progress) -> SearchBench:
    """Measure the parts that were asked for.

    Raises:
        LibraryError: there is no library, nothing in it, or too little.
        QueryFileError: a query file is not as it should be.
        IconsError: more vectors were asked for than memory holds.
    """
    engine = TimedEngine.open(library.root)
    corpus = Corpus.read(Snapshot(engine.generation.catalog))
    texts, told = _queries(corpus, options)
    found = SearchBench(
        library=str(library.root),
        generation=engine.generation.number,
        n_icons=len(corpus),
        n_pictures=len(corpus.image_ids),
        dim=engine.manifest.dim,
        seed=options.seed,
        queries=told,
        machine=describe_machine(),
    )
    if COLD in options.parts:
        found.cold = measure_cold(engine.library, n_runs=options.n_cold, progress=progress)
    if WARM in options.parts:
        found.warm = measure_warm(engine, texts, k=options.k, progress=progress)
    if CLIENTS in options.parts:
        untimed = SearchEngine(engine.library, engine.generation)
        found.loads = measure_loads(untimed, texts, k=options.k, progress=progress)
    if INDEXES in options.parts:
        real, queries = _vectors(engine, corpus, texts)
        measured = measure_indexes(real, queries, options, progress)
        found.rows, found.left_out = list(measured.rows), list(measured.left_out)
        found.likeness = measured.likeness
    return found


def _queries(corpus: Corpus, options: SearchBenchOptions) -> tuple[list[str], str]:
    """At most N_QUERIES texts, and where they come from."""
    if options.queries:
        texts = [query.text for file in options.queries for query in read_queries(file)]
        told = ", ".join(str(file) for file in options.queries)
    else:
        texts = [words for words in corpus.words.values() if words]
        told = "names of its own icons"
    generator = np.random.default_rng(options.seed)
    chosen = generator.permutation(len(texts))[:N_QUERIES]
    return [texts[place] for place in chosen.tolist()], f"{len(chosen)} queries: {told}"


def _vectors(engine: SearchEngine, corpus: Corpus, texts: Sequence[str]) -> tuple[NDArray[np.float16], Vector]:
    """Vectors of all pictures, and of the queries: words that ask for pictures are the hardest task of an index."""
    fingerprint = engine.manifest.fingerprint
    folder = engine.library.vectors(fingerprint)
    vectors, filled = read_vectors(folder, "images", corpus.image_ids, fingerprint=fingerprint)
    return vectors[filled], encode_texts(open_query_encoder(engine.library.encoder(fingerprint)), texts)
