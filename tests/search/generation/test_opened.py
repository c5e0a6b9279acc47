"""A generation, open: what it answers, its facets, many of its icons at once, and keys near an unknown one."""

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, build_library, disc, draw_icons, svg
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import IconsError, LibraryError, UnknownSetError
from indexer.library import durable
from indexer.library.folder import Generation, Library
from indexer.library.shards import read_shard, shard_paths, write_shard
from indexer.sources.records import family
from search.cli import main
from search.engine import SearchEngine
from search.generation.backend import FIELDS, KINDS
from search.generation.facets import Facets
from search.generation.opened import N_KEPT, Opened, RememberingEncoder, damage_explained, open_current
from search.generation.snapshot import Snapshot
from search.query import Filters, Query


def _fail(library: Library, opened: Opened) -> None:
    with damage_explained(library, opened.generation, opened.manifest):
        raise IndexError("out of bounds")


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The files whose checksums were looked at."""
    found: list[Path] = []
    describe = durable.describe_file

    def described(path: Path) -> dict[str, int | str]:
        found.append(path)
        return describe(path)

    monkeypatch.setattr(durable, "describe_file", described)
    yield found


def test_a_generation_is_hashed_once_until_a_file_changes(
    build: Build, library: Library, icon_folder: Path, hashed: list[Path]
) -> None:
    build(icon_folder)
    opened = open_current(library)
    hashed.clear()
    for _ in range(3):
        with pytest.raises(IndexError):
            _fail(library, opened)
    assert len(hashed) == len(set(hashed)) > 5
    os.utime(opened.generation.facets, ns=(1, 1))
    with pytest.raises(IndexError):
        _fail(library, opened)
    assert len(hashed) > len(set(hashed))


def test_a_catalog_of_another_generation_or_library_is_refused_though_it_has_as_many_bytes(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    build(icon_folder)
    (icon_folder / "dot-a.svg").rename(icon_folder / "dot-y.svg")
    build()
    other = Library(tmp_path / "other")
    (icon_folder / "dot-y.svg").rename(icon_folder / "dot-z.svg")
    build(icon_folder, into=other)
    own = library.generation(2).catalog
    whole = own.read_bytes()
    for strange in (library.generation(1).catalog, other.generation(1).catalog):
        assert strange.stat().st_size == len(whole)
        shutil.copy(strange, own)
        with pytest.warns(UserWarning, match='2/catalog.sqlite" is the catalog of another .* generation 1 answers'):
            assert open_current(library).generation.number == 1
    own.write_bytes(whole)
    shutil.copy(library.generation(1).manifest, library.generation(2).manifest)
    with pytest.warns(UserWarning, match="2/manifest.json\" can't be read .it is of generation 1.* generation 1 ans"):
        assert open_current(library).generation.number == 1


class Letters(QueryEncoder):
    """Encodes words by their letters, a picture by its sums; counts what it is asked."""

    def __init__(self) -> None:
        self.image_size = 4
        self.n_asked = 0

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        self.n_asked += len(texts)
        return np.stack([np.bincount(np.frombuffer(text.encode(), np.uint8), minlength=256) for text in texts]).astype(
            np.float32
        )

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        self.n_asked += len(pixels)
        return pixels.reshape(len(pixels), -1).astype(np.float32)


def test_what_was_asked_a_moment_ago_is_not_encoded_again() -> None:
    plain = Letters()
    encoder = RememberingEncoder(plain)
    assert np.array_equal(encoder.encode_many_words(["arrow"]), Letters().encode_many_words(["arrow"]))
    several = ["left", "arrow", "left"]
    assert np.array_equal(encoder.encode_many_words(several), Letters().encode_many_words(several))
    assert plain.n_asked == 3
    encoder.encode_many_words(["left", "arrow"])
    assert plain.n_asked == 3
    encoder.encode_many_words([f"word {number}" for number in range(N_KEPT)])  # the oldest go first
    encoder.encode_many_words([f"word {N_KEPT - 1}", "arrow"])
    assert plain.n_asked == N_KEPT + 4


def test_a_set_of_a_newer_generation_is_named_with_the_way_back(build: Build, library: Library, tmp_path: Path) -> None:
    build(draw_icons(tmp_path / "icons"))
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "dot.svg").write_text(disc(9, 9, 3))
    build(tmp_path / "later")
    library.rollback()
    told = (
        'set "later" is in the catalog but not in generation 1, which answers since `icons rollback`; '
        "`icons rollback --forward` lets generation 2 answer, which has it"
    )
    asked = ["search", "dot", "--set", "later", "--library", str(library.root)]
    done = CliRunner().invoke(main, asked)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {told}\n")
    engine = SearchEngine.open(library.root)
    with pytest.raises(UnknownSetError, match='no set "lattr" in this library; the most frequent are icons'):
        engine.ask(Query(words="dot"), filters=Filters(sets=("lattr",)))
    assert CliRunner().invoke(main, ["rollback", "--forward", "--library", str(library.root)]).exit_code == 0
    done = CliRunner().invoke(main, [*asked, "--json", "--min-score", "0"])
    assert [hit["key"] for hit in json.loads(done.stdout)["hits"]] == ["later:dot"]


@dataclass(frozen=True)
class Told:
    """What the sources say of one icon, read without labels or codes; discs that nothing is said of are filled."""

    id: int
    set: str
    style: str | None
    size: int | None
    licence: str | None
    tags: frozenset[str]
    categories: frozenset[str]


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Generation:
    """Icons of three sets: a folder that states nothing, and two manifests with tags, categories and licences."""
    place = tmp_path_factory.mktemp("facets")
    sources = [draw_icons(place / "icons")]
    for number, (key, licence) in enumerate((("round", "CC-BY-4.0"), ("plain", "MIT"))):
        folder = place / key
        folder.mkdir()
        rows = ["file_path,name,tags,categories,licence,style,size"]
        for column in range(6):
            paint = 'fill="#c00"' if column == 2 else ""
            moving = '<animate attributeName="r" to="6" dur="1s"/>' if column == 4 else ""
            circle = f'<circle cx="{3 + 3 * column}" cy="{6 + 6 * number}" r="4" {paint}>{moving}</circle>'
            (folder / f"{column}.svg").write_text(svg(circle))
            own = "gpl-3.0" if column == 5 else licence
            tags = '"Round, full  moon, E-Mail"' if column % 2 else '"round,C++"'
            category = "shapes" if column < 4 else ""
            style = ("filled", "outline")[column % 2]
            rows.append(f"{column}.svg,ball {column},{tags},{category},{own},{style},{(16, 24)[column // 3]}")
        sources.append(folder / f"{key}.csv")
        sources[-1].write_text("\n".join(rows) + "\n")
    library = Library(place / "library")
    build_library(library, tiny_model, sources)
    return library.generation(1)


@pytest.fixture(scope="module")
def facets(generation: Generation) -> Facets:
    return Facets(generation)


@pytest.fixture(scope="module")
def told(generation: Generation) -> list[Told]:
    query = """SELECT icons.id, sets.key, COALESCE(icons.style, 'filled'), icons.size,
        COALESCE(icons.licence, sets.licence), icons.tags, icons.categories
        FROM icons JOIN sets ON sets.id = icons.set_id ORDER BY icons.id"""
    with closing(sqlite3.connect(generation.catalog)) as connection:
        return [Told(*row[:5], _values(row[5]), _values(row[6])) for row in connection.execute(query)]


def _values(text: str) -> frozenset[str]:
    return frozenset(" ".join(part.replace("-", " ").split()).lower() for part in text.split("\n") if part.strip())


def _fits(icon: Told, filters: Filters) -> bool:
    families = {licence for licence in filters.licences if family(icon.licence) == licence}
    return (
        (not filters.sets or icon.set in filters.sets)
        and (not filters.styles or icon.style in filters.styles)
        and (not filters.sizes or icon.size in filters.sizes)
        and (not filters.licences or icon.licence in filters.licences or bool(families))
        and (not filters.tags or bool(icon.tags & set(filters.tags)))
        and (not filters.categories or bool(icon.categories & set(filters.categories)))
    )


def _combinations() -> Iterator[Filters]:
    for sets, styles, tags, categories, licences, sizes in product(
        ((), ("round",), ("round", "icons")),
        ((), ("filled",)),
        ((), ("full moon",), ("c++", "full moon")),
        ((), ("shapes",)),
        ((), ("permissive",), ("CC-BY-4.0", "copyleft"), ("unknown",)),
        ((), (16,), (16, 24)),
    ):
        yield Filters(sets=sets, styles=styles, tags=tags, categories=categories, licences=licences, sizes=sizes)


def test_any_filters_select_the_icons_that_a_look_at_each_finds(facets: Facets, told: list[Told]) -> None:
    n_found = Counter[bool]()
    for filters in _combinations():
        expected = [icon.id for icon in told if _fits(icon, filters)]
        selected = facets.select(filters)
        assert selected is None if filters == Filters() else selected.ids.tolist() == expected
        n_found[bool(expected)] += 1
    assert n_found[True] > 50 and n_found[False] > 50


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 1.0])
def test_counts_are_those_of_a_plain_count(facets: Facets, told: list[Told], share: float) -> None:
    chosen = [icon for icon, draw in zip(told, np.random.default_rng(3).random(len(told)), strict=True) if draw < share]
    counted = facets.count(np.array([icon.id for icon in chosen], np.int64))
    assert list(counted) == list(KINDS)
    expected = {
        "set": Counter(icon.set for icon in chosen),
        "style": Counter(icon.style for icon in chosen if icon.style),
        "licence": Counter(icon.licence for icon in chosen if icon.licence),
        "family": Counter(family(icon.licence) for icon in chosen),
        "category": Counter(value for icon in chosen for value in icon.categories),
        "tag": Counter(value for icon in chosen for value in icon.tags),
        "size": Counter(str(icon.size) for icon in chosen if icon.size),
    }
    for kind, counts in expected.items():
        assert {facet.value: facet.n for facet in counted[kind]} == counts, kind
        assert [facet.n for facet in counted[kind]] == sorted(counts.values(), reverse=True)


def test_filtering_by_a_counted_value_leaves_as_many_icons_as_were_counted(facets: Facets) -> None:
    counted = facets.count_all()
    for kind, values in counted.items():
        assert values or kind == "corner", kind
        for facet in values:
            field = {**FIELDS, "family": "licences", "size": "sizes"}.get(kind, kind)
            plural = (int(facet.value),) if kind == "size" else (facet.value,)
            filters = Filters(**{field: facet.value == "true" if field == kind else plural})
            assert len(facets.select(filters)) == facet.n, facet


def test_what_was_seen_while_drawing_is_known_of_every_icon(facets: Facets, generation: Generation) -> None:
    with closing(sqlite3.connect(generation.catalog)) as connection:
        names = dict(connection.execute("SELECT id, name FROM icons"))

    def selected(**wanted: bool) -> set[str]:
        return {names[icon] for icon in facets.select(Filters(**wanted)).ids.tolist()}

    assert selected(coloured=True) == {"ball 2"}
    assert selected(animated=True) == {"ball 4"}
    assert selected(coloured=False) == set(names.values()) - {"ball 2"}


@pytest.mark.parametrize("spelling", ["e-mail", "E mail", "e.mail", "E_MAIL"])
def test_a_tag_is_meant_however_it_is_spelt(facets: Facets, told: list[Told], spelling: str) -> None:
    selected = facets.select(Filters(tags=(spelling,))).ids.tolist()
    assert selected == [icon.id for icon in told if "e mail" in icon.tags] != []


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (Filters(sets=("rond",)), 'no set "rond" in this library; near: round'),
        (Filters(licences=("permisive",)), 'no licence "permisive" in this library; near: permissive'),
        (Filters(tags=("rounded",)), 'no tag "rounded" in this library; near: round'),
        (Filters(styles=("thick",)), 'no style "thick" in this library; the most frequent are filled, outline'),
        (Filters(sizes=(20,)), 'no size "20" in this library; near: 16, 24'),
    ],
)
def test_an_unknown_value_is_refused_with_near_ones(facets: Facets, filters: Filters, message: str) -> None:
    with pytest.raises(IconsError, match=message):
        facets.select(filters)


def test_facets_that_are_cut_short_are_refused_with_the_command_that_mends(
    generation: Generation, tmp_path: Path
) -> None:
    broken = Generation(generation.number, shutil.copytree(generation.facets.parent, tmp_path / "broken"))
    broken.facets.write_bytes(generation.facets.read_bytes()[:100])
    with pytest.raises(LibraryError, match="`icons index` builds a new generation"):
        Facets(broken)


def test_vectors_of_an_older_program_answer_and_what_it_did_not_see_is_not_known(
    build: Build, library: Library, icon_folder: Path
) -> None:
    fingerprint = build(icon_folder).embed.fingerprint
    for path in shard_paths(library.vectors(fingerprint), "images"):
        shard = read_shard(path, fingerprint=fingerprint)
        write_shard(path, replace(shard, traits=None), fingerprint=fingerprint, facts={})
    shutil.rmtree(library.generations)
    build()
    with pytest.raises(IconsError, match=r"not known which icons are animated.*run `icons index`"):
        Facets(library.generation(1)).select(Filters(animated=True))
    (icon_folder / "new.svg").write_text(svg('<circle cx="20" cy="20" r="3" fill="red"/>'))
    again = build()
    assert (again.embed.images, again.generation) == (1, 2)
    facets = Facets(library.generation(2))
    assert Counter(facets.column("coloured").tolist()) == {-1: 12, 1: 1}
    assert [(facet.value, facet.n) for facet in facets.count_all()["coloured"]] == [("true", 1)]
    assert [(facet.value, facet.n) for facet in facets.count_all()["style"]] == [("color", 1), ("filled", 1)]


def test_a_library_names_all_of_its_sets(build: Build, library: Library, tmp_path: Path) -> None:
    (tmp_path / "dot.svg").write_text(svg('<circle cx="12" cy="12" r="4"/>'))
    rows = "".join(f"dot.svg,dot {number},set-{number}\n" for number in range(60))
    (tmp_path / "icons.csv").write_text(f"file_path,name,set\n{rows}")
    build(tmp_path / "icons.csv")
    assert len(SearchEngine.open(library.root).facets()["set"]) == 60


MANY = 40_000
"""More than SQLite takes values for one query."""


@pytest.fixture(scope="module")
def snapshot(asked: Path) -> Snapshot:
    library = Library(asked)
    return Snapshot(library.generation(library.current() or 0).catalog)


def test_more_ids_are_asked_for_than_one_query_takes(snapshot: Snapshot) -> None:
    icons = list(snapshot.all_icons())
    ids = np.arange(MANY, 0, -1)
    assert sorted(snapshot.candidates(ids)) == [icon for icon, *_ in icons] != []
    assert snapshot.showing(ids).tolist() == [icon for icon, *_ in icons]
    groups = [(place, name) for place in (1, 2) for name in range(MANY, 0, -1)]
    found = snapshot.variants(groups)
    assert sum(map(len, found.values())) == len(icons)
    assert {(set_id, name_id) for _, set_id, name_id, _, _ in icons} == set(found)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("arow-left", "own:arrow-left"),
        ("hosue", "own:house"),
        ("other:hosue", "other:house"),
        ("nosuch:hosue", "own:house"),
        ("ohuse", "own:house"),
        ("arrow_rigth", "own:arrow-right"),
    ],
)
def test_a_misspelt_key_has_near_ones(snapshot: Snapshot, key: str, nearest: str) -> None:
    assert snapshot.keys_near(key)[0] == nearest


@pytest.mark.parametrize("key", ["", ":", "own:", "zzzzzzzz", "\U0001f389", "x" * 5000])
def test_a_key_that_is_like_none_has_no_near_ones(snapshot: Snapshot, key: str) -> None:
    assert snapshot.keys_near(key) == []
