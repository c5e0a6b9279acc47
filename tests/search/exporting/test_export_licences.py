"""Are the terms of icons summed up and told as they are?"""

from pathlib import Path

import pytest

from indexer.sources.licences import FAMILIES, TERMS, needs_credit, read_licence_file
from search.drawings.collection import Collection
from search.drawings.export import export
from search.drawings.licences import licences_summed_up
from search.engine import SearchEngine


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("plain:house", "plain:wide-bar"), "1 set"),
        (("plain:house", "colours:sunset"), "2 sets; 1 needs attribution"),
        (
            ("colours:sunset", "shared:hole", "traps:trap", "shared:ghost"),
            "3 sets; 2 need attribution; 1 copyleft; 1 non-commercial; 1 unknown",
        ),
        ((), "0 sets"),
    ],
)
def test_licences_are_summed_up_in_a_line(engine: SearchEngine, keys: tuple[str, ...], line: str) -> None:
    assert licences_summed_up(engine.hits([engine.find(key) for key in keys])) == line


def test_the_file_tells_warnings_credits_and_the_text_that_lay_with_the_source(engine: SearchEngine) -> None:
    keys = ("colours:sunset", "shared:ghost", "traps:trap", "lucide-static:bell")
    text = export(engine, Collection("Mine", keys), "zip").files["LICENCES.md"].decode()
    assert text.startswith("# Licences of the icons in Mine\n\n4 sets; 1 needs attribution; 1 copyleft; 1 unknown.")
    for line in (
        "- shared (GPL-3.0-only): its icons may put what you build with them under their licence.",
        "- traps (no licence): its icons state no licence that is known here.",
        "\n\ncolours icons, Creative Commons Attribution 4.0 (https://spdx.org/licenses/CC-BY-4.0.html)\n\n",
        "- Licence: ISC License (`ISC`), https://spdx.org/licenses/ISC.html",
        "    Copyright (c) 2026 Lucide Icons and Contributors",
    ):
        assert line in text


def test_every_family_has_its_terms() -> None:
    assert set(TERMS) == set(FAMILIES)


@pytest.mark.parametrize(
    ("licence", "is_asked"),
    [
        *((licence, True) for licence in ("CC-BY-4.0", "CC BY-NC-SA 4.0", "Creative Commons Attribution 3.0")),
        *((licence, False) for licence in ("MIT", "CC0-1.0", "OFL-1.1", "GPL-3.0-only", None, "Abby's licence")),
    ],
)
def test_credit_is_asked_for_by_creative_commons_by(licence: str | None, is_asked: bool) -> None:
    assert needs_credit(licence) is is_asked


def test_a_licence_file_is_read_from_inside_the_source_alone(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "secret").write_text("secret")
    (package / "LICENSE").symlink_to(tmp_path / "secret")
    assert read_licence_file("npm", package) is None
    (package / "licence.md").write_text(" MIT, mine \n")
    assert read_licence_file("npm", package) == "MIT, mine"
    assert read_licence_file("iconify", package) is None
    (package / "licence.md").write_bytes(b"x" * 200_001)
    assert read_licence_file("npm", package) is None
