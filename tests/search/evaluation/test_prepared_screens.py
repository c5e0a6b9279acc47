"""A measurement on prepared screens counts what it says, and says it to people and programs."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from known_screens import folder, subject  # noqa: F401 - fixtures

from indexer.errors import SourceError
from indexer.screens.boxes import Boxes
from search.cli import main
from search.evaluation.evaluate import Subject
from search.evaluation.screens import (
    NO_ICON,
    Answer,
    end_to_end,
    false_on_empty,
    match,
    name_boxes,
    naming,
    quality_of_boxes,
    read_pixels,
    read_screens,
    read_truths,
)


@pytest.fixture(scope="module")
def answers(subject: Subject, folder: Path) -> list[Answer]:
    """Two of three icons of the first screen; of the second a bad box and the icon that is not held; a false box."""
    truths = read_truths(folder, subject.corpus)
    disc, box, _ = truths[0].corners
    large, gone = truths[1].corners
    badly = np.array([large[0], large[1], large[2], large[1] + (large[3] - large[1]) * 0.4])
    shown = [[disc, box], [badly, gone], [np.array([0, 0, 9, 9])]]
    found = []
    for truth, corners in zip(truths, shown, strict=True):
        boxes = Boxes(np.array(corners, np.float32), np.linspace(1, 0.5, len(corners), dtype=np.float32))
        pixels = read_pixels(truth.folder, truth.screen)
        names, true_names = (
            name_boxes(subject.engine, pixels, these, sets=truth.sets) for these in (boxes.corners, truth.corners)
        )
        found.append(Answer(truth, boxes, match(boxes, truth.corners), names, true_names))
    return found


def test_boxes_count_where_they_hold_an_icon(answers: list[Answer]) -> None:
    found = quality_of_boxes(0.5, answers, seed=0)
    assert [getattr(found, name).value for name in ("precision", "recall", "f1")] == [0.6, 0.6, 0.6]
    assert false_on_empty(answers, seed=0).value == 1


def test_icons_that_the_library_lacks_are_left_aside_when_names_count(answers: list[Answer]) -> None:
    assert [one.truth.is_held.tolist() for one in answers] == [[True] * 3, [True, False], []]
    named = sum(int(one.is_named().sum()) for one in answers)
    found = end_to_end(0.5, answers, seed=0)  # of five boxes one is on an icon that it lacks, of five icons one
    assert found.precision.value == found.recall.value == pytest.approx(named / 4, abs=1e-4)
    ceiling = naming(answers, seed=0)
    assert ceiling.n_icons == 4 and ceiling.top_1.value <= ceiling.top_5.value == 1  # there are but five icons


def test_the_command_tells_people_and_programs(subject: Subject, folder: Path) -> None:
    given = ["lab", "evaluate", "--screens-from", str(folder), "--library", str(subject.library.root)]
    done = CliRunner().invoke(main, given)
    shown = " ".join(done.stdout.split())
    assert done.exit_code == 0 and "3 screens, 1 of them without icons; 5 icons" in shown, done.output
    assert "which holds 4 of the icons" in shown
    found = json.loads(CliRunner().invoke(main, [*given, "--json"]).stdout)
    assert (found["n_screens"], found["n_held"], found["naming"]["n_icons"]) == (3, 4, 4)
    assert found["boxes"]["recall"]["value"] >= 0.4  # by the detector that ships
    refused = CliRunner().invoke(main, [*given, "--names", "0"])
    told = "measures boxes and names in screens alone; leave out --names"
    assert refused.exit_code == 2 and told in " ".join(refused.output.split())


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        *((f"{line}\n", "line 1: not a screen") for line in ("{}", "nonsense", "[1]")),
        (None, r"no screens in .*screens\.jsonl"),
    ],
)
def test_what_is_no_screen_is_refused(tmp_path: Path, lines: str | None, message: str) -> None:
    if lines:
        (tmp_path / "screens.jsonl").write_text(lines)
    with pytest.raises(SourceError, match=message):
        read_screens(tmp_path)


def test_a_line_that_was_cut_off_by_a_kill_is_left_out(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "screens.jsonl").read_text()
    (tmp_path / "screens.jsonl").write_text(whole + '{"file": "00009.png", "wid')
    assert read_screens(tmp_path) == read_screens(folder)


def slow_iou(one: np.ndarray, other: np.ndarray) -> float:
    """Counts pixels."""
    marks = np.zeros((2, 80, 80), bool)
    for mark, (left, top, right, bottom) in zip(marks, (one.astype(int), other.astype(int)), strict=True):
        mark[top:bottom, left:right] = True
    return float((marks[0] & marks[1]).sum() / (marks[0] | marks[1]).sum())


def slow_match(boxes: Boxes, icons: np.ndarray) -> list[int]:
    taken: set[int] = set()
    found = []
    for box in boxes.corners:
        free = [(slow_iou(box, icon), -row) for row, icon in enumerate(icons) if row not in taken]
        overlap, row = max(free, default=(0.0, 1))
        found.append(-row if overlap >= 0.5 else NO_ICON)
        taken.add(found[-1])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_boxes_take_icons_as_a_slow_count_of_pixels_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    left_top = random.integers(0, 40, (14, 2))
    drawn = np.concatenate([left_top, left_top + random.integers(6, 30, (14, 2))], axis=1)
    icons, others = drawn[:8], drawn[8:]
    near = icons[random.integers(0, 8, 12)] + random.integers(-3, 4, (12, 4))
    corners = np.clip(np.concatenate([near, others]), 0, 79).astype(np.float32)
    boxes = Boxes(corners, np.sort(random.random(18).astype(np.float32))[::-1])
    assert match(boxes, icons.astype(np.float32)).tolist() == slow_match(boxes, icons)
