"""What lies around a library fails: its disk is read-only, its source changes while it is read, its clock jumps."""

import os
import shutil
import sqlite3
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Build, disc
from faults import Stages, copy_library

from indexer.catalog import contents
from indexer.catalog.database import _copy_in_memory, open_catalog
from indexer.catalog.scan import ScanTally, remember
from indexer.catalog.scan import scan as scan_sources
from indexer.library.folder import Library
from search.cli import main
from search.engine import SearchEngine


@pytest.mark.slow
def test_a_library_on_a_read_only_disk_is_searched_and_examined_and_an_index_says_why_it_can_not(
    stages: Stages, grown: Path, tiny_model: Path, tmp_path: Path
) -> None:
    library = copy_library(grown, tmp_path / "library")
    asked = stages.run("ask everything", library, read_only=True)
    if "Operation not permitted" in asked.get("defect", ""):
        pytest.skip("this machine lets nobody mount a folder read-only")
    assert asked["result"] == stages.result("ask everything", library)
    assert stages.run("examine", library, read_only=True)["result"] == []
    for stage, given in (("index", {"sources": [], "model": str(tiny_model)}), ("rollback", {})):
        refused = stages.run(stage, library, given=given, read_only=True)
        assert refused["refusal"] == f'"{library}" can\'t be written (Read-only file system); choose another --library'


@pytest.mark.slow
def test_files_that_change_and_vanish_while_they_are_scanned_are_right_after_the_next_run(
    build: Build, library: Library, icon_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first report comes when some files were read and others were not."""
    monkeypatch.setattr(contents, "BATCH", 4)
    for number in range(8):
        (icon_folder / f"many-{number}.svg").write_text(disc(3 + 2 * number, 20))
    paths = sorted(icon_folder.glob("many-*.svg"))

    def change(tally: ScanTally) -> None:
        if paths:
            paths[0].write_text(disc(12, 12, 9))
            paths[-1].write_text(disc(12, 12, 11))
            paths[1].unlink()
            paths[-2].unlink()
            (icon_folder / "late.svg").write_text(disc(12, 12, 7))
            paths.clear()

    library.root.mkdir()
    engine = open_catalog(library.catalog)
    with engine.begin() as connection:
        remember(connection, icon_folder, exclude=())
    scan_sources(engine, report=change)
    engine.dispose()
    assert not paths
    counts = build().counts
    assert (counts.found, counts.failed, counts.missing) == (len(list(icon_folder.glob("*.svg"))), 0, 0)
    assert "late" in {hit.name for hit in SearchEngine.open(library.root).search("late", k=3)}


def test_after_a_clock_jumped_back_what_changed_is_found_and_published_under_the_next_number(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    left = next((library.root / "vectors").iterdir()) / ".aside-7-images-x"
    left.write_bytes(b"half")
    for path in (*library.root.rglob("*"), *icon_folder.iterdir()):
        os.utime(path, (time.time() + 10**7,) * 2)  # written before the clock jumped
    before = (icon_folder / "dot-a.svg").read_text()
    (icon_folder / "dot-a.svg").write_text(before.replace('"12"', '"19"'))
    (icon_folder / "fresh.svg").write_text(disc(20, 4))
    assert len((icon_folder / "dot-a.svg").read_text()) == len(before)
    summary = build()
    assert (summary.scan.changed, summary.scan.added, summary.generation, library.current()) == (1, 1, 2, 2)
    assert not left.exists() and build().generation is None
    assert SearchEngine.open(library.root).search("fresh", k=1)[0].name == "fresh"


@pytest.mark.slow
def test_a_log_without_its_shared_memory_is_read_on_a_read_only_disk(
    stages: Stages, grown: Path, tmp_path: Path
) -> None:
    """As a copy, a snapshot of a disk or a container leaves it: SQLite itself can't open such a catalog."""
    library = copy_library(grown, tmp_path / "library")
    writer = sqlite3.connect(library / "catalog.sqlite")
    writer.execute("PRAGMA wal_autocheckpoint=0")
    writer.execute("INSERT INTO settings VALUES ('noted', 'in the log')")
    writer.commit()
    left = copy_library(library, tmp_path / "left")
    writer.close()
    (left / "catalog.sqlite-shm").unlink()
    assert (left / "catalog.sqlite-wal").stat().st_size > 0
    expected = {"status": "icons", "status --failures": "", "sources": "icons", "doctor": "the library is sound"}
    for command, said in expected.items():
        told = stages.run("command", left, given={"arguments": command.split()}, read_only=True)
        if "Operation not permitted" in told.get("defect", ""):
            pytest.skip("this machine lets nobody mount a folder read-only")
        assert (told["result"]["code"], told["result"]["stderr"].count("Error")) == (0, 0), told
        assert said in told["result"]["stdout"]
    noted = _copy_in_memory(left / "catalog.sqlite", left / "catalog.sqlite-wal")
    assert noted.execute("SELECT value FROM settings WHERE key = 'noted'").fetchone() == ("in the log",)
    assert sorted(path.name for path in left.glob("catalog*")) == ["catalog.sqlite", "catalog.sqlite-wal"]


def test_a_library_on_a_full_disk_tells_its_status(grown: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        library = shutil.copytree(grown, disk / "library")
        with suppress(OSError), (disk / "filling").open("wb", buffering=0) as filling:
            while True:
                filling.write(bytes(1 << 16))
        for command in ("status", "status --failures", "sources"):
            done = CliRunner().invoke(main, [*command.split(), "--library", str(library)])
            assert (done.exit_code, done.stderr) == (0, "")
    finally:
        subprocess.run(["umount", "-l", disk], check=True)  # this process has the catalog open
