"""When are the checksums of a generation looked at, and what is said of damage?"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Build

from indexer.errors import LibraryError
from indexer.library import durable
from indexer.library.folder import Library
from search.generation.opened import Opened, damage_explained, open_current


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
    facets = opened.generation.facets
    content = bytearray(facets.read_bytes())
    content[-1] ^= 1
    facets.write_bytes(content)
    os.utime(facets, ns=(1, 1))
    n_hashed = len(hashed)
    for _ in range(3):
        with pytest.raises(LibraryError, match="does not match its checksum"):
            _fail(library, opened)
    assert n_hashed < len(hashed) <= 2 * n_hashed


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
