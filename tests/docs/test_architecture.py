"""The map in docs/architecture.md is the tree, in the order of its imports; expressions mean the same everywhere."""

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text("utf-8")
_ROW = re.compile(r"^\| ((?:&nbsp;)*)`(\w+)/` \|", re.MULTILINE)
_MOST_MODULES = 26


def rooms_on_the_map(package: str) -> list[str]:
    """Rooms by path, in the order of the map."""
    rooms: list[str] = []
    for indent, name in _ROW.findall(MAP[MAP.index(f"| `{package}/` |") :].split("\n\n")[0])[1:]:
        rooms.append(f"{rooms[-1]}/{name}" if indent else name)
    return rooms


def modules_of(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.py") if not path.stem.startswith("__")]


@pytest.mark.parametrize("package", ["indexer", "search"])
def test_the_map_is_the_tree(package: str) -> None:
    tree = {str(init.parent.relative_to(ROOT / package)) for init in (ROOT / package).rglob("__init__.py")} - {"."}
    assert set(rooms_on_the_map(package)) == tree


@pytest.mark.parametrize("package", ["indexer", "search"])
def test_rooms_stand_above_what_they_import(package: str) -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts[f"importlinter:contract:{package}"]["layers"].split("\n")
    floor = {room.strip(): number for number, layer in enumerate(layers) for room in layer.split("|")}
    floors = [floor[room] for room in rooms_on_the_map(package) if "/" not in room]
    assert floors == sorted(floors)


@pytest.mark.parametrize("package", ["indexer", "search"])
def test_a_root_is_small_and_a_room_can_be_read_in_an_hour(package: str) -> None:
    assert len(modules_of(ROOT / package)) <= 12
    assert {
        room: n for room in rooms_on_the_map(package) if (n := len(modules_of(ROOT / package / room))) > _MOST_MODULES
    } == {}


_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")


def test_no_group_is_possessive() -> None:
    """Before Python 3.11.5, one that fails half-way does not go back (gh-106052); an atomic group `(?>...)` does."""
    files = [file for package in ("indexer", "search") for file in (ROOT / package).rglob("*.py")]
    found = [f"{file}: {one[0]}" for file in files for one in _POSSESSIVE_GROUP.finditer(file.read_text("utf-8"))]
    assert len(files) > 200
    assert found == []
