"""Libraries that somebody has broken by hand: what is said of each, what still answers, and how it is mended."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import build_library, disc
from corpus import vectors_by_digest
from tools import lacking

from indexer.encoders.checkpoint import ModelChoice
from indexer.encoders.query_encoder import read_facts
from indexer.library.durable import with_checksum
from indexer.library.folder import Library
from search.cli import main

SLOW = pytest.mark.slow


@pytest.fixture
def broken(twice: Path, tmp_path: Path) -> Library:
    """A copy of two generations, to be broken."""
    return Library(Path(shutil.copytree(twice, tmp_path / "library")))


def run(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--library", str(library.root)], catch_exceptions=False)


@pytest.mark.parametrize("way", ["gone", "empty", pytest.param("folder", marks=pytest.mark.slow)])
def test_a_library_whose_catalog_is_lost_answers_is_not_begun_anew_and_is_restored(broken: Library, way: str) -> None:
    broken.catalog.unlink()
    if way == "empty":
        broken.catalog.touch()
    if way == "folder":
        broken.catalog.mkdir()
    assert run(broken, "search", "dot", "--min-score", "0").exit_code == 0
    lost = "is missing or empty, but generation 2 was made from it; `icons doctor --repair` restores it"
    for command in (["status"], ["status", "--failures"], ["index"], ["index", "--only", "merge"]):
        done = run(broken, *command)
        assert (done.exit_code, f'"{broken.catalog}" {lost}' in done.stderr) == (2, True)
    examined = run(broken, "doctor", "--sample", "0")
    assert (examined.exit_code, str(broken.catalog) in examined.stdout) == (2, True)
    assert "restored the catalog from generation 2" in run(broken, "doctor", "--repair", "--sample", "0").stdout
    assert run(broken, "doctor", "--sample", "0").exit_code == 0 and "icons: 0 added" in run(broken, "index").stdout


@pytest.mark.parametrize("way", ["begins anew", pytest.param("comes from a backup", marks=pytest.mark.slow)])
def test_a_catalog_beside_vectors_gives_no_id_of_theirs_again(
    library: Library, tiny_model: Path, icon_folder: Path, tmp_path: Path, way: str
) -> None:
    """Otherwise new pictures would have the vectors of the old ones."""
    build_library(library, tiny_model, [icon_folder])
    with closing(sqlite3.connect(library.catalog)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    backup = library.catalog.read_bytes()
    (icon_folder / "first.svg").write_text(disc(3, 3))
    build_library(library, tiny_model, [])
    if way == "begins anew":
        shutil.rmtree(library.generations)
        library.catalog.unlink()
    else:
        library.catalog.write_bytes(backup)
    (icon_folder / "first.svg").unlink()
    (icon_folder / "a-second.svg").write_text(disc(20, 20))
    summary = build_library(library, tiny_model, [icon_folder])
    clean = Library(tmp_path / "clean")
    build_library(clean, tiny_model, [icon_folder])
    fingerprint = summary.embed.fingerprint
    expected, found = vectors_by_digest(clean, fingerprint), vectors_by_digest(library, fingerprint)
    assert {digest: found[digest] for digest in expected} == expected


def test_links_in_loops_and_foreign_files_are_no_reason_to_fail(broken: Library) -> None:
    [shards] = (broken.root / "vectors").iterdir()
    (broken.root / "loop").symlink_to(".")
    (broken.root / "gone").symlink_to("nowhere")
    (broken.generations / "loop").symlink_to("..")
    (broken.root / "vectors" / "loop").symlink_to("../..")
    for folder in (broken.root, broken.generations, broken.generation(2).folder, shards, broken.root / "encoders"):
        (folder / ".DS_Store").write_bytes(b"x")
    shutil.copytree(broken.generation(2).folder, broken.generations / "2 copy")
    assert run(broken, "doctor", "--sample", "0").exit_code == 0
    (shards / "loop.safetensors").symlink_to("loop.safetensors")
    assert "loop.safetensors" in run(broken, "status").stderr
    assert run(broken, "doctor", "--repair", "--sample", "0").exit_code == 0
    assert "nothing had changed" in run(broken, "index").stdout


@pytest.mark.parametrize(
    "where",
    [
        *("work", "vectors/*"),
        *(pytest.param(where, marks=SLOW) for where in ("runs", "vectors", "generations", "encoders/*", "usage/looks")),
    ],
)
def test_nothing_goes_behind_a_link_that_leads_out_of_a_library(broken: Library, tmp_path: Path, where: str) -> None:
    victim = tmp_path / "victim"
    for name in ("1/a", "7/a", "runs/1/a", "photos/a", "model.safetensors", "photos/model.safetensors"):
        (victim / name).parent.mkdir(parents=True, exist_ok=True)
        (victim / name).write_bytes(b"mine")
    [shards] = (broken.root / "vectors").iterdir()
    place = broken.root / where.replace("*", shards.name)
    if where == "runs":
        place = broken.work(shards.name) / "runs"
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(victim)
    (tmp_path / "icons").mkdir()
    (tmp_path / "icons" / "new.svg").write_text(disc(9, 4))
    before = sorted((path, path.stat().st_mtime_ns) for path in victim.rglob("*") if path.is_file())
    for command in (
        ["index", str(tmp_path / "icons")],
        ["doctor", "--repair", "--sample", "0"],
        ["index", "--only", "merge"],
    ):
        run(broken, *command)
    assert [
        one
        for one in sorted((path, path.stat().st_mtime_ns) for path in victim.rglob("*") if path.is_file())
        if one in before
    ] == before


def test_a_library_that_names_a_model_of_a_hub_fetches_nothing(
    broken: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("indexer.encoders.checkpoint._fetch", asked.append)
    with closing(sqlite3.connect(broken.catalog)) as catalog, catalog:
        choice = ModelChoice("hf-hub:someone/clip").to_json()
        catalog.execute("UPDATE settings SET value = ? WHERE key = 'model'", (choice,))
    facts = {**asdict(read_facts(encoder_of(broken))), "served": "torch", "reason": "so", "choice": choice}
    (encoder_of(broken) / "encoder.json").write_text(json.dumps(with_checksum(facts)))
    for command in (
        ["index"],
        ["status"],
        ["search", "dot"],
        ["doctor"],
        ["index", "--only", "merge"],
        ["lab", "evaluate"],
    ):
        done = run(broken, *command)
        assert done.exit_code in (0, 2)
        assert done.exit_code == 0 or "not on this machine; `--model hf-hub:someone/clip`" in done.output
    assert asked == []
    run(broken, "index", "--model", "hf-hub:someone/clip")
    assert asked == ["someone/clip"]


def encoder_of(library: Library) -> Path:
    [folder] = (library.root / "encoders").iterdir()
    return folder


def test_a_catalog_that_another_program_locks_is_told_as_that_and_answers(
    broken: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.catalog.database.PRAGMAS", ("busy_timeout=10", "foreign_keys=ON"))
    with closing(sqlite3.connect(broken.catalog, isolation_level=None)) as browser:
        browser.execute("BEGIN EXCLUSIVE")
        assert run(broken, "search", "dot", "--min-score", "0").exit_code == 0
        done = run(broken, "index", "--only", "scan")
    assert done.exit_code == 2 and "(database is locked); another program has it open and is writing" in done.stderr
    assert run(broken, "index", "--only", "scan").exit_code == 0


@pytest.mark.slow
def test_what_may_not_be_read_or_written_is_one_line_and_the_rest_answers(broken: Library) -> None:
    """Root may do anything; so the commands run without that."""
    without = "-dac_override,-dac_read_search"
    limited = ["setpriv", f"--bounding-set={without}", f"--inh-caps={without}"] if os.geteuid() == 0 else []
    if limited and not shutil.which("setpriv"):
        lacking("setpriv is not installed")

    def told(*command: str) -> tuple[int, str]:
        program = [*limited, sys.executable, "-c", "from search.cli import main; main()"]
        done = subprocess.run(
            [*program, *command, "--library", str(broken.root)], check=False, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    for path in (broken.catalog, broken.pointer, broken.root):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert told("status")[0] == 0
    broken.generation(2).icons.chmod(0)
    code, message = told("doctor", "--sample", "0")
    assert (code, "Traceback" in message) == (2, False)
    assert f'"{broken.generation(2).icons}" can\'t be read' in message
    broken.root.chmod(0o755)


def test_a_search_adds_up_no_bytes_of_a_library_that_is_whole(broken: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes, manifest and headers are looked at; whole files are for `icons doctor`."""

    def fail(*_: object) -> None:
        raise AssertionError("a whole file is read")

    monkeypatch.setattr("hashlib.file_digest", fail)
    assert run(broken, "search", "dot", "--min-score", "0").exit_code == 0
    with pytest.raises(AssertionError, match="a whole file is read"):
        run(broken, "doctor", "--sample", "0")
