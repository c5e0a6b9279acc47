"""Are rankers measured by what somebody said of their first hits?"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, disc

from indexer.arrays import Floats
from indexer.errors import QueryFileError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.cli import main
from search.evaluation.evaluate import Subject
from search.evaluation.judged import JudgedRow, Judgement, ask_judged, first_rows, read_judgements

SAMPLES = bundled("samples/lucide-static") / "icons"
NAMES = ("arrow-up", "arrow-down", "bell", "house", "house-plus", "star", "trash", "trash-2", "zap")
ARROW = Judgement("arrow", "means", {"right": ("arrow-up", "Arrow Down"), "fair": ("zap",), "wrong": ("bell", "star")})
HOUSE = Judgement("home", "means", {"right": (), "fair": ("house-plus",), "wrong": ()})


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """A few icons of Lucide with the bundled model, none of them tagged."""
    root = tmp_path_factory.mktemp("judged")
    (root / "drawn").mkdir()
    for name in NAMES:
        shutil.copy(SAMPLES / f"{name}.svg", root / "drawn")
    library = Library(root / "library")
    arguments = ["index", str(root / "drawn"), "--library", str(library.root), "--devices", "cpu", "--workers", "0"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return Subject(library)


class _Ranked:
    """A ranker whose order for every text is given by names, best first; the rest are not ranked."""

    def __init__(self, subject: Subject, *names: str) -> None:
        names_in_order = [subject.corpus.names.index(name) for name in names]
        self._scores = np.full(len(subject.corpus), -np.inf, np.float32)
        self._scores[names_in_order] = -np.arange(len(names))

    def scores(self, texts: list[str]) -> dict[str, Floats]:
        return {"given": np.stack([self._scores.copy() for _ in texts])}


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 < done <= total


def _row(subject: Subject, judged: list[Judgement], *names: str) -> JudgedRow:
    ranker = _Ranked(subject, *names)
    [row] = ask_judged(ranker, judged, subject.corpus, encoder="given", seed=0, progress=_quiet)
    return row


def test_the_first_hit_is_right_or_not_and_the_first_five_gain_by_grade(subject: Subject) -> None:
    row = _row(subject, [ARROW], "arrow-down", "zap", "bell", "arrow-up")
    best = 3 + 3 / np.log2(3) + 1 / 2
    gained = 3 + 1 / np.log2(3) + 0 + 3 / np.log2(5)
    assert row.figures["R@1"].value == 1
    assert row.figures["nDCG@5"].value == pytest.approx(gained / best, abs=1e-4)
    assert (row.unjudged, row.n_queries) == (0, 1)


def test_what_nobody_judged_counts_as_wrong_and_is_told(subject: Subject) -> None:
    row = _row(subject, [ARROW, HOUSE], "house", "arrow-up", "trash", "bell")
    assert row.figures["R@1"].value == 0
    assert row.unjudged == pytest.approx(6 / 8)  # house and trash of the arrow; all but none of the house


def test_a_query_without_a_right_answer_stays_and_gains_by_what_is_fair(subject: Subject) -> None:
    row = _row(subject, [HOUSE], "house-plus")
    assert row.figures["R@1"].value == 0
    assert row.figures["nDCG@5"].value == 1


def test_a_ranker_that_says_the_same_of_all_gains_nothing(subject: Subject) -> None:
    gains = np.zeros(len(subject.corpus), np.float32)
    gains[subject.corpus.names.index("arrow-up")] = 3
    same = np.zeros(len(subject.corpus), np.float32)
    assert subject.corpus.names.index("arrow-up") not in first_rows(same, subject.corpus, last=gains)


@pytest.fixture
def drawn_twice(build: Build, library: Library, icon_folder: Path) -> Subject:
    """The usual icons, and a dot under two names whose bytes differ."""
    for name in ("old-name", "older-name"):
        (icon_folder / f"{name}.svg").write_text(disc(6, 12).replace("<circle", f'<circle class="{name}"'))
    build(icon_folder)
    return Subject(library)


def test_icons_of_one_drawing_are_one_hit_with_one_grade(drawn_twice: Subject) -> None:
    line = Judgement("spot", "means", {"right": ("old-name",), "fair": ("dot-c",), "wrong": ("older-name",)})
    row = _row(drawn_twice, [line], "dot-b", "older-name", "old-name", "dot-c")
    assert row.figures["R@1"].value == 1
    assert row.figures["nDCG@5"].value == 1
    assert row.unjudged == 0


def test_the_best_order_has_a_drawing_once(drawn_twice: Subject) -> None:
    line = Judgement("spot", "means", {"right": ("old-name", "older-name"), "fair": ("dot-c",), "wrong": ()})
    assert _row(drawn_twice, [line], "dot-b", "dot-c").figures["nDCG@5"].value == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"right": "bell"}, '"right" is not a list of names'),
        ({"fair": [3]}, '"fair" is not a list of names'),
        ({"fair": ["Arrow up"]}, '"arrow up" has two grades'),
        ({"query": ""}, '"query" is not a text'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    good = {"query": "arrow", "kind": "means", "right": ["arrow-up"], "fair": [], "wrong": []}
    (tmp_path / "judged.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(good | change)}\n")
    with pytest.raises(QueryFileError, match="line 2") as refused:
        read_judgements(tmp_path / "judged.jsonl")
    assert reason in str(refused.value)


def test_the_command_prints_judged_figures(subject: Subject, tmp_path: Path) -> None:
    lines = ({"query": one.query, "kind": one.kind, **one.grades} for one in (ARROW, HOUSE))
    (tmp_path / "judged.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    none = [f"--{task}=0" for task in ("names", "tags", "screenshots", "scores")]
    given = ["lab", "evaluate", f"--library={subject.library.root}", f"--judged={tmp_path / 'judged.jsonl'}", *none]
    done = CliRunner().invoke(main, [*given, "--json"])
    assert done.exit_code == 0, done.output
    rows = {row["ranker"]: row for row in json.loads(done.stdout)["judged"]}
    assert set(rows) == {"names", "pictures", "fused", "engine"}
    assert rows["engine"]["figures"]["R@1"]["value"] == 0.5  # an arrow is found; of the house nothing is right
    report = tmp_path / "report.html"
    done = CliRunner().invoke(main, [*given, "--report", str(report)])
    assert "unjudged" in done.stdout
    assert "judged by looking" in report.read_text("utf-8")


def test_the_bundled_judgements_are_of_bundled_samples() -> None:
    judged = read_judgements(bundled("eval") / "judged-lucide.jsonl")
    here = {file.stem for file in SAMPLES.glob("*.svg")}
    assert len(judged) == 300
    assert all(name in here for line in judged for names in line.grades.values() for name in names)
