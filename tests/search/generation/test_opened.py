"""A generation is opened whole or refused, and remembers the last vectors."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, disc, draw_icons
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import UnknownSetError
from indexer.library import durable
from indexer.library.folder import Library
from search.cli import main
from search.engine import Filters, Query, SearchEngine
from search.generation.opened import N_KEPT, Opened, RememberingEncoder, damage_explained, open_current


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
    assert np.array_equal(encoder.encode_words("arrow"), Letters().encode_words("arrow"))
    several = ["left", "arrow", "left"]
    assert np.array_equal(encoder.encode_many_words(several), Letters().encode_many_words(several))
    assert plain.n_asked == 3
    encoder.encode_many_words(["left", "arrow"])
    assert plain.n_asked == 3
    encoder.encode_many_words([f"word {number}" for number in range(N_KEPT)])  # the oldest go first
    encoder.encode_many_words(["word 1", "arrow"])
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
    with pytest.raises(UnknownSetError, match='no set "lattr" in this library; near: icons'):
        engine.ask(Query(words="dot"), filters=Filters(sets=("lattr",)))
    assert CliRunner().invoke(main, ["rollback", "--forward", "--library", str(library.root)]).exit_code == 0
    done = CliRunner().invoke(main, [*asked, "--json", "--min-score", "0"])
    assert [hit["key"] for hit in json.loads(done.stdout)["hits"]] == ["later:dot"]
