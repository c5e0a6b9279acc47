"""A byte is flipped in every part of every file: `icons doctor` finds it, or it changes nothing; no search crashes."""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from faults import Stages, draw
from known_screens import save_screen

from indexer.library.folder import Library, Preferences, note_changed, write_preferences

pytestmark = pytest.mark.slow
N_PARTS = 64
"""Of each file; a byte is flipped in each."""
FILES = (
    "CURRENT",
    "catalog.sqlite",
    "changed.jsonl",
    "encoders/*/encoder.json",
    "encoders/*/image.onnx",
    "encoders/*/text.onnx",
    "encoders/*/tokenizer.json",
    "generations/2/catalog.sqlite",
    "generations/2/categories.npy",
    "generations/2/drawings.npy",
    "generations/2/facets.npy",
    "generations/2/hits.npy",
    "generations/2/icons.faiss",
    "generations/2/lexicon.safetensors",
    "generations/2/manifest.json",
    "generations/2/pictures.faiss",
    "generations/2/places.npy",
    "generations/2/tags.npy",
    "preferences.json",
    "usage/CURRENT",
    "usage/files.jsonl",
    "usage/generations/1/boxes.safetensors",
    "usage/generations/1/crops.bin",
    "usage/generations/1/drawings.faiss",
    "usage/generations/1/manifest.json",
    "usage/generations/1/places.jsonl",
    "usage/looks/*/*.safetensors",
    "usage/shots.json",
    "vectors/*/images-*.safetensors",
    "vectors/*/names-*.safetensors",
    "vectors/*/nonsense-*.npy",
    "work/*/plan.json",
    "work/*/runs/*/outlines.jsonl",
    "work/*/runs/*/workers/rank-0.json",
)


class Damaged:
    """A library whose files can be damaged, and what it says while it is whole."""

    def __init__(self, stages: Stages, folder: Path, model: Path) -> None:
        icons = folder / "icons"
        icons.mkdir()
        for number, letter in enumerate("abcde"):
            draw(icons, f"dot-{letter}", 4 + 3 * number, 12)
        self.stages, self.root = stages, folder / "library"
        self.index = {"sources": [str(icons)], "model": str(model)}
        stages.result("index", self.root, given=self.index)
        draw(icons, "new", 9, 20)
        stages.result("index", self.root, given=self.index)
        self.shots = {"shots": [str(save_screen(folder / "screens" / "a.png", ["house", "disc"]).parent)]}
        stages.result("add shots", self.root, given=self.shots)
        write_preferences(Library(self.root), Preferences(("icons",)))
        note_changed(self.root, (str(icons), "new.svg"))
        self.copy = folder / "copy"
        self.whole = self.ask()["result"]

    def ask(self) -> dict[str, Any]:
        return self.stages.run("ask everything", self.root)

    def file(self, pattern: str) -> Path:
        return sorted(self.root.glob(pattern))[0]

    def check(self, path: Path, content: bytes) -> None:
        """Put another content in the place of a file's, and hold the library against the promises."""
        before = path.read_bytes()
        path.write_bytes(content)
        try:
            self._check(f"{path.relative_to(self.root)}")
        finally:
            path.write_bytes(before)
            for beside in self.root.glob("catalog.sqlite-*"):
                beside.unlink()

    def _check(self, where: str) -> None:
        asked, examined = self.ask(), self.stages.run("examine", self.root)
        for told in (asked, examined):
            assert told["status"] == 0, f"{where}: the process crashed"
            assert "defect" not in told, f"{where}: {told['defect']}"
        is_found = bool(examined.get("refusal") or examined["result"])
        assert is_found or asked.get("result") == self.whole, f"{where}: other answers or none, and nobody finds it"
        if not is_found:
            self._index_again(where)

    def _index_again(self, where: str) -> None:
        """What nobody finds must change nothing: not even after the next run."""
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.root, self.copy)
        for stage, given in (("index", self.index), ("add shots", self.shots)):
            told = self.stages.run(stage, self.copy, given=given)
            assert "result" in told, f"{where}: {told}"
        answers = self.stages.result("ask everything", self.copy)
        for what in ("answers", "uses"):
            assert answers[what] == self.whole[what], f"{where}: other {what} after the next run"


@pytest.fixture(scope="module")
def damaged(stages: Stages, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Damaged:
    return Damaged(stages, tmp_path_factory.mktemp("damaged"), tiny_model)


def _flipped(content: bytes) -> Iterator[bytes]:
    """Flip one byte in each part, chosen anew for each content but always in the same way."""
    rng = random.Random(len(content))
    for start, end in pairwise(len(content) * number // N_PARTS for number in range(N_PARTS + 1)):
        if start < end:
            at = rng.randrange(start, end)
            yield content[:at] + bytes([content[at] ^ rng.randrange(1, 256)]) + content[at + 1 :]


def _cut(content: bytes) -> Iterator[bytes]:
    return (content[:length] for length in {0, 1, len(content) // 2, len(content) - 1})


DAMAGES: dict[str, Callable[[bytes], Iterable[bytes]]] = {
    "zeros": lambda content: [bytes(len(content))],
    "flipped": _flipped,
    "cut": _cut,
}


@pytest.mark.parametrize("pattern", FILES)
@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_file_is_found_or_changes_nothing(damaged: Damaged, how: str, pattern: str) -> None:
    path = damaged.file(pattern)
    for content in DAMAGES[how](path.read_bytes()):
        damaged.check(path, content)


def test_every_file_of_a_library_is_damaged_here(damaged: Damaged) -> None:
    tried = {path for pattern in FILES for path in damaged.root.glob(pattern)}
    before = damaged.root / "generations" / "1"  # which is as the one that answers
    there = {path for path in damaged.root.rglob("*") if path.is_file() and before not in path.parents}
    assert there == tried | {damaged.root / "writer.lock"}  # which has no content
