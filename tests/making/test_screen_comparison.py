"""Ways of finding icons side by side: what is counted, and the page of the worst."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from known_screens import build_known_library, write_screens

from data.making.eval.curves import average_precision, ranked
from data.making.eval.screens import (
    FALSE_BOXES,
    Answers,
    Contender,
    ask,
    contender_row,
    group_rows,
    main,
    size_class,
)
from data.making.eval.screens_page import BADLY, EMPTY, FALSE, MISSED, faults_of
from indexer.arrays import Mask, Pixels
from indexer.screens.boxes import Boxes
from search.evaluation.evaluate import Subject
from search.evaluation.screens import ScreenIcon, read_truths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_screens(tmp_path_factory.mktemp("screens"))


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Subject:
    return Subject(build_known_library(tmp_path_factory.mktemp("known"), tiny_model))


@pytest.fixture(scope="module")
def planned(subject: Subject, folder: Path) -> tuple[Contender, Answers]:
    """Finds three of five icons, one of them below its threshold; a bad box, and one on the icon-free screen."""
    truths = read_truths(folder, subject.corpus)
    disc, box, _ = truths[0].corners
    large, gone = truths[1].corners
    badly = np.array([large[0], large[1], large[2], large[1] + (large[3] - large[1]) * 0.4])
    left = iter(
        [[(box, 0.6), (disc, 0.9)], [(badly, 0.8), (gone, 0.7), (large, 0.3)], [(np.array([0, 0, 9, 9]), 0.95)]]
    )

    def detect(_: Pixels) -> Boxes:
        corners, scores = zip(*next(left), strict=True)
        return Boxes(np.array(corners, np.float32), np.array(scores, np.float32))

    contender = Contender("planned", 0.5, detect)
    [answers] = ask([contender], truths, subject.engine, lambda *_: None)
    return contender, answers


def slow_average_precision(scores: list[np.ndarray], rights: list[Mask], n_icons: list[int]) -> float:
    """The mean, over all icons, of the best precision at which so many icons are found."""
    flat = [(s, r) for own, right in zip(scores, rights, strict=True) for s, r in zip(own, right, strict=True)]
    points = []
    for threshold in {score for score, _ in flat}:
        above = [right for score, right in flat if score >= threshold]
        points.append((sum(above), sum(above) / len(above)))
    return float(
        sum([max((p for found, p in points if found >= n), default=0.0) for n in range(1, sum(n_icons) + 1)])
    ) / sum(n_icons)


@pytest.mark.parametrize("seed", range(4))
def test_average_precision_is_the_mean_best_precision_over_all_icons(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_icons = [0, 0, *random.integers(1, 9, 6).tolist()]
    scores = [np.round(random.random(int(random.integers(0, 14))), 1 if seed % 2 else 6) for _ in n_icons]
    rights = [
        np.arange(len(own)) < random.integers(0, min(n, len(own)) + 1) for n, own in zip(n_icons, scores, strict=True)
    ]
    rights = [random.permutation(right) for right in rights]
    found = average_precision(ranked(scores, rights, n_icons), seed=0)
    assert found.value == pytest.approx(slow_average_precision(scores, rights, n_icons), abs=1e-4)
    assert found.low <= found.value <= found.high


def test_figures_count_what_is_found(planned: tuple[Contender, Answers]) -> None:
    row = contender_row(*planned, seed=0)
    assert [getattr(row.fixed, name).value for name in ("precision", "recall", "f1")] == [0.6, 0.6, 0.6]
    assert row.false_on_empty.value == 1
    assert row.best.threshold == pytest.approx(0.3)
    assert row.best.f1.value == pytest.approx(8 / 11, abs=1e-4)
    # .95 wrong, .9 right, .8 wrong, .7 right, .6 right, .3 right: precision made monotone is 4/6 everywhere
    assert row.ap50.value == pytest.approx(4 / 6 * 4 / 5, abs=1e-4)
    assert (row.f1[4], row.false[4]) == (pytest.approx(8 / 11, abs=1e-4), 1)  # from .25 on


def test_parts_of_screens_and_kinds_of_icons_have_figures_of_their_own(planned: tuple[Contender, Answers]) -> None:
    rows = list(group_rows([planned], {}, seed=0))
    found = {(row.by, row.value): row for row in rows}
    assert found["template", "mail"].figures["recall"].value == pytest.approx(2 / 3, abs=1e-4)
    assert found["template", "chart"].figures[FALSE_BOXES].value == 1
    assert list(found["template", "plain-form"].figures) == [FALSE_BOXES]
    assert [row.value for row in rows if row.by == "size"] == ["12-16 px", "16-24 px"]
    assert (found["size", "12-16 px"].figures["recall"].value, found["drawn", "inline"].n_icons) == (0.5, 5)
    sides = [((0, 0, 16, 10), 1), ((0, 0, 16, 10), 2), ((0, 0, 10, 99), 1.5), ((0, 0, 7, 7), 1)]
    assert [size_class(ScreenIcon(box, "", ""), scale) for box, scale in sides] == [
        "16-24 px", "8-12 px", "48 px and more", "below 8 px",
    ]  # fmt: skip


def test_faults_are_told_apart(planned: tuple[Contender, Answers]) -> None:
    mail, chart, plain = (faults_of(one) for one in planned[1])
    assert [(fault.kind, fault.caption) for fault in mail if fault.kind == MISSED] == [(MISSED, "0.00 own:arrow")]
    assert [fault.caption for fault in chart if fault.kind in (MISSED, FALSE)] == ["0.30 own:box", f"0.80 {BADLY}"]
    assert [fault.caption for fault in plain] == [f"0.95 {EMPTY}"]


def test_the_command_compares_all_ways_and_its_page_shows_the_worst(
    subject: Subject, folder: Path, tmp_path: Path
) -> None:
    given = ["--screens", str(folder), "--library", str(subject.library.root)]
    done = CliRunner().invoke(main, [*given, "--report", str(tmp_path / "page.html"), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["facts"][0].startswith("3 screens, 1 of them without icons; 5 icons")
    rows = {row["contender"]: row["fixed"] for row in found["rows"]}
    assert list(rows) == ["components", "detector", "detector+encoder"]
    assert rows["components"]["recall"]["value"] == 1  # the baseline finds what stands alone
    assert rows["components"]["precision"]["value"] == pytest.approx(5 / 8, abs=1e-4)
    assert {row["by"] for row in found["groups"]} == {"template", "theme", "scale", "size", "drawn", "colours"}
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<h2>False boxes <small>" in page and "<script" not in page
