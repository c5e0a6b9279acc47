"""Are near-duplicates told from members of a family?"""

from pathlib import Path

import numpy as np
import pytest
from lint_icons import copy_samples, lint_folder, shapes_of, text_of

from search.linting.inspecting import boxes_of, depth_of
from search.linting.twins import grown, strays


def test_members_of_a_family_are_no_near_duplicates(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    family = (
        "arrow-left arrow-right arrow-up arrow-down chevron-left chevron-right clock-1 clock-2 clock-3 battery-low "
        "battery-medium battery-full volume-1 volume-2 dice-1 dice-2 toggle-left toggle-right wifi wifi-off lock "
        "lock-open file-plus file-minus signal-low signal-medium circle-plus circle-minus panel-left panel-right"
    )
    for name in family.split():
        (folder / f"{name}.svg").write_text(text_of(name))
    assert lint_folder(folder, "near-duplicate", "identical").findings == ()


@pytest.mark.parametrize(
    "change",
    [
        'transform="translate(1 -.8)"',
        'transform="translate(.24 .24) scale(.98)"',
        'stroke-width="1.8"',
    ],
)
def test_a_copy_that_was_changed_a_little_is_found(tmp_path: Path, change: str) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    changed = text_of("house").replace(shapes_of("house"), f"<g {change}>{shapes_of('house')}</g>")
    (folder / "house.svg").write_text(text_of("house"))
    (folder / "home.svg").write_text(changed)
    (finding,) = lint_folder(folder, "near-duplicate").findings
    assert {icon.name for icon in finding.icons} == {"house", "home"}


def test_equal_pictures_in_other_bytes_are_identical_unless_they_are_styles_of_one_name(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    (folder / "house.svg").write_text(text_of("house"))
    (folder / "home.svg").write_text(text_of("house").replace('width="24"', "").replace("\n", " "))
    for style in ("outline", "filled"):
        (folder / style).mkdir()
        (folder / style / "minus.svg").write_text(text_of("minus"))
    (finding,) = lint_folder(folder, "identical").findings
    assert finding.message == "2 icons show the same picture: home, house"


def test_white_icons_are_measured_on_a_dark_ground_and_a_full_canvas_is_all_ink() -> None:
    pixels = np.zeros((3, 128, 128, 3), np.uint8)
    pixels[0, 32:64, 16:48] = 255
    pixels[1] = 255 - pixels[0]
    depth, is_dark = depth_of(pixels)
    assert is_dark[:2].tolist() == [True, False]
    assert boxes_of(depth).tolist() == [*[[0.125, 0.25, 0.375, 0.5]] * 2, [0, 0, 1, 1]]


def test_a_mask_grows_about_as_a_disc() -> None:
    dot = np.zeros((128, 128), bool)
    dot[64, 64] = True
    assert [int(grown(dot, by).sum()) for by in (0, 1, 2)] == [1, 5, 21]


def test_a_missing_hole_is_a_difference() -> None:
    full = np.zeros((128, 128), bool)
    full[20:100, 20:100] = True
    holed = full.copy()
    holed[55:65, 55:65] = False
    assert strays(full, full, by=2) == 0
    assert strays(full, holed, by=2) >= 30
