"""Are rankers measured by what somebody said of their first hits, and is all that is to be judged laid out?"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import Build, disc, svg
from PIL import Image

from indexer.arrays import Floats
from indexer.errors import IconsError, QueryFileError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.cli import main
from search.evaluation.evaluate import Subject
from search.evaluation.judged import JudgedRow, Judgement, ask_judged, first_rows, read_judgements
from search.evaluation.pooling.__main__ import main as pooling
from search.evaluation.pooling.answers import add, read_answers, write_judgements
from search.evaluation.pooling.pool import pool
from search.evaluation.pooling.sheets import write_sheets

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


def test_a_drawing_that_was_judged_under_another_name_is_not_pooled(drawn_twice: Subject, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    names = ["old-name", "older-name", "dot-b"]
    queries.write_text(json.dumps({"query": "spot", "kind": "means", "relevant": names}))
    for judged, n_pooled in ((["old-name"], 0), ([], 1)):
        known = [Judgement("spot", "means", {"right": judged, "fair": (), "wrong": ()})]
        [found] = pool(drawn_twice, queries, n=1, judged=known, seed=0, progress=_quiet)
        assert sum(drawn_twice.corpus.names[row] in names for row in found.rows) == n_pooled


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


def test_a_second_judge_adds_icons_and_changes_no_grade() -> None:
    more = Judgement("arrow", "means", {"right": ("bell", "trash"), "fair": (), "wrong": ("house",)})
    [joined] = add([ARROW], [more])
    assert joined.grades["right"] == ["Arrow Down", "arrow-up", "trash"]
    assert joined.grades["wrong"] == ["bell", "house", "star"]


def test_what_is_pooled_is_judged_and_then_nothing_is_left(subject: Subject, tmp_path: Path) -> None:
    queries, judged, out = tmp_path / "queries.jsonl", tmp_path / "judged.jsonl", tmp_path / "pool"
    lines = [{"query": query, "kind": "means", "relevant": ["bell"]} for query in ("alarm", "dwelling")]
    queries.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    given = ["--library", str(subject.library.root), "--queries", str(queries), "--judged", str(judged)]
    done = CliRunner().invoke(pooling, ["pool", *given, "--out", str(out)])
    assert done.exit_code == 0, done.output
    pooled = json.loads((out / "pool.json").read_text())
    assert [found["query"] for found in pooled] == ["alarm", "dwelling"]
    assert all(5 <= len(found["icons"]) <= len(NAMES) and "bell" in found["icons"] for found in pooled)
    with Image.open(out / "sheet-00.png") as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 20) or ()) > 3
    answers = [_answer(found["query"], [found["icons"].index("bell")]) for found in pooled]
    (out / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in answers))
    done = CliRunner().invoke(pooling, ["add", str(out), str(out / "answers.jsonl"), "--judged", str(judged)])
    assert done.exit_code == 0, done.output
    assert [line.grades["right"] for line in read_judgements(judged)] == [("bell",), ("bell",)]
    done = CliRunner().invoke(pooling, ["pool", *given, "--out", str(tmp_path / "again")])
    assert "0 icons of 0 queries" in done.output


def test_a_folder_with_a_pool_is_left_as_it_is(subject: Subject, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"query": "alarm", "kind": "means", "relevant": ["bell"]}\n')
    (tmp_path / "pool.json").write_text("[]")
    given = ["--library", str(subject.library.root), "--queries", str(queries), "--judged", str(tmp_path / "new.jsonl")]
    done = CliRunner().invoke(pooling, ["pool", *given, "--out", str(tmp_path)])
    assert (done.exit_code, "holds a pool already" in done.output) == (2, True)
    with pytest.raises(IconsError, match="choose another --out"):
        write_sheets([], subject.corpus, subject.originals, tmp_path)
    assert (tmp_path / "pool.json").read_text() == "[]"


def _answer(query: str, right: list[object], fair: list[object] | None = None, kind: str = "means") -> dict[str, Any]:
    return {"query": query, "kind": kind, "right": right, "fair": fair or []}


def _answered(folder: Path, *answers: dict[str, Any], **icons: list[str]) -> list[Judgement]:
    """Judgements of answers to a pool: for each kind the icons that are pooled for "alarm"."""
    pool = [{"query": "alarm", "kind": kind, "icons": names} for kind, names in icons.items()]
    (folder / "pool.json").write_text(json.dumps(pool))
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    return read_answers(folder, folder / "answers.jsonl")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_answer("alarm", [2]), '"2" is no number of its 2 pictures, which are 0 to 1'),
        (_answer("alarm", [-1]), '"-1" is no number'),
        (_answer("alarm", [True]), '"True" is no number'),
        (_answer("alarm", ["bell"]), '"bell" is no number'),
        (_answer("alarm", [0], [0]), '"0" is there twice'),
        (_answer("alarm", [1, 1]), '"1" is there twice'),
        (_answer("alarm", [0]) | {"fair": 1}, '"fair" is not a list of numbers'),
        (_answer("alarm", [0], kind="looks"), '"alarm" of kind "looks" is not in the pool'),
    ],
)
def test_an_answer_that_can_not_be_meant_is_named(tmp_path: Path, answer: dict[str, Any], reason: str) -> None:
    good = _answer("alarm", [0], kind="other")
    with pytest.raises(QueryFileError, match="line 2") as refused:
        _answered(tmp_path, good, answer, other=["bell"], means=["bell", "star"])
    assert reason in str(refused.value)


def test_every_query_of_the_pool_is_answered_once(tmp_path: Path) -> None:
    with pytest.raises(QueryFileError, match=r'lacks 1 queries .* the first is "alarm" of kind "other"'):
        _answered(tmp_path, _answer("alarm", [0]), means=["bell"], other=["bell"])
    with pytest.raises(QueryFileError, match='answers "alarm" of kind "means" twice'):
        _answered(tmp_path, _answer("alarm", [0]), _answer("alarm", []), means=["bell"])
    with pytest.raises(QueryFileError, match=r'no ".*pool.json"; `python -m'):
        read_answers(tmp_path / "none", tmp_path / "answers.jsonl")


def test_a_query_of_two_kinds_is_judged_for_each(tmp_path: Path) -> None:
    answers = _answer("alarm", [1]), _answer("alarm", [0], kind="other")
    judged = _answered(tmp_path, *answers, means=["bell", "star"], other=["zap", "bell"])
    assert add([], judged) == [
        Judgement("alarm", "means", {"right": ["star"], "fair": [], "wrong": ["bell"]}),
        Judgement("alarm", "other", {"right": ["zap"], "fair": [], "wrong": ["bell"]}),
    ]


def test_a_name_in_another_spelling_is_the_same_icon(tmp_path: Path) -> None:
    more = Judgement("arrow", "means", {"right": (), "fair": ("Arrow up",), "wrong": ("arrow-down", "ZAP", "house")})
    [joined] = add([ARROW], [more])
    assert joined.grades == {"right": ["Arrow Down", "arrow-up"], "fair": ["zap"], "wrong": ["bell", "house", "star"]}
    [judged] = _answered(tmp_path, _answer("alarm", [1]), means=["Bell", "bell", "star", "Star"])
    assert judged.grades["right"] == ["bell"]
    assert len(judged.grades["wrong"]) == 1


def test_no_file_is_written_that_would_be_refused(tmp_path: Path) -> None:
    file = tmp_path / "judged.jsonl"
    write_judgements(file, [ARROW])
    bad = Judgement("home", "means", {"right": ("house",), "fair": ("House",), "wrong": ()})
    with pytest.raises(QueryFileError, match='new line 2: "house" has two grades'):
        write_judgements(file, [ARROW, bad])
    assert read_judgements(file) == [ARROW]


def test_lines_that_agree_in_query_and_kind_are_pooled_as_one(subject: Subject, tmp_path: Path) -> None:
    queries = tmp_path / "queries.jsonl"
    lines = [{"query": "alarm", "kind": kind, "relevant": ["bell"]} for kind in ("means", "other", "means")]
    queries.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    known = [Judgement("alarm", "means", {"right": ("bell",), "fair": (), "wrong": ()})]
    pooled = pool(subject, queries, n=3, judged=known, seed=0, progress=_quiet)
    names = {found.kind: [subject.corpus.names[row] for row in found.rows] for found in pooled}
    assert list(names) == ["means", "other"]
    assert "bell" in names["other"] and "bell" not in names["means"]


def test_a_question_of_one_set_pools_icons_of_that_set_alone(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "symbols").mkdir()
    (tmp_path / "symbols" / "mark.svg").write_text(svg('<path d="M2 2h20v20z"/>'))
    build(icon_folder, tmp_path / "symbols")
    queries = tmp_path / "queries.jsonl"
    queries.write_text(json.dumps({"query": "dot", "kind": "means", "relevant": {"symbols": ["mark"]}}))
    subject = Subject(library)
    [found] = pool(subject, queries, n=1, judged=[], seed=0, progress=_quiet)
    assert [subject.corpus.names[row] for row in found.rows] == ["mark"]


def test_the_command_prints_judged_figures(subject: Subject, tmp_path: Path) -> None:
    write_judgements(tmp_path / "judged.jsonl", [ARROW, HOUSE])
    none = [f"--{task}=0" for task in ("names", "tags", "screenshots", "scores")]
    given = ["evaluate", f"--library={subject.library.root}", f"--judged={tmp_path / 'judged.jsonl'}", *none]
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
