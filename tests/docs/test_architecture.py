"""Is the map in docs/architecture.md the tree, in the order of its imports?"""

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text("utf-8")
_STEP = "&nbsp;&nbsp;"
_ROW = re.compile(r"^\| ((?:&nbsp;)*)`(\w+)/` \| .* \| ([`\w ]*) \|$", re.MULTILINE)


def rooms_on_the_map(package: str) -> dict[str, set[str]]:
    """Modules by room, in the order of the map; "" is the package itself."""
    table = MAP[MAP.index(f"| `{package}/` |") :].split("\n\n")[0]
    rooms: dict[str, set[str]] = {}
    above: list[str] = []
    for indent, name, modules in _ROW.findall(table):
        depth = indent.count(_STEP)
        above[depth:] = [] if name == package and not rooms else [name]
        rooms["/".join(above)] = set(re.findall(r"\w+", modules))
    return rooms


@pytest.mark.parametrize("package", ["indexer", "search"])
def test_the_map_is_the_tree(package: str) -> None:
    folders = [init.parent for init in (ROOT / package).rglob("__init__.py")]
    tree = {
        str(folder.relative_to(ROOT / package)).removeprefix("."): {
            path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")
        }
        for folder in folders
    }
    assert rooms_on_the_map(package) == tree


@pytest.mark.parametrize("package", ["indexer", "search"])
def test_rooms_stand_above_what_they_import(package: str) -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts[f"importlinter:contract:{package}"]["layers"].split("\n")
    floor = {room.strip(): number for number, layer in enumerate(layers) for room in layer.split("|")}
    floors = [floor[room] for room in rooms_on_the_map(package) if room in floor and "/" not in room]
    assert floors == sorted(floors)


@pytest.mark.parametrize(("package", "most"), [("indexer", 12), ("search", 12)])
def test_a_root_is_small_and_a_room_has_one_subject(package: str, most: int) -> None:
    rooms = rooms_on_the_map(package)
    assert len(rooms.pop("")) <= most
    assert {room: len(modules) for room, modules in rooms.items() if not 3 <= len(modules) <= 20} == {}
