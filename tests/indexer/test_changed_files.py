"""Files that changed without looking so, and one folder under several names: what is indexed is what is there."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Build, disc

from indexer import pipeline
from indexer.commands.library import read_failures, read_sources
from indexer.errors import ChangedError, SourceError
from indexer.library.folder import NAME, Library, note_changed, noted_changes
from search.engine import SearchEngine


def _change_unseen(file: Path, content: str) -> None:
    """Write other bytes of the same number, at the same time of modification."""
    before = file.stat()
    assert len(content) == before.st_size
    file.write_text(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_change_of_the_same_size_and_time_is_found_by_the_next_run(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    file = icon_folder / "dot-a.svg"
    _change_unseen(file, disc(4, 11))
    assert build().scan.changed == 1
    engine = SearchEngine.open(library.root)
    assert engine.picture(engine.find("dot-a")) == disc(4, 11).encode()


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that tells no change but of size: times of two seconds, inodes that are made up."""

    def stamp(*files: Path, recipe: str = "") -> str:
        return "+".join([*(str(file.stat().st_size) for file in files), recipe])

    for module in ("folders", "iconify", "npm"):
        monkeypatch.setattr(f"indexer.sources.{module}.stamp_of", stamp)


@pytest.mark.usefixtures("blind")
def test_what_a_search_has_seen_changed_is_read_again_whatever_its_stamp_says(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    (icon_folder / "dot-a.svg").write_text(disc(4, 11))
    assert build().generation is None
    engine = SearchEngine.open(library.root)
    for _ in range(3):
        with pytest.raises(ChangedError, match=r"has changed since it was indexed; run `icons index`"):
            engine.picture(engine.find("dot-a"))
    assert len((library.root / NAME).read_text().splitlines()) == 1
    assert build().generation == 2
    assert not (library.root / NAME).exists()
    engine = SearchEngine.open(library.root)
    assert engine.picture(engine.find("dot-a")) == disc(4, 11).encode()
    assert build().generation is None


@pytest.mark.usefixtures("blind")
def test_a_picture_that_changed_between_scan_and_embedding_is_right_after_the_next_run(
    build: Build, library: Library, icon_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = pipeline.scan_sources

    def scan_and_change(*given: object, **named: object) -> object:
        tally = scan(*given, **named)  # type: ignore[arg-type]
        (icon_folder / "dot-b.svg").write_text(disc(6, 13))
        return tally

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "scan_sources", scan_and_change)
        assert build(icon_folder).counts.failed == 1
    assert {failure["reason"] for failure in read_failures(library)} == {"can't be read: changed since the scan"}
    assert build().counts.failed == 0


def test_a_note_survives_a_scan_that_fails_and_a_full_or_read_only_disk_loses_only_the_note(
    library: Library, tmp_path: Path
) -> None:
    library.root.mkdir()
    note_changed(library.root, ("/icons", "a.svg"))
    with (library.root / NAME).open("ab") as file:
        file.write(b'5\nnull\n["/icons"]\n\xff\n["/icons", "cut')
    with pytest.raises(SourceError), noted_changes(library.root):
        raise SourceError
    with noted_changes(library.root) as noted:
        assert noted == {("/icons", "a.svg")}
        note_changed(library.root, ("/icons", "later.svg"))
    assert (library.root / NAME).exists()
    note_changed(tmp_path / "nowhere", ("/icons", "a.svg"))


# One folder, several names


def _icons(library: Library) -> list[tuple[str, int]]:
    return [(source["given"], source["icons"]) for source in read_sources(library)]


def test_a_folder_under_two_spellings_is_one_source(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(icon_folder)
    build(icon_folder)
    for spelling in (tmp_path / "link", tmp_path / "link" / ".." / "icons", icon_folder / "."):
        summary = build(spelling)
        assert (summary.counts.found, summary.scan.added) == (12, 0)
    assert _icons(library) == [(str(icon_folder), 12)]
    assert pipeline.forget(library, tmp_path / "link") == 12


def test_two_sources_that_an_older_program_made_of_one_folder_become_one(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    build(icon_folder)
    (tmp_path / "link").symlink_to(icon_folder)
    link = str(tmp_path / "link")
    with closing(sqlite3.connect(library.catalog)) as connection, connection:
        connection.execute(
            "INSERT INTO sources (given, location, kind, exclude) VALUES (?, ?, 'folder', '[]')", (link, link)
        )
    assert build().counts.found == 12
    assert _icons(library) == [(str(icon_folder), 12)]
