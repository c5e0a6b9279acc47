"""Pictures change as designers' queries do, and only where they should."""

import io
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from indexer.finetune.augment import _ways_to_resample, augment, compressed, draw_changes
from indexer.finetune.options import Augmentation
from indexer.finetune.session import SHARES, write_sheet

STILL = replace(
    Augmentation(),
    **dict.fromkeys(SHARES, 0.0),
    smallest_scale=1.0,
    largest_scale=1.0,
    shift=0.0,  # type: ignore[arg-type]
)


def icons(n: int = 8, size: int = 32) -> Tensor:
    """Black bars on white, each somewhere else."""
    images = torch.ones(n, 3, size, size)
    for number in range(n):
        images[number, :, 8 + number : 20, 6 : 14 + number] = 0
    return images


def changed(change: Augmentation, images: Tensor, seed: int = 1, rows: range | None = None) -> Tensor:
    rows = rows or range(len(images))
    changes = draw_changes(rows, len(images), change, seed=(3, seed))
    return augment(torch.cat([images[rows.start : rows.stop], images[changes.neighbours]]), changes)


def test_nothing_changes_where_no_change_is_wanted() -> None:
    assert torch.allclose(changed(STILL, icons()), icons(), atol=1e-5)


def test_the_mix_repeats_with_its_seed_and_stays_in_range() -> None:
    images = torch.rand(64, 3, 32, 32)
    first, second, other = (changed(Augmentation(), images, seed) for seed in (1, 1, 2))
    assert torch.equal(first, second) and not torch.equal(first, other) and 0 <= first.min() < first.max() <= 1


def test_changes_of_a_place_are_the_same_whatever_else_is_drawn() -> None:
    often = dict.fromkeys(("backed", "photographed", "neighbours", "grained", "blurred", "compressed"), 0.3)
    change, images = replace(Augmentation(), **often), torch.rand(24, 3, 32, 32)
    whole = changed(change, images)
    for rows in (range(4), range(4, 5), range(5, 24)):
        assert torch.allclose(changed(change, images, rows=rows), whole[rows.start : rows.stop], atol=1e-5)


@pytest.mark.parametrize("share", ["inverted", "tinted", "two_colours"])
def test_two_colours_are_all_that_a_black_icon_has_and_they_differ(share: str) -> None:
    for picture in changed(replace(STILL, **{share: 1.0}), icons()):
        colours = picture.flatten(1).T.unique(dim=0)
        assert len(colours) == 2 and (colours[0] - colours[1]).abs().max() > 0.15


@pytest.mark.parametrize("share", ["backed", "photographed"])
def test_a_ground_is_put_behind_and_the_icon_shows_on_it(share: str) -> None:
    images = icons()
    for picture, icon in zip(changed(replace(STILL, **{share: 1.0}), images), images, strict=True):
        ink = icon[0] < 0.5
        assert picture[:, ~ink].std() > 0.02 and picture[:, ink].std() < 1e-4
        brightness = picture[:, ~ink].mean()
        assert (picture[:, ink].mean() - brightness).abs() > 0.3


def test_neighbours_come_from_the_batch_and_stand_beside_the_icon() -> None:
    images = icons(8, 64)
    images[:, :, 4:60, 4:60] = 0  # each fills its picture
    crowded = changed(replace(STILL, neighbours=1.0), images)
    edge = torch.cat([crowded[:, :, 0], crowded[:, :, -1], crowded[:, :, :, 0], crowded[:, :, :, -1]], dim=2)
    assert (edge.amin((1, 2)) < 0.1).all()
    alone = changed(replace(STILL, smallest_scale=0.5, largest_scale=0.75), images)
    assert alone[:, :, 0].min() > 0.9


def test_resampling_is_what_two_resizes_give() -> None:
    line = torch.rand(1, 1, 48, 48)
    ways, _ = _ways_to_resample(torch.device("cpu"), 48)
    side, methods = 12, ("nearest-exact", "bilinear", "bicubic")
    for way, (down, up) in zip(ways, product(methods, methods), strict=False):
        smooth = {} if down == methods[0] else {"antialias": True, "align_corners": False}
        small = functional.interpolate(line, (side, side), mode=down, **smooth)
        straight = {} if up == methods[0] else {"align_corners": False}
        expected = functional.interpolate(small, (48, 48), mode=up, **straight)
        assert torch.allclose(way @ line[0, 0] @ way.T, expected[0, 0], atol=1e-4), (down, up)


@pytest.mark.parametrize("quality", [30, 75])
def test_compression_is_what_a_jpeg_encoder_does(quality: int) -> None:
    pixels = (np.random.default_rng(1).random((40, 40, 3)) * 90 + 80).astype(np.uint8)
    pixels[10:25, 8:30] = (200, 30, 40)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling=0)
    expected = torch.from_numpy(np.array(Image.open(buffer))).float()
    image = torch.from_numpy(pixels).permute(2, 0, 1)[None].float() / 255
    found = compressed(image, torch.tensor([quality]))[0].permute(1, 2, 0) * 255
    lost = (found - torch.from_numpy(pixels).float()).abs().mean()
    assert lost > 5
    assert (found - expected).abs().mean() < lost / 3  # the encoder rounds colours to whole numbers on the way


def test_the_sheet_has_a_row_for_every_kind_of_change(tmp_path: Path) -> None:
    pixels = (icons(14) * 255).byte().permute(0, 2, 3, 1)
    write_sheet(pixels, tmp_path / "sheet.png", Augmentation(), seed=0)
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.height == (2 + len(SHARES) + 5) * (64 + 4)
