"""Measures of the bundled files: icons judged by looking, described drawings, queries in other languages."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from data.making.eval.described import ask_described, described, described_rows, read_described
from data.making.eval.judged import JudgedRow, Judgement, ask_judged, first_rows, read_judgements
from data.making.eval.judged import main as judged
from data.making.language.__main__ import main as language
from data.making.language.comparing import (
    GOALS,
    TEN,
    Answered,
    LanguageOptions,
    RightHits,
    Translated,
    evaluate_languages,
    goals,
    kind_rows,
    language_rows,
)
from indexer.arrays import Floats
from indexer.errors import QueryFileError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.reports.measures import UNRANKED, Figure
from search.engine import Query, SearchEngine, Window
from search.evaluation.evaluate import Subject
from search.evaluation.queries import BenchmarkQuery, find_answers, read_queries

ARROW = Judgement("arrow", "means", {"right": ("arrow-up", "Arrow Down"), "fair": ("zap",), "wrong": ("bell", "star")})
HOUSE = Judgement("home", "means", {"right": (), "fair": ("house-plus",), "wrong": ()})


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 <= done <= total


def _write(file: Path, *lines: dict[str, object]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return file


class _Ordered:
    """A ranker whose order for every text is that of some names, best first; the rest are not ranked."""

    def __init__(self, subject: Subject, *names: str) -> None:
        self._scores = np.full(len(subject.corpus), -np.inf, np.float32)
        self._scores[[subject.corpus.names.index(name) for name in names]] = -np.arange(len(names))

    def scores(self, texts: list[str]) -> dict[str, Floats]:
        return {"ordered": np.stack([self._scores.copy() for _ in texts])}


def _judged(subject: Subject, lines: list[Judgement], *names: str) -> JudgedRow:
    ranker = _Ordered(subject, *names)
    [row] = ask_judged(ranker, lines, subject.corpus, encoder="one", seed=0, progress=_quiet)
    return row


def test_first_hits_gain_by_grade_and_what_nobody_judged_counts_as_wrong(subject: Subject) -> None:
    row = _judged(subject, [ARROW], "arrow-down", "zap", "bell", "arrow-up")
    best, gained = 3 + 3 / np.log2(3) + 1 / 2, 3 + 1 / np.log2(3) + 0 + 3 / np.log2(5)
    assert (row.figures["R@1"].value, row.unjudged, row.n_queries) == (1, 0, 1)
    assert row.figures["nDCG@5"].value == pytest.approx(gained / best, abs=1e-4)
    unseen = _judged(subject, [ARROW, HOUSE], "house", "arrow-up", "trash", "bell")
    assert (unseen.figures["R@1"].value, unseen.unjudged) == (0, pytest.approx(6 / 8))
    fair = _judged(subject, [HOUSE], "house-plus")  # nothing is right for it
    assert (fair.figures["R@1"].value, fair.figures["nDCG@5"].value) == (0, 1)


def test_icons_of_one_drawing_are_one_hit_with_the_better_grade(subject: Subject) -> None:
    line = Judgement("ring", "means", {"right": ("bell",), "fair": ("zap",), "wrong": ("alarm-old",)})
    row = _judged(subject, [line], "alarm-old", "bell", "zap")
    assert (row.figures["R@1"].value, row.figures["nDCG@5"].value, row.unjudged) == (1, 1, 0)


def test_a_ranker_that_says_the_same_of_all_gains_nothing(subject: Subject) -> None:
    gains, same = np.zeros((2, len(subject.corpus)), np.float32)
    gains[subject.corpus.names.index("arrow-up")] = 3
    assert subject.corpus.names.index("arrow-up") not in first_rows(same, subject.corpus, last=gains)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"right": "bell"}, '"right" is not a list of names'),
        ({"fair": ["Arrow up"]}, '"arrow up" has two grades'),
        ({"query": ""}, '"query" is not a text'),
    ],
)
def test_a_bad_judgement_is_named(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    good = {"query": "arrow", "kind": "means", "right": ["arrow-up"], "fair": [], "wrong": []}
    with pytest.raises(QueryFileError, match=f"line 2.*{reason}"):
        read_judgements(_write(tmp_path / "judged.jsonl", good, good | change))


@pytest.mark.slow
def test_the_bundled_judgements_are_of_bundled_samples(lucide: Library) -> None:
    file = bundled("eval") / "judged-lucide.jsonl"
    here = {path.stem for path in (bundled("samples/lucide-static") / "icons").glob("*.svg")}
    assert {name for line in read_judgements(file) for names in line.grades.values() for name in names} <= here
    done = CliRunner().invoke(judged, [str(file), "--library", str(lucide.root), "--json"])
    rows = {row["ranker"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert set(rows) == {"names", "pictures", "fused", "engine"}
    assert {row["n_queries"] for row in rows.values()} == {300}


HOLDS = {"query": "arrow", "kind": "plain", "must": [["arrow|arrows"]], "must_not": [["house"], ["arrow", "plus"]]}
LACKS = {"query": "arrow", "kind": "plain", "must": [["house"], ["arrow", "house"]], "must_not": []}
TOO_MUCH = {"query": "house", "kind": "without", "must": [["house"]], "must_not": [["bell"], ["house", "add|plus"]]}
STAR = {"query": "star", "kind": "style", "must": [["star"]], "must_not": [["star", "filled"]]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"must": ["arrow"]}, '"must" is not a list of groups'),
        ({"must": []}, '"must" has no group'),
        ({"must": [["arrow left"]]}, '"must" has "arrow left"; an entry is a word as names have it'),
        ({"must_not": {"circle": 1}}, '"must_not" is not a list of groups'),
    ],
)
def test_a_bad_description_is_named(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    with pytest.raises(QueryFileError, match=f"line 2.*{reason}"):
        read_described(_write(tmp_path / "d.jsonl", HOLDS, {**HOLDS, **change}))


def test_a_description_holds_with_three_right_hits_and_no_wrong_one(lucide: Library, tmp_path: Path) -> None:
    file = _write(tmp_path / "d.jsonl", HOLDS, LACKS, TOO_MUCH, STAR)
    answers = ask_described(SearchEngine.open(lucide.root), {str(file): read_described(file)})
    assert [(one.holds, one.n_right, one.n_wrong) for one in answers] == [
        (True, 5, 0), (False, 0, 0), (False, 5, 1), (False, 1, 1),
    ]  # fmt: skip
    rows = [(row.title, row.n_queries, row.holds.value) for row in described_rows(answers, seed=0)]
    assert rows == [("d, plain", 2, 0.5), ("d, without", 1, 0.0), ("d, style", 1, 0.0), ("d", 4, 0.25)]
    done = CliRunner().invoke(described, [str(file), "--library", str(lucide.root)])
    assert "  house: 5 right, 1 wrong: drawn:house" in done.output


WORDS = {
    "house": "Haus", "heart": "Herz", "bell": "Glocke", "trash": "Mülleimer", "star": "Stern", "key": "Schlüssel",
    "lock": "Schloss", "sun": "Sonne", "moon": "Mond", "cloud": "Wolke", "camera": "Kamera",
}  # fmt: skip
NONSENSE = "qwrtz"


def _line(word: str, kind: str = "thing", **languages: str) -> dict[str, object]:
    return {"query": word, "kind": kind, "in": languages, "relevant": [word]}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """22 questions of two kinds in German, one of them no word; eleven in French, and one in a made-up language."""
    lines = [_line(word, de=german, fr="maison") for word, german in WORDS.items()]
    lines += [_line(word, "again", de=NONSENSE if word == "sun" else german) for word, german in WORDS.items()]
    return _write(tmp_path / "q.jsonl", *lines, _line("bell", xx="klokke"), _line("zebra", de="Zebra"))


def test_languages_stand_beside_english_on_the_same_questions(subject: Subject, questions: Path) -> None:
    found = evaluate_languages(subject, LanguageOptions([questions]), _quiet)
    assert (found.n_asked, found.n_dropped, found.lacking, found.few) == (23, 1, ["xx"], {"French": 11})
    [row] = found.rows
    assert (row.language, row.name, row.kind, row.n_queries) == ("de", "German", None, 22)
    assert row.english["R@1"] == Figure(1.0, 1.0, 1.0)
    assert row.known.shares == row.known.figures

    def is_first(word: str, german: str) -> bool:
        answer = subject.engine.ask(Query(words=german, languages=("de",)), window=Window(k=1))
        return answer.hits[0].name in ({"bell", "alarm-old"} if word == "bell" else {word})

    n_first = 2 * sum(is_first(word, german) for word, german in WORDS.items()) - is_first("sun", "Sonne")
    assert row.known.figures["R@1"].value == pytest.approx(n_first / 22, abs=1e-4)
    [lost] = [one for one in found.missed if one.text == NONSENSE]
    assert (lost.query, lost.read_as, lost.english_rank, lost.rank) == ("sun", f"{NONSENSE}: not read", 1, None)


def test_an_icon_with_the_drawing_of_a_right_one_is_right(subject: Subject, tmp_path: Path) -> None:
    file = _write(tmp_path / "q.jsonl", _line("alarm-old", de="Glocke"), _line("bell", de="Glocke"))
    rights = RightHits(subject.opened, subject.corpus)
    alarm, bell = (rights.of(one).tolist() for one in find_answers(read_queries(file), subject.corpus).asked)
    names = dict(zip(subject.corpus.icon_ids.tolist(), subject.corpus.names, strict=True))
    assert alarm == bell
    assert {names[icon] for icon in alarm} == {"alarm-old", "bell"}


def _translated(n: int, ranks: dict[str, int], kind: str = "k") -> list[Translated]:
    query = BenchmarkQuery("query", kind, ("name",), translations=dict.fromkeys(ranks, "text"))
    answers = {language: Answered(rank, UNRANKED, "", ()) for language, rank in ranks.items()}
    return [Translated(query, 1, answers)] * n


def test_languages_are_sorted_by_their_share_and_goals_are_those_of_the_ten() -> None:
    asked = [*_translated(20, {"de": 11, "fr": 2, "xx": 1}, "one"), *_translated(20, {"de": 1, "fr": 1}, "two")]
    rows = list(language_rows(asked, {"de": "German", "fr": "French", "xx": "Other"}, seed=0))
    of_all = [(row.name, row.known.shares["R@1"].value, row.known.shares["R@10"].value) for row in rows[:3]]
    assert of_all == [("French", 0.5, 1.0), ("Other", 1.0, 1.0), ("German", 0.5, 0.5)]
    every, one, _ = kind_rows(rows)
    assert (every.n_languages, every.n_of_ten, every.mean["R@1"], every.ten["R@1"]) == (3, 2, 0.6667, 0.5)
    assert (one.least, one.least_share) == ("German", 0.0)
    ten = _translated(20, dict.fromkeys(TEN, 1) | {"hi": 11, "xx": UNRANKED})
    reached = goals(list(language_rows(ten, {code: code for code in (*TEN, "xx")}, seed=0)))
    assert [(goal.name, goal.reached) for goal in reached] == list(zip(GOALS, (0.9, 0.9, 0.0), strict=True))


@pytest.mark.slow
def test_the_command_prints_80_columns_writes_a_page_and_json(lucide: Library, questions: Path, tmp_path: Path) -> None:
    page, command = tmp_path / "page.html", ["evaluate", "--library", str(lucide.root), "--queries", str(questions)]
    done = CliRunner().invoke(language, [*command, "--report", str(page)])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert {"23 questions; 1 not asked: no right icon is here", "fewer than 20 questions: French 11"} <= set(lines)
    assert f"{NONSENSE}: not read" in page.read_text("utf-8")
    said = json.loads(CliRunner().invoke(language, [*command, "--json"]).stdout)
    assert {goal["name"] for goal in said["goals"]} == GOALS.keys()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"query": "bell", "kind": "thing", "relevant": ["bell"]}, "says no query in another language"),
        (_line("bell", xx="klokke"), "the dictionary has none of these languages: xx"),
        ({**_line("bell"), "in": {"de": " "}}, 'line 1: "in" is not an object of languages'),
    ],
)
def test_a_file_that_says_nothing_in_a_known_language_is_refused(
    subject: Subject, tmp_path: Path, line: dict[str, object], reason: str
) -> None:
    with pytest.raises(QueryFileError, match=reason):
        evaluate_languages(subject, LanguageOptions([_write(tmp_path / "q.jsonl", line)]), _quiet)
