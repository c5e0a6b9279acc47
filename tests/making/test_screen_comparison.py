"""Ways of finding icons side by side: what is counted, and the page of the worst."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from known_screens import folder, subject  # noqa: F401 - fixtures

from data.making.eval.screens import (
    Answers,
    Contender,
    ask,
    contender_row,
    main,
)
from indexer.arrays import Pixels
from indexer.screens.boxes import Boxes
from search.evaluation.evaluate import Subject
from search.evaluation.screens import read_truths


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


def test_figures_count_what_is_found(planned: tuple[Contender, Answers]) -> None:
    row = contender_row(*planned, seed=0)
    assert [getattr(row.fixed, name).value for name in ("precision", "recall", "f1")] == [0.6, 0.6, 0.6]
    assert row.false_on_empty.value == 1
    assert row.best.threshold == pytest.approx(0.3)
    assert row.best.f1.value == pytest.approx(8 / 11, abs=1e-4)
    # .95 wrong, .9 right, .8 wrong, .7 right, .6 right, .3 right: precision made monotone is 4/6 everywhere
    assert row.ap50.value == pytest.approx(4 / 6 * 4 / 5, abs=1e-4)
    assert (row.f1[4], row.false[4]) == (pytest.approx(8 / 11, abs=1e-4), 1)  # from .25 on


@pytest.mark.slow
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
