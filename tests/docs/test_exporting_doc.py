"""What docs/exporting.md says beside its examples, which test_searching_doc.py runs."""

import json
import re
from pathlib import Path

import pytest

from search.drawings.collection import read_collection
from search.drawings.export import KINDS
from search.engine import SearchEngine

TEXT = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text("utf-8")


def test_the_collection_that_is_shown_is_one(bundled_samples: Path) -> None:
    [text] = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    found, _ = read_collection(text.encode(), name="x")
    assert found.name == json.loads(text)["name"]
    engine = SearchEngine.open(bundled_samples)
    assert [engine.hits([engine.find(key)])[0].key for key in found.icons] == list(found.icons)


def test_the_example_in_python_runs(bundled_samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(code.replace("~/.local/share/icons", str(bundled_samples)), {})
    assert capsys.readouterr().out.startswith("1 set settings-sprite.zip ")


def test_every_kind_is_told() -> None:
    assert all(f"| `{kind}` |" in TEXT for kind in KINDS)
