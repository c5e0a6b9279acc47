"""Queries that ship are what their scripts make, and sketches find what they were meant to be."""

import hashlib
import json
import subprocess
import sys

import numpy as np

from data.making.eval.looks import Stated, agreement_tables, is_learnt_from
from data.making.eval.mapping import Row
from data.making.eval.mapping import measure as measure_mapping
from data.making.eval.queries import queries
from data.making.eval.sketches import PAGE, Sketch, measure, ranked, read_sketches
from indexer.library.bundled import bundled
from indexer.library.named import read_text
from search.engine import SearchEngine
from search.evaluation.queries import read_queries


def test_the_benchmark_is_made_of_its_tags() -> None:
    lines = [json.loads(line) for line in read_text(bundled("eval") / "lucide-1.62.0.jsonl.xz").splitlines()]
    tags: dict[str, list[str]] = {}
    for line in lines:
        for icon in line["relevant"]:
            tags.setdefault(icon, []).append(f" {line['query'].upper() if line['query'] == 'album' else line['query']}")
    assert (list(queries(tags)), [kind["kind"] for kind in lines].count("meaning")) == (lines, 3982)


def test_the_sketches_are_made_to_the_byte() -> None:
    command = [sys.executable, "-m", "data.making.eval.queries", "sketches", str(bundled("samples/lucide-static"))]
    assert subprocess.run(command, capture_output=True, check=True).stdout == bundled("eval/sketches.json").read_bytes()


def test_a_sketch_finds_what_it_was_meant_to_be(engine: SearchEngine) -> None:
    bell = next(sketch for sketch in read_sketches() if sketch.right[0] == "bell")
    named, said = ranked(engine, bell, PAGE)
    assert said <= named
    nothing = Sketch("hand", ("no such icon",), bell.strokes)
    assert ranked(engine, nothing, PAGE) == (None, None)
    [by_hand, everything] = measure(engine, [bell, nothing], [PAGE])
    assert (by_hand.by, by_hand.n, everything.by, everything.n) == ("hand", 2, "all", 2)
    assert by_hand.named_at_10 == 0.5


def test_a_table_of_stand_ins_is_held_against_what_is_mapped(engine: SearchEngine) -> None:
    own = engine.search("bell", k=1)[0].set
    found = measure_mapping(engine, [Row("bell", frozenset(["bell"])), Row("house", frozenset())], source=own, to=own)
    assert (list(found), [(one.first, len(one.answerable)) for one in found.values()]) == (
        ["picture alone", "words alone", "both"],
        [(1, 1)] * 3,
    )


def test_looks_that_are_seen_are_held_against_those_that_are_stated() -> None:
    keys = [next(key for key in "abcdefgh" if is_learnt_from(key) == is_learnt) for is_learnt in (True, False)]
    looks = np.array([0, 1] * 60, np.int8)
    likely = np.eye(4, dtype=np.float32)[looks]
    shares, confusion = agreement_tables(
        Stated(np.array(keys).repeat(60), ["outline" if look == 0 else "filled" for look in looks], looks, likely)
    )
    assert "| its picture alone | 1.000 | 1.000 | 1.000 | 1.000 |" in shares
    assert "| outline | 30 | 0 | 0 | 0 | 1.000 |" in confusion


def test_halves_of_the_concepts_are_as_their_hashes_say_and_lucides_names_exist() -> None:
    halves = {half: read_queries(bundled("eval") / f"concepts-{half}.jsonl.xz") for half in ("open", "kept")}
    texts = [query.text for lines in halves.values() for query in lines]
    assert len(texts) == len(set(texts)) == 294
    for half, lines in halves.items():
        for query in lines:
            assert half == ("open" if hashlib.blake2b(query.text.encode()).digest()[0] % 2 == 0 else "kept"), query.text
            assert list(query.by_set) == ["lucide", "tabler", "material-symbols"]
    assert {name for lines in halves.values() for query in lines for name in query.by_set["lucide"]} <= {
        path.stem for path in bundled("samples/lucide-static/icons").glob("*.svg")
    }
