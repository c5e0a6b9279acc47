"""Where everything lies that is known of screenshots, and which generation of it answers.

One folder inside the library, written by whoever holds the library's lock:

    usage/shots.json        folders of screenshots that are remembered, and whether crops are kept
    usage/files.jsonl       every file that was found there: stamp, digest, or why it can't be read
    usage/looks/KEY/        shards (*.safetensors): what is in each screenshot, by one encoder and one detector
    usage/generations/N/    what searches read: files, boxes, vectors of drawings, crops, manifest.json
    usage/CURRENT           the number of the generation that answers

A screenshot itself is never copied: its path is kept, and its boxes, vectors and, if wanted, crops.
"""

from pathlib import Path

from indexer.library.durable import remove_folder
from indexer.library.folder import Library
from indexer.library.foreign import below, folders_in
from indexer.library.numbered import MANIFEST, Numbered


class UsageGeneration:
    """Where the files of one published state lie; it never changes once it has its name."""

    def __init__(self, number: int, folder: Path) -> None:
        self.number = number
        self.folder = folder
        self.places = folder / "places.jsonl"
        """A line a file: its path, and the row of its screen or why there is none."""
        self.boxes = folder / "boxes.safetensors"
        """Screens, their boxes, and the drawing that each box shows."""
        self.drawings = folder / "drawings.faiss"
        """FAISS index of the vectors of distinct drawings, ids are rows of drawings."""
        self.crops = folder / "crops.bin"
        """PNGs of the drawings, one after the other; empty where no crops are kept."""
        self.files = (self.places, self.boxes, self.drawings, self.crops)
        self.manifest = folder / MANIFEST
        """What the generation holds, with sizes and checksums."""


class UsageFolder(Numbered):
    """Paths of what is known of screenshots, in one library."""

    def __init__(self, library: Library) -> None:
        super().__init__(library.root / "usage")
        self.library = library
        self.settings = self.root / "shots.json"
        self.files = self.root / "files.jsonl"
        self.looks = self.root / "looks"

    def next_number(self) -> int:
        """A number that no generation ever had: who has one open sees by its number that another answers."""
        aside = self.library.root.glob("damaged/*/usage/generations/*/")
        return max(super().next_number(), 1 + max((int(path.name) for path in aside if path.name.isdigit()), default=0))

    def exists(self) -> bool:
        """Tell whether screenshots were ever given."""
        return self.settings.is_file() or bool(self.numbers())

    def looks_of(self, key: object) -> Path:
        """Folder of the shards of one encoder and detector."""
        return below(self.looks, str(key))

    def generation(self, number: int) -> UsageGeneration:
        """Name a generation, whether it exists or not."""
        return UsageGeneration(number, self.folder(number))

    def publish(self, generation: UsageGeneration, *, keep_before: bool) -> None:
        """Make a generation the one that answers; all others go but the one before, if it is to be kept."""
        before = self.current() if keep_before else None
        self.point_to(generation.number)
        for number in self.numbers():
            if number not in (generation.number, before):
                self.remove(number)

    def remove_looks_but(self, key: object) -> None:
        """Delete what other encoders and detectors saw, once this one's has been published."""
        for folder in folders_in(self.looks):
            if folder.name != str(key):
                remove_folder(folder)
