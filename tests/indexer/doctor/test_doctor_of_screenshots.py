"""What is known of screenshots is broken by hand: `icons doctor` says so, and mends what can be derived."""

import shutil
from pathlib import Path

import pytest
from usage_screens import plain_sight, save_screen

from indexer.doctor.checks import Report
from indexer.doctor.examine import examine, repair
from indexer.errors import SourceError
from indexer.library.folder import Library
from indexer.screens.add import AddOptions, Sight, add
from indexer.screens.files import UsageFolder
from indexer.screens.located import detector_version
from indexer.screens.looks import LookKey
from search.screens.opened import UsageIndex


def _sight(library: Library) -> Sight:
    """Quick to look with, under the name of the detector that ships."""
    plain = plain_sight(library)
    return Sight(LookKey(plain.key.fingerprint, detector_version(), plain.key.dim), plain.locator, plain.encoder)


@pytest.fixture(scope="module")
def seen(asked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that knows two screenshots, and these beside it."""
    place = tmp_path_factory.mktemp("seen")
    shutil.copytree(asked, place / "held")
    save_screen(place / "shots/a.png", ["house", "arrow-left"])
    save_screen(place / "shots/b.png", ["disc"])
    library = Library(place / "held")
    add(library, AddOptions(shots=[place / "shots"], workers=1), lambda *_: None, sight=_sight(library))
    return place


@pytest.fixture
def folder(seen: Path, tmp_path: Path) -> UsageFolder:
    """A copy of it."""
    return UsageFolder(Library(Path(shutil.copytree(seen / "held", tmp_path / "held"))))


def _examined(folder: UsageFolder) -> list[str]:
    return [finding.message for finding in examine(folder.library, sample=0).findings if finding.kind == "usage"]


def _repaired(folder: UsageFolder) -> Report:
    return repair(folder.library, sample=0, stage=lambda _: None)


def _damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def _boxes(folder: UsageFolder) -> list[list[float]]:
    return UsageIndex.open(folder.library.root).corners.tolist()


SLOW = [
    pytest.param(name, marks=pytest.mark.slow) for name in ("places.jsonl", "drawings.faiss", "crops.bin", "CURRENT")
]


@pytest.mark.parametrize("name", ["boxes.safetensors", "manifest.json", *SLOW])
def test_a_damaged_generation_is_built_again_from_the_shards(folder: UsageFolder, name: str) -> None:
    before = _boxes(folder)
    assert _examined(folder) == []
    _damage(next(folder.root.rglob(name)))
    assert len(_examined(folder)) == 1
    report = _repaired(folder)
    assert report.is_sound and "built generation 2 of screenshots: 2 screens; it answers" in report.repairs
    assert (_boxes(folder), folder.current(), _examined(folder)) == (before, 2, [])


def test_a_damaged_shard_is_set_aside_and_its_screenshots_are_looked_at_again(folder: UsageFolder) -> None:
    before = _boxes(folder)
    [shard] = folder.looks.rglob("*.safetensors")
    _damage(shard)
    [message] = _examined(folder)
    assert "receipt" in message or "can't be read" in message
    assert any("`icons usage add` looks at them again" in line for line in _repaired(folder).repairs)
    assert not shard.exists()
    assert list(folder.library.root.glob("damaged/*/usage/looks/*/looks-*.safetensors"))
    assert _boxes(folder) == before  # what was published goes on answering
    added = add(folder.library, AddOptions(workers=1), lambda *_: None, sight=_sight(folder.library))
    assert (added.looked, _boxes(folder)) == (2, before)


def test_damaged_settings_are_set_aside_and_asked_for_again(folder: UsageFolder) -> None:
    folder.settings.write_text("{")
    assert "give `icons usage add` the screenshots again" in _examined(folder)[0]
    assert (_repaired(folder).is_sound, UsageIndex.open(folder.library.root).n_screens) == (True, 2)
    with pytest.raises(SourceError, match="no screenshots are known yet"):
        add(folder.library, AddOptions(), lambda *_: None, sight=_sight(folder.library))
