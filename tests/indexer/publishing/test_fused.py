"""Fused vectors are the sums of picture, name and tags that they should be, curves and drawings are those of all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import Build, Silent

from indexer.errors import ShardError
from indexer.library.folder import Library
from indexer.library.shards import shard_paths
from indexer.library.traits import NOT_KNOWN, TRAITS, find_drawings
from indexer.merging.facets import in_english
from indexer.merging.manifest import WEIGHTS, Curve, Manifest, Weights, fit
from indexer.merging.merge import OTHERS, TagVectors, Vectors, add_others, gather, read_rows
from indexer.merging.vector_index import VectorIndex
from indexer.pipeline import IndexOptions, embed, merge, scan

N_ICONS, N_TAGS, DIM = 23, 9, 8
OWN = Weights(picture=0.3, tags=0.6)


def _units(n: int, *, seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((n, DIM))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16)


@pytest.fixture(scope="module")
def stated() -> list[list[int]]:
    """The tags that each icon states: none, one, or several; a long row of icons states none."""
    random = np.random.default_rng(5)
    return [[] if 8 <= row < 15 else sorted(random.permutation(N_TAGS)[: row % 4].tolist()) for row in range(N_ICONS)]


@pytest.fixture(scope="module")
def vectors(stated: list[list[int]]) -> Vectors:
    random = np.random.default_rng(1)
    pairs = np.array([(row, tag) for row, tags in enumerate(stated) for tag in tags], np.int64)
    return Vectors(
        image_ids=np.arange(6) + 10,
        images=_units(6, seed=2),
        name_ids=np.arange(5) + 3,
        names=_units(5, seed=3),
        icon_ids=np.arange(N_ICONS) * 2 + 1,
        image_rows=random.integers(0, 6, N_ICONS),
        name_rows=random.integers(0, 5, N_ICONS),
        tags=TagVectors(_units(N_TAGS, seed=4), pairs[:, 0], pairs[:, 1]),
    )


def _by_hand(vectors: Vectors, row: int, tags: list[int], weights: Weights) -> np.ndarray:
    picture = vectors.images[vectors.image_rows[row]].astype(float)
    name = vectors.names[vectors.name_rows[row]].astype(float)
    seen = weights.picture * picture + (1 - weights.picture) * name
    if not tags:
        return np.asarray(seen)
    mean = sum(vectors.tags.vectors[tag].astype(float) for tag in tags) / len(tags)
    return np.asarray((1 - weights.tags) * seen + weights.tags * mean / np.linalg.norm(mean))


@pytest.mark.parametrize(("chunk", "at_once"), [(65_536, 4_096), (10, 3), (4, 3), (7, 50), (1, 1)])
def test_fused_vectors_are_those_of_a_slow_sum_wherever_chunks_end(
    vectors: Vectors, stated: list[list[int]], chunk: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.merging.merge.CHUNK", chunk)
    monkeypatch.setattr("indexer.merging.merge._ICONS_AT_ONCE", at_once)
    chunks = list(vectors.fused(OWN))
    assert [len(part) for part in chunks[:-1]] == [chunk] * (len(chunks) - 1)
    expected = [_by_hand(vectors, row, tags, OWN) for row, tags in enumerate(stated)]
    assert np.concatenate(chunks) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.fixture
def tagged(icon_folder: Path) -> Path:
    """Of eleven icons each second states tags, one of them a name of an icon, too."""
    lines = ["file_path,name,tags"]
    for number, file in enumerate(sorted(icon_folder.glob("dot-*.svg"))):
        lines.append(f'{file.name},{file.stem},"{f"Round, e-mail, arrow up, t{number}" if number % 2 else ""}"')
    lines.append("arrow-up.svg,arrow-up,north")
    (icon_folder / "icons.csv").write_text("\n".join(lines) + "\n")
    return icon_folder / "icons.csv"


def test_a_merge_fuses_the_tags_of_its_library_with_the_weights_of_its_manifest(
    build: Build, library: Library, tagged: Path
) -> None:
    fingerprint = build(tagged).embed.fingerprint
    generation = library.generation(1)
    manifest = Manifest.read(generation)
    assert manifest.weights == WEIGHTS
    rows = read_rows(generation.catalog)
    vectors = gather(generation, rows, library.vectors(fingerprint), fingerprint=fingerprint)
    assert vectors.name_ids[vectors.borne].tolist() == np.unique(rows[:, 2]).tolist()
    assert np.bincount(vectors.tags.rows, minlength=len(rows)).tolist() == [0, 4] * 4 + [0, 1]
    index = VectorIndex.open(generation.icons, spec=manifest.icons.spec)
    stated = [vectors.tags.tags[vectors.tags.rows == row].tolist() for row in range(len(rows))]
    expected = [_by_hand(vectors, row, tags, WEIGHTS) for row, tags in enumerate(stated)]
    assert index.reconstruct(vectors.icon_ids) == pytest.approx(np.array(expected), abs=2e-3)


def test_tags_without_vectors_are_refused_with_the_command_that_makes_them(
    build: Build, library: Library, icon_folder: Path, tagged: Path
) -> None:
    fingerprint = build(icon_folder).embed.fingerprint
    folder, before = library.vectors(fingerprint), shard_paths(library.vectors(fingerprint), "names")
    scan(library, IndexOptions(sources=[tagged]), Silent())
    with pytest.raises(ShardError, match="7 tags have no vector yet; `icons index` makes them"):
        merge(library, None, print)
    assert library.current() == 1
    embed(library, IndexOptions(devices="cpu"), Silent())
    assert merge(library, None, print) is not None
    [of_tags] = set(shard_paths(folder, "names")) - set(before)
    of_tags.unlink()
    generation = library.generation(2)
    with pytest.raises(ShardError, match="7 names have no vector yet; `icons index` makes them"):
        gather(generation, read_rows(generation.catalog), folder, fingerprint=fingerprint)


ICONS = [(3, "flèche\nbleu", "arrow\nblue"), (5, "house", ""), (9, "chat\nHouse", "cat\nchat\nhouse")]
TAGS = ["arrow", "blue", "bleu", "cat", "chat", "flèche", "house"]


def test_a_tag_that_another_says_in_english_is_left_out_for_its_icon_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE icons (id INTEGER, tags TEXT, english_tags TEXT)")
        connection.execute("CREATE TABLE labels (kind TEXT, code INTEGER, value TEXT)")
        connection.executemany("INSERT INTO icons VALUES (?, ?, ?)", ICONS)
        connection.executemany("INSERT INTO labels VALUES ('tag', ?, ?)", enumerate(TAGS))
    pairs = np.array([[0, 0, 0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 5, 6, 2, 3, 4, 6]], np.int32)
    kept = [(place, TAGS[code]) for place, code in in_english(tmp_path / "catalog.sqlite", pairs).T.tolist()]
    assert kept == [(0, "arrow"), (0, "blue"), (1, "house"), (1, "bleu"), (2, "cat"), (2, "chat"), (2, "house")]


def test_a_name_that_may_say_several_things_lies_between_them() -> None:
    names = np.eye(4, dtype=np.float16)[:3]
    others = np.eye(4, dtype=np.float16)[[2, 3, 3]]
    add_others(found := names.copy(), np.array([0, 0, 2]), others)
    own, rest = 1 - OTHERS, OTHERS / np.sqrt(2)
    expected = np.array([own, 0, rest, rest]) / np.linalg.norm([own, rest, rest])
    assert found[0] == pytest.approx(expected, abs=1e-3)
    assert (found[1] == names[1]).all()
    assert found[2] == pytest.approx(np.array([0, 0, own, OTHERS]) / np.hypot(own, OTHERS), abs=1e-3)
    add_others(found := names.copy(), np.array([], np.int64), others[:0])
    assert np.array_equal(found, names)


@pytest.mark.parametrize(
    ("digests", "drawings"),
    [
        ([70, -3, 70, 5, 70, -3], [0, 1, 0, 3, 0, 1]),
        ([NOT_KNOWN, NOT_KNOWN, 8, 8, NOT_KNOWN, NOT_KNOWN], [0, 1, 2, 2, 1, 5]),  # equal vectors tell
    ],
)
def test_pictures_of_equal_pixels_have_the_number_of_the_first(digests: list[int], drawings: list[int]) -> None:
    known, vectors = np.zeros(6, TRAITS), _units(6, seed=0)
    known["drawing"], vectors[4] = digests, vectors[1]
    assert find_drawings(known, vectors).tolist() == drawings


def test_a_curve_is_a_half_where_good_and_bad_hits_are_equally_frequent() -> None:
    random = np.random.default_rng(0)
    good, bad = (random.normal(middle, 0.05, 4000).astype(np.float32) for middle in (0.7, 0.5))
    curve = fit(good, bad)
    assert curve.centre == pytest.approx(0.6, abs=0.005)
    assert curve.slope == pytest.approx((0.7 - 0.5) / 0.05**2, rel=0.1)
    assert curve.scores(np.array([0.5, 0.6, 0.7], np.float32))[1] == pytest.approx(0.5, abs=0.1)


def test_an_encoder_that_takes_nonsense_for_sense_keeps_its_order() -> None:
    curve = fit(np.array([0.4, 0.5], np.float32), np.array([0.6, 0.7], np.float32))
    assert curve == Curve(1.0, curve.centre)
