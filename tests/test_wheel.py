"""The wheel holds the product and what it opens, and nothing of how that was made."""

import re
import zipfile
from pathlib import Path

import pytest
from tools import lacking

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the files in a wheel that is built here."""
    try:
        from hatchling.builders.wheel import WheelBuilder
    except ImportError:
        lacking("hatchling is not here: pip install '.[test]'")
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with zipfile.ZipFile(wheel) as opened:
        return set(opened.namelist())


def test_a_wheel_holds_nothing_that_only_made_a_file(held: set[str]) -> None:
    assert {name.split("/")[0] for name in held} == {"indexer", "search", "icons-0.1.0.dist-info"}
    assert not [name for name in held if "making" in name or "language/written" in name]
    assert not [name for name in held if name.startswith("indexer/bundled/") and name.endswith(".py")]


def test_a_wheel_holds_every_bundled_file_that_the_packages_open(held: set[str]) -> None:
    modules = [path.read_text("utf-8") for room in ("indexer", "search") for path in (ROOT / room).rglob("*.py")]
    opened = {name for text in modules for name in re.findall(r'(?<!\.)bundled\("([\w./-]+)"\)', text)}
    assert {"model", "detector", "eval", "language", "samples/lucide-static"} <= opened
    for name in opened:
        below = f"indexer/bundled/{name}"
        assert [held_one for held_one in held if held_one == below or held_one.startswith(f"{below}/")], name
    tracked = {
        "language/dictionary.bin",
        "language/synonyms.bin",
        "language/terms.json",
        "model/open_clip_model.safetensors",
        "eval/off-topic.txt",
    }
    assert {f"indexer/bundled/{name}" for name in tracked} <= held and "indexer/migrations/env.py" in held
