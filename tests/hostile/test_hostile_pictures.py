"""Hundreds of hostile pictures among good ones: each is drawn rightly or refused with a reason, and costs nobody else.

What they name lies in a folder of red canaries, on disk and behind a port; red would show, a visit would be noticed.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import Build, disc
from corpus import Case, cases, write
from hostile_bitmaps import saved
from hostile_svgs import RED, plain_square, svg
from PIL import Image
from sqlalchemy import select

from indexer.catalog.database import images, open_catalog
from indexer.commands.library import read_failures
from indexer.embedding.planning import EmbedOptions
from indexer.errors import RenderError
from indexer.library.folder import Library
from indexer.library.shards import read_vectors
from indexer.rendering.pool import RenderPool
from indexer.rendering.render import render
from indexer.rendering.slots import Job
from indexer.sources.records import PictureAddress, content_digest, to_text

LONG_AGO = 1_000_000_000


class Listener:
    """A port on this machine that counts who comes, and answers nobody."""

    def __init__(self) -> None:
        self.visits = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                self._socket.accept()[0].close()
            except OSError:
                return
            self.visits += 1

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@dataclass(frozen=True, slots=True)
class Corpus:
    folder: Path
    cases: list[Case]
    canaries: Path
    listener: Listener

    def assert_nothing_was_read_or_fetched(self) -> None:
        assert self.listener.visits == 0
        assert [file.name for file in self.canaries.iterdir() if file.stat().st_atime != LONG_AGO] == []


def write_canaries(folder: Path) -> None:
    red = f"<rect {RED}/>"
    paint = '<linearGradient id="paint"><stop stop-color="red"/></linearGradient>'
    folder.mkdir()
    (folder / "red.svg").write_bytes(svg(f'{paint}<g id="red">{red}</g>'))
    (folder / "red.png").write_bytes(saved(Image.new("RGB", (24, 24), "red"), "PNG"))
    (folder / "red.css").write_text("rect, .canary { fill: red !important }")
    (folder / "red.dtd").write_text('<!ATTLIST rect fill CDATA "red">')
    (folder / "red.js").write_text("document.documentElement.style.background = 'red'")
    (folder / "font.woff").write_bytes(b"wOFF")
    for file in folder.iterdir():  # a read is noted where it is later than the last change, also with "relatime"
        os.utime(file, (LONG_AGO, LONG_AGO + 10))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    root = tmp_path_factory.mktemp("hostile")
    write_canaries(root / "secret")
    listener = Listener()
    found = list(cases(root / "secret", listener.port))
    write(root / "icons", found)
    yield Corpus(root / "icons", found, root / "secret", listener)
    listener.close()


def test_the_canaries_would_sing(tmp_path: Path) -> None:
    """A read shows in the times of a file, a visit at the port, and red in the pixels."""
    write_canaries(tmp_path / "secret")
    listener = Listener()
    inlined = svg(f'<rect x="6" y="6" width="12" height="12"/><g>{(tmp_path / "secret" / "red.svg").read_text()}</g>')
    assert (render(inlined, size=32).pixels[1, 16] == (255, 0, 0)).all()
    if (tmp_path / "secret" / "red.svg").stat().st_atime == LONG_AGO:
        pytest.skip("this file system notes no reads")
    socket.create_connection(("127.0.0.1", listener.port)).close()
    deadline = time.monotonic() + 10
    while not listener.visits and time.monotonic() < deadline:
        time.sleep(0.01)
    listener.close()
    assert listener.visits == 1


def test_the_corpus_is_large_and_the_same_in_every_run(corpus: Corpus) -> None:
    assert len(corpus.cases) >= 300
    assert len({case.path for case in corpus.cases}) == len(corpus.cases)
    again = list(cases(corpus.canaries, corpus.listener.port))
    assert [content_digest(case.content) for case in again] == [content_digest(case.content) for case in corpus.cases]


def test_every_hostile_picture_is_drawn_rightly_or_refused_with_a_reason(corpus: Corpus) -> None:
    square = render(plain_square("neighbour"), size=32).pixels
    neighbour = "names/Twin.svg"
    jobs = [
        Job(number, PictureAddress("folder", str(corpus.folder), to_text(case.path), "", content_digest(case.content)))
        for number, case in enumerate(corpus.cases)
        if not case.is_slow
    ]
    wrong, drawn, n_failed = [], {}, 0
    with RenderPool(size=32, workers=2, chunk=16) as pool:
        for chunk in pool.render([jobs]):
            for number, pixels in zip(chunk.ids.tolist(), chunk.pixels, strict=True):
                case = corpus.cases[number]
                drawn[case.path] = pixels.copy()
                off = int(np.abs(pixels.astype(int) - square).max())
                if case.reason is not None or off > 8:
                    wrong.append((case.path, f"drawn, {off} levels off", case.reason))
            for failure in chunk.failures:
                case = corpus.cases[failure.id]
                n_failed += 1
                if case.reason is None or not re.search(case.reason, failure.reason):
                    wrong.append((case.path, failure.reason, case.reason))
    assert wrong == []
    assert len(drawn) + n_failed == len(jobs) >= 300
    np.testing.assert_array_equal(drawn[neighbour], square)
    corpus.assert_nothing_was_read_or_fetched()


def test_every_hostile_picture_is_drawn_or_refused_as_a_query(corpus: Corpus) -> None:
    draw_pool = pytest.importorskip("indexer.rendering.draw_pool")
    wrong = []
    with draw_pool.DrawPool(workers=1) as pool:
        opaque = saved(Image.fromarray(render(plain_square("neighbour"), size=96).pixels), "PNG")
        squares = [pool.pixels(content, size=32).astype(int) for content in (plain_square("neighbour"), opaque)]
        for case in corpus.cases:
            if case.is_slow:
                continue
            try:
                pixels = pool.pixels(case.content, size=32)
            except RenderError as error:
                if case.reason is None or not re.search(case.reason, str(error)):
                    wrong.append((case.path, str(error), case.reason))
            else:
                off = min(float(np.abs(pixels - square).mean()) for square in squares)
                if case.reason is not None or off > 12:
                    wrong.append((case.path, f"drawn, {off:.1f} levels off", case.reason))
    assert wrong == []
    corpus.assert_nothing_was_read_or_fetched()


def write_things(folder: Path, outside: Path) -> dict[str, str]:
    """Make what is no picture file; return why each is refused."""
    folder.mkdir()
    (outside / "within").mkdir()
    os.mkfifo(folder / "pipe.svg")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is short
        bound.bind("socket.png")
        os.chdir(here)
    (folder / "a folder.svg").mkdir()
    (folder / "zero.png").symlink_to("/dev/zero")
    (folder / "kernel.svg").symlink_to("/proc/version")
    (folder / "secret.svg").symlink_to(outside / "red.svg")
    (folder / "secrets").symlink_to(outside)
    (folder / "above").symlink_to(folder.parent.parent)
    (folder / "itself").symlink_to(folder)
    (folder / "itself.svg").symlink_to("itself.svg")
    (folder / "gone.svg").symlink_to("nowhere.svg")
    for name in ("LICENSE", ".gitignore"):  # read for other reasons than a picture
        os.mkfifo(folder / name)
    out = "leads out of the source to"
    return {
        "pipe.svg": "not a regular file", "socket.png": "not a regular file", "zero.png": f'{out} "/dev/zero"',
        "kernel.svg": f'{out} "/proc/version"', "secret.svg": f'{out} "{outside}/red.svg"',
        "secrets": f'{out} "{outside}"', "above": out, "itself.svg": "symbolic links", "gone.svg": "No such file",
    }  # fmt: skip


def vectors(library: Library, fingerprint: str) -> dict[bytes, bytes]:
    """The vector of each picture, by the digest of its content."""
    with open_catalog(library.catalog).connect() as connection:
        digests = {row.id: row.digest for row in connection.execute(select(images.c.id, images.c.digest))}
    ids = np.array(sorted(digests), np.int64)
    found, filled = read_vectors(library.vectors(fingerprint), "images", ids, fingerprint=fingerprint)
    return {digests[number]: found[row].tobytes() for row, number in enumerate(ids.tolist()) if filled[row]}


def assert_indexed_around(corpus: Corpus, chosen: list[Case], *, build: Build, library: Library, folder: Path) -> None:
    """Index cases beside good icons: all accounted for, each as it should be, no neighbour's vector changed."""
    good = folder / "good"
    good.mkdir(parents=True)
    for number in range(9):
        (good / f"{number}.svg").write_text(disc(4 + 2 * number, 12))
    how = EmbedOptions(batch_size=1, workers=2, precision="fp32")
    clean = Library(folder.parent / "clean")
    of_clean = vectors(clean, build(good, into=clean, embed=how).embed.fingerprint)
    write(folder, chosen)
    things = write_things(folder / "things", folder.parent / "secrets")
    summary = build(folder, embed=how, exclude=("@gitignore",))
    counts = summary.counts
    assert counts.missing == 0
    assert counts.found == counts.embedded + counts.failed + counts.duplicate
    found = vectors(library, summary.embed.fingerprint)
    assert {digest: found[digest] for digest in of_clean} == of_clean
    assert len(found) == len(of_clean) + len({case.content for case in chosen if case.reason is None})
    reasons = {failure["file"].removeprefix(f"{folder}/"): failure["reason"] for failure in read_failures(library)}
    expected = {case.path: case.reason for case in chosen if case.reason is not None}
    expected |= {f"things/{name}": re.escape(reason) for name, reason in things.items()}
    assert reasons.keys() == expected.keys()
    assert [name for name, reason in expected.items() if not re.search(reason, reasons[name])] == []
    corpus.assert_nothing_was_read_or_fetched()
    secrets = [file for file in (folder.parent / "secrets").iterdir() if file.is_file()]
    assert [file.name for file in secrets if file.stat().st_atime != LONG_AGO] == []


@pytest.mark.slow
def test_hostile_pictures_cost_their_neighbours_nothing(
    corpus: Corpus, build: Build, library: Library, tmp_path: Path
) -> None:
    write_canaries(tmp_path / "secrets")
    chosen = [case for case in corpus.cases if not case.is_slow and len(case.content) < 5_000_000]
    assert len(chosen) >= 300
    assert_indexed_around(corpus, chosen, build=build, library=library, folder=tmp_path / "icons")


@pytest.mark.slow
def test_what_takes_all_the_time_and_memory_that_it_gets_costs_its_neighbours_nothing(
    corpus: Corpus, build: Build, library: Library, tmp_path: Path
) -> None:
    write_canaries(tmp_path / "secrets")
    assert_indexed_around(corpus, corpus.cases, build=build, library=library, folder=tmp_path / "icons")
