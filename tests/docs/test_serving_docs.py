"""Do the examples in docs/serving.md work as they stand?"""

import json
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

from PIL import Image, ImageDraw
from serving import index_into, serving, write_icons
from tools import lacking

from indexer.library.folder import Library
from search.web.answers import HitAnswer
from search.web.parameters import SearchParameters

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text("utf-8")
EXAMPLES = re.findall(r"^curl .*$", PAGE, re.MULTILINE)


def test_every_example_is_answered(tmp_path: Path, tiny_model: Path) -> None:
    if shutil.which("curl") is None:
        lacking("curl is not installed")
    write_icons(tmp_path / "icons")
    library = Library(tmp_path / "library")
    index_into(library, tmp_path / "icons", model=tiny_model)
    shot = Image.new("RGB", (200, 120), "white")
    ImageDraw.Draw(shot).ellipse((60, 20, 140, 100), fill="black")
    for name in ("shot.png", "screen.png"):
        shot.save(tmp_path / name)
    assert len(EXAMPLES) >= 13
    with serving(library) as (client, _):
        for example in EXAMPLES:
            command = example.replace("http://127.0.0.1:8000", str(client.base_url).rstrip("/"))
            command = command.replace("style=filled", "set=icons")
            status = f"{command} --silent --show-error --output {tmp_path}/answer --write-out '%{{http_code}}'"
            status = re.sub(r"--output icons?\.\w+", "", status)
            done = subprocess.run(status, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
            assert done.stdout == "200", f"{example}: {(tmp_path / 'answer').read_text()}"
            assert (tmp_path / "answer").stat().st_size


def test_the_hit_that_is_shown_has_the_fields_of_a_hit() -> None:
    [shown] = re.findall(r"```json\n(\{\"id\".*?)\n```", PAGE, re.DOTALL)
    assert list(json.loads(shown)) == [field.name for field in fields(HitAnswer)]


def test_every_parameter_of_a_search_is_told() -> None:
    assert {field.alias or name for name, field in SearchParameters.model_fields.items()} <= set(
        re.findall(r"`([a-z_]+)`", PAGE)
    )
