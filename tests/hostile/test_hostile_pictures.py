"""Hundreds of hostile pictures among good ones: each is drawn rightly or refused with a reason, and costs nobody else.

What they name lies in a folder of red canaries, on disk and behind a port; red would show, a visit would be noticed.
"""

import os
import re
import socket
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from select import select

import numpy as np
import pytest
from conftest import Build, disc
from corpus import Case, cases, saved, vectors_by_digest, write
from hostile_svgs import RED, plain_square, svg
from PIL import Image

from indexer.commands.library import read_failures
from indexer.embedding.planning import EmbedOptions
from indexer.errors import RenderError
from indexer.library.folder import Library
from indexer.rendering.draw_pool import DrawPool
from indexer.rendering.pool import Job, RenderPool
from indexer.rendering.render import render
from indexer.sources.records import PictureAddress, content_digest, to_text

LONG_AGO = 1_000_000_000


def is_visited(port: socket.socket) -> bool:
    """Whether somebody has come to a port, where nobody is let in."""
    return bool(select([port], [], [], 0)[0])


@dataclass(frozen=True, slots=True)
class Corpus:
    folder: Path
    cases: list[Case]
    canaries: Path
    port: socket.socket
    """On this machine; it answers nobody."""

    def assert_nothing_was_read_or_fetched(self) -> None:
        assert not is_visited(self.port)
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
    with socket.create_server(("127.0.0.1", 0)) as port:
        found = list(cases(root / "secret", port.getsockname()[1]))
        write(root / "icons", found)
        yield Corpus(root / "icons", found, root / "secret", port)


def test_the_canaries_would_sing(tmp_path: Path) -> None:
    """A read shows in the times of a file, a visit at the port, and red in the pixels."""
    write_canaries(tmp_path / "secret")
    inlined = svg(f'<rect x="6" y="6" width="12" height="12"/><g>{(tmp_path / "secret" / "red.svg").read_text()}</g>')
    assert (render(inlined, size=32).pixels[1, 16] == (255, 0, 0)).all()
    if (tmp_path / "secret" / "red.svg").stat().st_atime == LONG_AGO:
        pytest.skip("this file system notes no reads")
    with socket.create_server(("127.0.0.1", 0)) as port:
        assert not is_visited(port)
        with socket.create_connection(port.getsockname()):
            assert is_visited(port)


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
    assert wrong == [] and len(drawn) + n_failed == len(jobs) >= 300
    np.testing.assert_array_equal(drawn[neighbour], square)
    corpus.assert_nothing_was_read_or_fetched()


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_hostile_picture_is_drawn_or_refused_as_a_query(corpus: Corpus, every: int) -> None:
    wrong = []
    with DrawPool(workers=1) as pool:
        opaque = saved(Image.fromarray(render(plain_square("neighbour"), size=96).pixels), "PNG")
        squares = [pool.pixels(content, size=32).astype(int) for content in (plain_square("neighbour"), opaque)]
        for case in (case for case in corpus.cases[::every] if not case.is_slow):
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
    for made in (folder, outside / "within", folder / "a folder.svg"):
        made.mkdir()
    with socket.socket(socket.AF_UNIX) as bound, chdir(folder):  # the path of a socket is short
        bound.bind("socket.png")
    for name in ("pipe.svg", "LICENSE", ".gitignore"):  # the last two are read for other reasons than a picture
        os.mkfifo(folder / name)
    out = "leads out of the source to"
    links = {
        "zero.png": ("/dev/zero", f'{out} "/dev/zero"'),
        "kernel.svg": ("/proc/version", f'{out} "/proc/version"'),
        "secret.svg": (f"{outside}/red.svg", f'{out} "{outside}/red.svg"'),
        "secrets": (str(outside), f'{out} "{outside}"'),
        "above": (str(folder.parent.parent), out),
        "itself": (str(folder), ""),
        "itself.svg": ("itself.svg", "symbolic links"),
        "gone.svg": ("nowhere.svg", "No such file"),
    }
    for name, (target, _) in links.items():
        (folder / name).symlink_to(target)
    return {name: reason for name, (_, reason) in links.items() if reason} | dict.fromkeys(
        ("pipe.svg", "socket.png"), "not a regular file"
    )


def assert_indexed_around(corpus: Corpus, chosen: list[Case], *, build: Build, library: Library, folder: Path) -> None:
    """Index cases beside good icons: all accounted for, each as it should be, no neighbour's vector changed."""
    good = folder / "good"
    good.mkdir(parents=True)
    for number in range(9):
        (good / f"{number}.svg").write_text(disc(4 + 2 * number, 12))
    how = EmbedOptions(batch_size=1, workers=2, precision="fp32")
    clean = Library(folder.parent / "clean")
    of_clean = vectors_by_digest(clean, build(good, into=clean, embed=how).embed.fingerprint)
    write(folder, chosen)
    things = write_things(folder / "things", folder.parent / "secrets")
    summary = build(folder, embed=how, exclude=("@gitignore",))
    counts = summary.counts
    assert (counts.missing, counts.found) == (0, counts.embedded + counts.failed + counts.duplicate)
    found = vectors_by_digest(library, summary.embed.fingerprint)
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
@pytest.mark.parametrize("takes_all", [False, True], ids=["at once", "all the time and memory that it gets"])
def test_hostile_pictures_cost_their_neighbours_nothing(
    corpus: Corpus, build: Build, library: Library, tmp_path: Path, takes_all: bool
) -> None:
    write_canaries(tmp_path / "secrets")
    chosen = [case for case in corpus.cases if takes_all or (not case.is_slow and len(case.content) < 5_000_000)]
    assert len(chosen) >= 300
    assert_indexed_around(corpus, chosen, build=build, library=library, folder=tmp_path / "icons")
