"""When are the checksums of a generation looked at, and what is said of damage?"""

import os
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
