"""Where everything in a library lies, which generation is current, who may write, and what its user prefers.

A library whose file is damaged answers as one of which nobody prefers anything.

A library is one folder:

    catalog.sqlite              sources, icons, images, runs (written by the index process alone)
    encoders/FINGERPRINT/       query encoder in ONNX, tokenizer, encoder.json
    vectors/FINGERPRINT/        shards (*.safetensors); nonsense-*.npy (`indexer.merging.manifest`)
    work/FINGERPRINT/           plan of the embedding under way; runs/ID/: its blocks, claims, progress and log
    work/shared.json            runs that were put into stores (`indexer.embedding.sharing`)
    generations/N/              what searches read: catalog snapshot, FAISS indexes, facets, manifest.json
    CURRENT                     the number of the generation that answers
    preferences.json            which sets come first
    changed.jsonl               files that searches have found changed
    usage/                      where icons are used in screenshots (`indexer.screens`), with generations of its own
    damaged/TIME/               what a repair has set aside, under the names that it had
"""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_args

from indexer.errors import IconsError, LibraryError, UnsupportedError, explain_unreadable
from indexer.library.durable import (
    Files,
    describe_file,
    folder_aside,
    from_signed,
    leftovers,
    make_folder,
    remove_folder,
    with_checksum,
    write_file,
)
from indexer.library.foreign import below, folders_in, from_json, parsed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from filelock import FileLock

_NUMBER = r"[0-9]{1,9}"
Number = Annotated[int, range(10**9)]
MANIFEST = "manifest.json"


class GenerationFolder:
    """Where the files of one published state lie; it never changes once it has its name."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.folder = folder
        self.files: tuple[Path, ...] = ()
        """All files but the manifest, which says how large they are and what their bytes add up to."""
        self.manifest = folder / MANIFEST
        """What the generation holds, with sizes and checksums."""

    def describe(self) -> Files:
        """Sizes and checksums of its files."""
        return {path.name: describe_file(path) for path in self.files}


AnyGeneration = TypeVar("AnyGeneration", bound=GenerationFolder)
AnyManifest = TypeVar("AnyManifest")


class Generations(Generic[AnyGeneration]):
    """All published states of one kind, below a folder of a library."""

    def __init__(self, root: Path, kind: type[AnyGeneration], *, library: Path | None = None) -> None:
        """Name them: `library` is the folder of the library, where that is another one."""
        self.root = root.expanduser().absolute()
        self.generations = self.root / "generations"
        self.pointer = self.root / "CURRENT"
        self._kind = kind
        self._library = library or self.root

    def folder(self, number: int) -> Path:
        """Where a generation lies, whether it exists or not."""
        return below(self.generations, str(number))

    def generation(self, number: int) -> AnyGeneration:
        """Name a generation, whether it exists or not."""
        return self._kind(number, self.folder(number))

    def numbers(self) -> list[int]:
        """Numbers of all published generations, newest first."""
        names = (path.name for path in folders_in(self.generations))
        return sorted((int(name) for name in names if re.fullmatch(_NUMBER, name)), reverse=True)

    def next_number(self) -> int:
        """A number that no generation ever had, those that a repair has set aside included."""
        set_aside = self._library.glob(f"damaged/*/{self.generations.relative_to(self._library)}")
        folders = [folder for folder in (self.generations, *set_aside) if folder.is_dir()]
        names = (path.name for folder in folders for path in folder.iterdir())
        return 1 + max((int(name) for name in names if re.fullmatch(_NUMBER, name)), default=0)

    def current(self) -> int | None:
        """Number that the pointer names; None when it is missing, garbage, or names nothing."""
        before, number = None, self._pointed()
        while number != before:
            if number is None or self.folder(number).is_dir():
                return number
            before, number = number, self._pointed()  # it may have made room since the pointer was read
        return None

    def _pointed(self) -> int | None:
        try:
            text = self.pointer.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return int(text) if re.fullmatch(_NUMBER, text) else None

    def answering(self, read: Callable[[AnyGeneration], AnyManifest]) -> AnyManifest | None:
        """Read the manifest of the generation that answers; None where none does, or `read` refuses it."""
        current = self.current()
        try:
            return None if current is None else read(self.generation(current))
        except LibraryError:
            return None

    @contextmanager
    def next_generation(self, *, keeps_before: bool = True) -> Iterator[AnyGeneration]:
        """Yield an empty generation to be filled, the manifest last; it answers if the block ends without an error."""
        number = self.next_number()
        with folder_aside(self.folder(number)) as aside:
            yield self._kind(number, aside)
        self.publish(number, keeps_before=keeps_before)

    def publish(self, number: int, *, keeps_before: bool = True) -> None:
        """Make a generation the one that answers; the one that answered before is kept, all others are deleted."""
        before = self.current()
        self.point_to(number)
        others = [other for other in self.numbers() if other != number]
        kept = before if before in others else max(others, default=None)
        for other in others:
            is_generation = (self.folder(other) / MANIFEST).is_file()  # what has no manifest is none, and stays
            if is_generation and (other != kept or not keeps_before):
                remove_folder(self.folder(other))

    def point_to(self, number: int) -> None:
        """Let a generation answer."""
        write_file(self.pointer, f"{number}\n".encode("ascii"))


def write_manifest(generation: GenerationFolder, manifest: "DataclassInstance") -> None:
    """Write what a generation holds into it, with a checksum of its own."""
    generation.manifest.write_text(json.dumps(with_checksum(asdict(manifest)), indent=2), "utf-8")


def read_manifest(
    kind: type[AnyManifest], generation: GenerationFolder, *, advice: str, check: Callable[[Any], None] = lambda _: None
) -> AnyManifest:
    """Read what a generation says of itself; `check` looks at the parsed JSON first.

    Raises:
        LibraryError: it is missing, not whole, or refused; `advice` says what mends that.
    """
    with explain_unreadable(f'"{generation.manifest}"', advice):
        facts = parsed(generation.manifest.read_bytes())
        check(facts)
        return from_signed(kind, facts)


_PATIENCE_SECONDS = 0.3
"""Longer than it takes `is_being_written` to look."""
ABANDONED_SECONDS = 3600
"""A file aside that is older than this belongs to no rank any more, wherever its machine is."""


Order = Literal["set", "name", "newest"]
ORDERS: tuple[Order, ...] = get_args(Order)
"""In which icons are browsed."""


class Generation(GenerationFolder):
    """Where the files of one published state of a library lie."""

    def __init__(self, number: int, folder: Path) -> None:
        super().__init__(number, folder)
        self.catalog = folder / "catalog.sqlite"
        """Read-only snapshot of the catalog."""
        self.pictures = folder / "pictures.faiss"
        """FAISS index of picture vectors, ids of images."""
        self.icons = folder / "icons.faiss"
        """FAISS index of fused vectors (picture and name), ids of icons."""
        self.facets = folder / "facets.npy"
        """What icons can be filtered by and counted by, a row an icon (`indexer.merging.facets.ROW`)."""
        self.tags = folder / "tags.npy"
        """Which icon bears which tag, as pairs."""
        self.categories = folder / "categories.npy"
        """Which icon is in which category, as pairs."""
        self.lexicon = folder / "lexicon.safetensors"
        """Which names bear a word, and which icons a name (`indexer.merging.lexicon`)."""
        self.drawings = folder / "drawings.npy"
        """For each icon, in the order of the facets, the first picture that shows its drawing."""
        self.places = folder / "places.npy"
        """For each icon, in the order of the facets, where it stands by name (`indexer.merging.facets`)."""
        self.hits = folder / "hits.npy"
        """Ids of the hits where nothing is asked, in each order (`indexer.merging.browsing`)."""
        self.files = (
            self.catalog,
            self.pictures,
            self.icons,
            self.facets,
            self.tags,
            self.categories,
            self.lexicon,
            self.drawings,
            self.places,
            self.hits,
        )


class Library(Generations[Generation]):
    """Paths of one library folder and the few operations that move its pointer."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, Generation)
        self.catalog = self.root / "catalog.sqlite"
        self.preferences = self.root / "preferences.json"
        """Which sets searches put first (`indexer.library.folder`)."""

    def exists(self) -> bool:
        """Tell whether anything was ever indexed here: a catalog may be lost, and its generations still answer."""
        return self.catalog.is_file() or bool(self.numbers())

    def vectors(self, fingerprint: str) -> Path:
        """Folder of the shards of one encoder."""
        return below(self.root / "vectors", fingerprint)

    def encoder(self, fingerprint: str) -> Path:
        """Folder of one exported query encoder."""
        return below(self.root / "encoders", fingerprint)

    def work(self, fingerprint: str) -> Path:
        """Folder of the plan and of the progress of its ranks."""
        return below(self.root, "work", fingerprint)

    def run(self, fingerprint: str, run: str) -> Path:
        """Folder of the blocks and ranks of one run, `Plan.run`."""
        return below(self.root, "work", fingerprint, "runs", run)

    def end_other_runs(self, fingerprint: str, run: str) -> None:
        """Remove all runs of an encoder but one: their ranks write no more."""
        for other in folders_in(self.run(fingerprint, run).parent):
            if other.name != run:
                remove_folder(other)
        (self.work(fingerprint) / "plan.jsonl").unlink(missing_ok=True)  # an older program's

    def candidates(self) -> list[Generation]:
        """Generations in the order in which a search should try them: the current one, then older ones."""
        current, numbers = self.current(), self.numbers()
        if current is not None:
            numbers = [current, *(number for number in numbers if number < current)]
        return [self.generation(number) for number in numbers]

    def rollback(self, *, forward: bool = False) -> Generation:
        """Let the newest generation before the current one answer again; or, `forward`, the first one after it.

        Raises:
            LibraryError: there is none.
        """
        current, numbers = self.current(), self.numbers()
        ordered = reversed(numbers) if forward else numbers
        others = [n for n in ordered if current is not None and (n > current if forward else n < current)]
        if not others:
            where = "after" if forward else "before"
            raise LibraryError(
                f'"{self.root}" holds no generation {where} the current one ({current}); `icons index` builds a new one'
            )
        generation = self.generation(others[0])
        self.point_to(generation.number)
        return generation

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the one writer's lock; the system frees it when the process dies, so a stale lock can't be.

        Raises:
            LibraryError: another process holds it, or the folder can't be written, now or on the way.
        """
        self.exists()  # which is refused where a server holds it
        try:
            make_folder(self.root)
            self._lock.acquire(timeout=_PATIENCE_SECONDS)
        except TimeoutError:
            raise LibraryError(
                f'"{self.root}" is being written by another `icons` process; wait for it to end, then run this again'
            ) from None
        except OSError as error:
            raise LibraryError(
                f'"{self.root}" can\'t be written ({error.strerror}); choose another --library'
            ) from error
        try:
            for path in self.leftovers():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            yield
        except (OSError, sqlite3.Error) as error:
            raise LibraryError(
                f'"{getattr(error, "filename", None) or self.root}" can\'t be read or written '
                f"({getattr(error, 'strerror', None) or error}); what was finished is kept, "
                "and the same command goes on from there once that is mended"
            ) from error
        finally:
            self._lock.release()

    def leftovers(self) -> list[Path]:
        """What killed writers have left aside; of ranks what is old, as other machines' write without the lock."""
        usage = self.root / "usage"
        encoders = self.root / "encoders"
        own = [self.root, self.generations, self.root / "work", encoders, *folders_in(encoders)]
        own += [usage, usage / "generations", *folders_in(usage / "looks")]
        ranks = [folder for kind in ("vectors", "work") for folder in folders_in(self.root / kind)]
        return [path for folder in own for path in leftovers(folder)] + [
            path for folder in ranks for path in leftovers(folder, older_than_seconds=ABANDONED_SECONDS)
        ]

    def is_being_written(self) -> bool:
        """Whether another process holds the writer's lock now; False where nobody may write."""
        try:
            self._lock.acquire(timeout=0)
        except TimeoutError:
            return True
        except OSError:
            return False
        self._lock.release()
        return False

    @cached_property
    def _lock(self) -> "FileLock":
        from filelock import FileLock

        return FileLock(self.root / "writer.lock")


def require(library: Library) -> Library:
    """Return `library` if it was ever indexed.

    Raises:
        LibraryError: nothing is there yet.
    """
    if not library.exists():
        raise LibraryError(f'no library at "{library.root}" yet; `icons index SOURCE` builds one')
    return library


TOKEN = "ICONS_MILVUS_TOKEN"
"""Environment variable that holds a server's token, "user:password" or an API key."""


class LibraryElsewhere(Library):
    """An address, and the folder in the user's cache that keeps what was fetched from there."""

    def __init__(self, address: str) -> None:
        """Name it.

        Raises:
            IconsError: the address holds a secret.
        """
        from platformdirs import user_cache_path

        refuse_secret(address)
        super().__init__(user_cache_path("icons") / "servers" / blake2b(address.encode(), digest_size=10).hexdigest())
        self.address = address

    def exists(self) -> bool:
        """Refuse: whoever asks this goes on to read a library's folder.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f'"{self.address}" is held by a server; this command reads a library\'s folder, name that with --library'
        )


def refuse_secret(address: str) -> None:
    """Go on only where an address holds no secret; one that does is not spelt again.

    Raises:
        IconsError: it holds a user's name or password.
    """
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise IconsError(f"an address that holds a secret is seen by others; put it into {TOKEN} instead")


def library_at(place: str | Path) -> Library:
    """Name a library by its folder, or by its address on a server."""
    return LibraryElsewhere(place) if isinstance(place, str) and "://" in place else Library(Path(place))


Place = tuple[str, str]
"""Location of a source, and the path of a file in it."""
NAME = "changed.jsonl"
_MOST_BYTES = 1_000_000


def note_changed(root: Path, place: Place) -> None:
    """Keep a file of a source in mind for the next scan of the library at `root`."""
    line = json.dumps(place).encode() + b"\n"
    with suppress(OSError):  # a library may be read-only
        file = os.open(root / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            known = os.pread(file, _MOST_BYTES, 0)
            if line not in known and len(known) < _MOST_BYTES:
                os.write(file, line)
        finally:
            os.close(file)


@contextmanager
def noted_changes(root: Path) -> Iterator[frozenset[Place]]:
    """Give what was noted to a scan, and forget it once that has succeeded; what was noted meanwhile stays."""
    path = root / NAME
    content = path.read_bytes() if path.is_file() else b""
    yield frozenset(_places(content))
    if content and path.is_file() and path.stat().st_size == len(content):
        path.unlink()


def _places(content: bytes) -> Iterator[Place]:
    for line in content.splitlines():
        with suppress(ValueError):  # a line that was cut short by a full disk, or damaged
            yield from_json(tuple[str, str], line)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What was chosen so far."""

    sets: tuple[str, ...] = ()
    """Keys, the most preferred first."""
    format: str | None = None
    """Name of the format that code is written in where none is named."""


def read_preferences(library: Library) -> Preferences:
    """Read what is preferred; nothing where nobody chose anything.

    Raises:
        LibraryError: the file is not as `write_preferences` writes it.
    """
    try:
        return from_signed(Preferences, parsed(library.preferences.read_bytes()))
    except FileNotFoundError:
        return Preferences()
    except (OSError, ValueError) as error:
        raise LibraryError(
            f'"{library.preferences}" can\'t be read ({error}), so nothing is preferred; '
            "`icons config sets SET...` writes it anew"
        ) from error


def known_preferences(library: Library) -> Preferences:
    """Read what is preferred; nothing where the file is damaged."""
    try:
        return read_preferences(library)
    except LibraryError:
        return Preferences()


def write_preferences(library: Library, preferences: Preferences) -> None:
    """Remember what is preferred.

    Raises:
        LibraryError: it can't be written.
    """
    try:
        write_file(library.preferences, json.dumps(with_checksum(asdict(preferences))).encode())
    except OSError as error:
        raise LibraryError(
            f'"{library.preferences}" can\'t be written ({error.strerror}); nothing is remembered'
        ) from error
