"""What a merge makes of words: the lexicon, and fused vectors."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import Build, Silent, svg

from indexer.encoders.query_encoder import open_query_encoder, read_facts
from indexer.errors import LibraryError, ShardError
from indexer.languages.words import LOOKS
from indexer.library.folder import Library
from indexer.library.shards import NOT_KNOWN, TRAITS, Ink, find_drawings, shard_paths
from indexer.merging.facets import in_english, likelihoods, name_styles
from indexer.merging.lexicon import STATED_SHARE, Lexicon, stems
from indexer.merging.manifest import WEIGHTS, Curve, Manifest, Nonsense, Weights, fit
from indexer.merging.merge import OTHERS, TagVectors, Vectors, add_others, gather, read_rows
from indexer.merging.vector_index import VectorIndex
from indexer.pipeline import IndexOptions, embed, merge, scan
from indexer.rendering.render import render

NAMES = [
    (3, "arrow left", "", ""),
    (5, "arrow right", "", ""),
    (9, "batteries", "power ; left", ""),
    (12, "c++", "", ""),
]
ICONS = [(3, 1), (3, 7), (5, 2), (9, 4), (12, 5)]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    Lexicon.of_keywords(NAMES, ICONS).save(tmp_path / "lexicon")
    return Lexicon.open(tmp_path / "lexicon")


def test_coverage_is_the_weight_of_the_words_that_a_name_bears_or_is_told(lexicon: Lexicon) -> None:
    arrow, left = (float(lexicon.weights[lexicon.place(word)]) for word in ("arrow", "left"))
    expected = [1, arrow / (arrow + left), STATED_SHARE * left / (arrow + left), 0]
    assert lexicon.coverage("left arrow") == pytest.approx(expected)
    assert lexicon.coverage("left unheard") == pytest.approx(
        [left / (left + 1), 0, STATED_SHARE * left / (left + 1), 0]
    )


def test_a_word_is_covered_by_a_name_that_writes_it_as_two() -> None:
    names = [(n, words, "", "") for n, words in enumerate(("check box", "check", "ice off", "checkbox", "note pad"))]
    lexicon = Lexicon.of_keywords(names, [(n, n) for n in range(len(names))])
    assert lexicon.coverage("checkboxes").tolist() == [1, 0, 0, 1, 0]
    assert lexicon.coverage("notepads").tolist() == [0, 0, 0, 0, 1]
    assert lexicon.coverage("office").tolist() == [0, 0, 0, 0, 0]
    for words, tags in (("check box", "checkbox"), ("check box checkbox", "")):  # says it twice, and nothing of "blank"
        lexicon = Lexicon.of_keywords([(0, words, tags, ""), *names[1:], (9, "blank", "", "")], [(0, 0)])
        assert lexicon.coverage("checkbox blank")[0] == lexicon.coverage("checkbox blank")[3] < 1


def test_a_name_is_as_usual_as_many_icons_bear_it() -> None:
    lexicon = Lexicon.of_keywords(NAMES, [(3, 100 + n) for n in range(19)] + ICONS)
    assert lexicon.usual - lexicon.usual[1] == pytest.approx([1, 0, 0, 0])


def test_function_words_count_where_there_are_no_others(lexicon: Lexicon) -> None:
    assert lexicon.coverage("an arrow of the left").tolist() == lexicon.coverage("arrow left").tolist()
    assert lexicon.coverage("of the").tolist() == [0, 0, 0, 0]


def test_stems_are_those_of_the_keyword_index(lexicon: Lexicon) -> None:
    assert stems("battery arrows") == ("batteri", "arrow")
    assert lexicon.coverage("battery").argmax() == 2
    assert lexicon.coverage("c++").tolist() == [0, 0, 0, 1]


def test_the_best_names_are_short_ones_that_cover_most(lexicon: Lexicon) -> None:
    assert lexicon.best_rows(lexicon.coverage("arrow left"), most=10).tolist() == [0, 1, 2]
    alike = Lexicon.of_keywords([(n, f"dot {n}", "", "") for n in range(500)], [(n, n) for n in range(500)])
    assert all(alike.best_rows(alike.coverage("dot"), most=n).tolist() == [*range(n)] for n in (1, 50, 400, 500))
    assert lexicon.best_rows(lexicon.coverage("nothing"), most=10).tolist() == []


def test_a_word_is_known_in_any_form_that_a_name_or_a_tag_bears(lexicon: Lexicon) -> None:
    assert [word for word in ("battery", "powers", "arrow", "c++", "c", "arro") if lexicon.knows(word)] == [
        "battery", "powers", "arrow", "c++",
    ]  # fmt: skip


def test_a_damaged_lexicon_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "lexicon").write_bytes(b"half")
    with pytest.raises(LibraryError, match="`icons index` builds a new generation"):
        Lexicon.open(tmp_path / "lexicon")


RING = '<circle cx="12" cy="12" r="9" fill="none" stroke="black" stroke-width="2"/>'
HOUSE = '<path d="M3 11l9-8 9 8v10h-6v-7H9v7H3z" fill="none" stroke="black" stroke-width="2"/>'
DISC = '<circle cx="12" cy="12" r="10"/>'
SHIELD = '<path d="M12 1l9 4v7c0 5-4 9-9 11-5-2-9-6-9-11V5z"/>'
ARROW = '<path d="M4 12h16M13 5l7 7-7 7" fill="none" stroke="black" stroke-width="2"/>'
DUOTONE = f'<circle cx="12" cy="12" r="9" opacity=".3"/>{RING}'
FLAT = (
    '<circle cx="12" cy="12" r="10" fill="#2196f3"/><rect x="6" y="8" width="12" height="9" fill="#ffc107"/>'
    '<rect x="9" y="4" width="6" height="6" fill="#4caf50"/>'
)
UNKNOWN = [NOT_KNOWN] * len(Ink._fields)


def _ink(*bodies: str) -> np.ndarray:
    return np.array([render(svg(body).encode(), size=64).ink for body in bodies], np.int8)


def _named(*bodies: str, stated: list[str | None] | None = None) -> list[str | None]:
    return name_styles(stated or [None] * len(bodies), np.zeros(len(bodies), np.int32), _ink(*bodies))


@pytest.mark.parametrize(
    ("body", "look"),
    [
        (RING, "outline"),
        (HOUSE, "outline"),
        (ARROW, "outline"),
        (DISC, "filled"),
        (SHIELD, "filled"),
        (DUOTONE, "duotone"),
        (FLAT, "color"),
    ],
)
def test_a_picture_alone_shows_its_look(body: str, look: str) -> None:
    [likely] = likelihoods(_ink(body))
    assert LOOKS[int(likely.argmax())] == look
    assert likely.sum() == pytest.approx(1)
    assert _named(body) == [look]


def test_an_arrow_is_as_the_others_of_its_set_are() -> None:
    assert _named(*[DISC, SHIELD] * 15, ARROW)[-1] == "filled"
    assert _named(*[RING, HOUSE] * 15, ARROW)[-1] == "outline"
    assert _named(*[RING, DISC] * 15, ARROW)[-1] == "outline"
    assert _named(*[RING, HOUSE] * 15, DISC)[-1] == "filled", "what is clear is not changed"
    assert _named(*[FLAT] * 30, DISC)[-1] == "filled", "what shows no colour is no picture in colours"
    stated = [*[None] * 30, *["bold"] * 31]  # a group of its own
    assert _named(*[RING, HOUSE] * 15, *[DISC, SHIELD] * 15, ARROW, stated=stated)[-1] == "bold filled"


def test_sets_do_not_meddle_with_each_other() -> None:
    bodies = [*[DISC, SHIELD] * 15, ARROW, *[RING, HOUSE] * 15, ARROW]
    named = name_styles([None] * 62, np.repeat([4, 9], 31), _ink(*bodies))
    assert (named[30], named[61]) == ("filled", "outline")


def test_a_stated_look_is_kept_and_other_styles_stand_beside_the_one_that_is_seen() -> None:
    stated: list[str | None] = ["filled", "sharp twotone", "rounded", "linear", "color"]
    expected = ["filled", "sharp duotone", "rounded filled", "linear outline", "color"]
    assert _named(RING, RING, DISC, DISC, RING, stated=stated) == expected


def test_without_measures_only_what_is_stated_is_known() -> None:
    ink = np.array([UNKNOWN, UNKNOWN, *_ink(DISC).tolist()], np.int8)
    assert name_styles([None, "sharp outline", None], np.zeros(3, np.int32), ink) == [None, "sharp outline", "filled"]
    assert name_styles([], np.zeros(0, np.int32), np.zeros((0, len(Ink._fields)), np.int8)) == []


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


FUSED = [(3, "flèche\nbleu", "arrow\nblue"), (5, "house", ""), (9, "chat\nHouse", "cat\nchat\nhouse")]
TAGS = ["arrow", "blue", "bleu", "cat", "chat", "flèche", "house"]


def test_a_tag_that_another_says_in_english_is_left_out_for_its_icon_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE icons (id INTEGER, tags TEXT, english_tags TEXT)")
        connection.execute("CREATE TABLE labels (kind TEXT, code INTEGER, value TEXT)")
        connection.executemany("INSERT INTO icons VALUES (?, ?, ?)", FUSED)
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


def test_vectors_of_nonsense_are_encoded_once_and_again_where_they_are_damaged(
    build: Build, library: Library, icon_folder: Path
) -> None:
    encoder = library.encoder(build(icon_folder).embed.fingerprint)
    [file] = library.vectors(encoder.name).glob("nonsense-*.npy")
    whole, dim = file.read_bytes(), read_facts(encoder).dim
    for found in (whole, whole[:-1], whole[:-64] + bytes(64), b"", whole[:200]):
        file.write_bytes(found)
        written = file.stat().st_ino
        Nonsense.kept(file.parent, partial(open_query_encoder, encoder), dim=dim)
        assert (file.read_bytes(), file.stat().st_ino == written) == (whole, found == whole)
