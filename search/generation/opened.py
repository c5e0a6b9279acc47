"""One generation of a library, open for queries: its catalog, its indexes, its encoder with its last vectors."""

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats, Ids
from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder, read_facts
from indexer.errors import IconsError, LibraryError, UnknownSetError
from indexer.library.durable import differences
from indexer.library.folder import Generation, Library, LibraryElsewhere, require
from indexer.merging.lexicon import Lexicon
from indexer.merging.manifest import Manifest
from search.generation.backend import EMBEDDED, Ability, AskedLabels, Engine, IconTable, VectorSearch
from search.generation.facets import Facets, FaissVectors
from search.generation.snapshot import Snapshot
from search.query import refuse_late
from search.words.wording import Speller

if TYPE_CHECKING:
    from indexer.screens.files import UsageGeneration

N_KEPT = 4_096
"""Vectors; a query has one for its words, one for its picture, one for each thing that it steers away from, and one for
each that is customarily drawn for it: there are some 1,900 of these, which different queries share."""


class RememberingEncoder(QueryEncoder):
    """Another encoder, whose last vectors are kept. Many threads may ask at once."""

    def __init__(self, encoder: QueryEncoder) -> None:
        self.encoder = encoder
        self.image_size = encoder.image_size
        self._kept: dict[Hashable, Floats] = {}

    def has_token(self, word: str) -> bool:
        """Tell whether a word is so usual that the encoder reads it as one piece."""
        return self.encoder.has_token(word)

    def whole_words(self) -> list[str]:
        """List the words that are so usual that the encoder reads each as one piece."""
        return self.encoder.whole_words()

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts of normalised words, (n, dim); those that are not kept in one go."""
        return self._vectors(texts, lambda new: self.encoder.encode_many_words([texts[place] for place in new]))

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (n, size, size, 3), (n, dim); those that are not kept in one go."""
        digests = [blake2b(picture.tobytes(), digest_size=16).digest() for picture in pixels]
        return self._vectors(digests, lambda new: self.encoder.encode_many_pictures(pixels[new]))

    def _vectors(self, keys: Sequence[Hashable], encode: Callable[[list[int]], Floats]) -> Floats:
        """The vectors of some keys, (n, dim); `encode` makes those at some places."""
        kept = self._kept
        if new := [place for place, key in enumerate(keys) if key not in kept]:
            kept = kept | dict(zip((keys[place] for place in new), encode(new), strict=True))
            # Another one instead of a change: threads that read the old one are not disturbed.
            self._kept = kept if len(kept) <= N_KEPT else dict(list(kept.items())[-N_KEPT // 2 :])
        return np.stack([kept[key] for key in keys])


def forgetful(encoder: QueryEncoder) -> QueryEncoder:
    """The encoder that makes the vectors: whoever measures it asks it each time."""
    return encoder.encoder if isinstance(encoder, RememberingEncoder) else encoder


ADVICE = "`icons doctor --repair` makes it again"
_looked: dict[Path, tuple[object, str | None]] = {}
"""The stamps that a generation's files had when their checksums were looked at, and what was found. That takes seconds,
and a query that fails may be asked often: they are looked at again once a file has another stamp."""


@dataclass(slots=True)
class Opened:
    """All that a query needs; nothing here changes while it is asked."""

    generation: Generation
    manifest: Manifest
    snapshot: Snapshot
    encoder: QueryEncoder
    icons: VectorSearch
    """Fused vectors, by ids of icons."""
    pictures: VectorSearch
    """Vectors of pictures, by ids of images."""
    facets: IconTable
    lexicon: Lexicon
    speller: Speller
    state: object
    """Tells what was opened from all that lay there before or lies there later, under its number or in its place."""
    engine: Engine = EMBEDDED
    """What answers."""

    def in_memory(self, ability: Ability) -> Facets:
        """Columns of all icons, for what goes through whole libraries.

        Raises:
            UnsupportedError: the engine has none.
        """
        self.engine.require(ability)
        assert isinstance(self.facets, Facets)
        return self.facets

    @classmethod
    def of(cls, generation: Generation, snapshot: Snapshot, *, encoder: Path, **parts: Any) -> "Opened":
        """Put the parts together, and open what every engine reads from files here: encoder and lexicon."""
        remembering = RememberingEncoder(open_query_encoder(encoder))
        lexicon = Lexicon.open(generation.lexicon)
        speller = Speller.of(snapshot.vocabulary, lexicon, remembering)
        return cls(generation, snapshot=snapshot, encoder=remembering, lexicon=lexicon, speller=speller, **parts)

    def is_name_or_tag(self, words: str) -> bool:
        """Tell whether an icon is called so or states it as a tag."""
        return len(self.snapshot.named(words)) > 0 or self.snapshot.tag_code(words) is not None

    def name_rows(self, ids: Ids) -> Ids:
        """Rows of the lexicon in which the names of some icons stand."""
        return self.lexicon.rows(self.facets.at(ids)["name"])


def open_current(library: Library) -> Opened:
    """Open the current generation of a library; if it can't be read, the one before, with a warning.

    Raises:
        LibraryError: nothing was published, or nothing can be read.
    """
    while True:
        pointed = library.current()
        opened, refusals = None, list[str]()
        for generation in library.candidates():
            try:
                opened = open_generation(library, generation)
                break
            except LibraryError as error:
                refusals.append(str(error))
        if opened is not None and pointed is None and library.pointer.exists():
            refusals.insert(0, f'"{library.pointer}" names no generation that is there; {ADVICE}')
        if not refusals or library.current() == pointed:
            break
        # Another one was published meanwhile: what could not be read may just have made room for it.
    if opened is None:
        raise LibraryError(refusals[0] if refusals else f'"{library.root}" was never published; `icons index` does it')
    for refusal in refusals:
        warnings.warn(f"{refusal}; generation {opened.generation.number} answers instead", stacklevel=3)
    return opened


def open_generation(library: Library, generation: Generation) -> Opened:
    """Open one generation, after a look at what is cheap: format, sizes, whose catalog it is. `icons doctor` compares
    checksums.

    Raises:
        LibraryError: it can't be read.
    """
    state = state_of(generation)
    manifest = Manifest.read(generation)
    for path, how in differences(generation.folder, manifest.files, sums=False):
        raise LibraryError(f'"{path}" {how}; {ADVICE}')
    with damage_explained(library, generation, manifest), ThreadPoolExecutor(2) as beside:
        snapshot, facets = Snapshot(generation.catalog), Facets(generation)
        library_id, *others = snapshot.identity()
        # Of large indexes the codes are read from disk, which leaves a core to all else; what is small would wait.
        icons = beside.submit(FaissVectors.open, generation.icons, manifest.icons, dim=manifest.dim)
        pictures = beside.submit(FaissVectors.open, generation.pictures, manifest.pictures, dim=manifest.dim)
        expected = manifest.library, manifest.revision, int(facets.rows["icon"][-1])
        if (library_id if manifest.library else "", *others) != expected:  # which may have as many bytes
            raise LibraryError(f'"{snapshot.path}" is the catalog of another generation or library; {ADVICE}')
        opened = Opened.of(
            generation,
            snapshot,
            encoder=library.encoder(manifest.fingerprint),
            manifest=manifest,
            facets=facets,
            icons=icons.result(),
            pictures=pictures.result(),
            state=state,
        )
    refuse_changed(opened)
    return opened


def state_of(generation: "Generation | UsageGeneration") -> object:
    """What tells the files of a generation from others under the same names; None where there is no manifest.

    A generation never changes; a library that is copied to where another one was brings other files.
    """
    stamps = tuple(map(_stamp, (generation.manifest, *generation.files)))
    return stamps if stamps[0] else None


def refuse_changed(opened: Opened) -> None:
    """Go on only while the files are those that were opened: parts of two libraries are no answer.

    Raises:
        LibraryError: one has gone, has changed, or is another one by now.
    """
    if state_of(opened.generation) != opened.state:
        folder = opened.generation.folder
        how = "is being written, or another one lies there by now" if folder.is_dir() else "has gone"
        raise LibraryError(f'"{folder}" {how}; `icons doctor` examines the library')


@contextmanager
def damage_explained(library: Library, generation: Generation, manifest: Manifest) -> Iterator[None]:
    """Tell damage as what it is, where a file that was damaged leads to an error of any kind during the block.

    Only then are the checksums looked at; if all are right, the error is a defect of ours and goes on.

    Raises:
        LibraryError: a file is not as it was written, or the whole generation has gone.
    """
    try:
        yield
    except IconsError:
        raise
    except Exception as error:
        refuse_late()  # SQLite was stopped
        if found := _damage(library, generation, manifest):
            raise LibraryError(f"{found} ({error}); {ADVICE}") from error
        raise


def _damage(library: Library, generation: Generation, manifest: Manifest) -> str | None:
    if not generation.folder.is_dir():
        return f'"{generation.folder}" has gone'
    encoder = library.encoder(manifest.fingerprint)
    written = {generation.folder: manifest.files}
    with suppress(OSError, ValueError):  # else the encoder was not opened in the first place
        written[encoder] = read_facts(encoder).files or {}
    stamps = [_stamp(folder / name) for folder, files in written.items() for name in sorted(files)]
    looked, found = _looked.get(generation.folder, (None, None))
    if looked == stamps:
        return found
    damages = (damage for folder, files in written.items() for damage in differences(folder, files, sums=True))
    found = next((f'"{path}" {how}' for path, how in damages), None)
    _looked[generation.folder] = stamps, found
    return found


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Which file it is, its size and time of change; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class Source:
    """Where a search engine opens its generations from: the folder of a library. A server overrides all of it."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def current(self) -> int | None:
        """Number of the generation that should answer."""
        return self._library.current()

    def state(self, number: int) -> object:
        """What `Opened.state` would be of that generation now; None where it is not there."""
        return state_of(self._library.generation(number))

    def library(self, number: int) -> str:
        """Id of the library that a generation belongs to; "" where that is not known.

        Raises:
            LibraryError: it can't be read.
        """
        return Manifest.read(self._library.generation(number)).library

    def open_current(self) -> Opened:
        """Open the current generation; of a folder the one before, with a warning, where that can't be read.

        Raises:
            LibraryError: nothing was published, or it can't be read.
        """
        return open_current(require(self._library))

    def open(self, number: int) -> Opened:
        """Open one generation.

        Raises:
            LibraryError: it can't be read.
        """
        return open_generation(self._library, self._library.generation(number))

    @contextmanager
    def explaining(self, opened: Opened) -> Iterator[None]:
        """Report damage of files during the block as what it is, also where files were exchanged meanwhile."""
        with damage_explained(self._library, opened.generation, opened.manifest):
            try:
                yield
            finally:  # what was exchanged is not damaged
                refuse_changed(opened)

    def refuse_unknown_set(self, opened: Opened, error: UnknownSetError) -> None:
        """Refuse a set that a newer generation knows, with the way back to it; nothing where none knows it.

        Raises:
            UnknownSetError: a newer generation knows it.
        """
        answering = opened.generation.number
        for number in (number for number in self._library.numbers() if number > answering):
            with suppress(IconsError):
                AskedLabels.read(self._library.generation(number).catalog, "set").meant([error.name])
                break
        else:
            return
        raise UnknownSetError(
            f'set "{error.name}" is in the catalog but not in generation {answering}, which answers since '
            f"`icons rollback`; `icons rollback --forward` lets generation {number} answer, which has it",
            name=error.name,
        ) from error


def source_of(library: Library) -> Source:
    """Where a library's generations come from; only who asks a server imports what that takes."""
    if not isinstance(library, LibraryElsewhere):
        return Source(library)
    from search.generation.milvus.published import Published

    return Published(library)
