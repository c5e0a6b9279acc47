"""Shards -> a generation: FAISS indexes, facets, calibration, lexicon, snapshot."""
