"""Are other languages measured beside English as a search answers them, and told to people, programs and browsers?"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from indexer.errors import QueryFileError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.reports.measures import UNRANKED, Figure
from search.cli import main
from search.engine import Query, Window
from search.evaluation.evaluate import Subject
from search.evaluation.other_languages import (
    GOALS,
    TEN,
    Answered,
    LanguageOptions,
    RightHits,
    Translated,
    ask_translated,
    evaluate_languages,
    goals,
    kind_rows,
    language_rows,
    missed,
)
from search.evaluation.queries import BenchmarkQuery, find_answers, read_queries

SAMPLES = bundled("samples/lucide-static") / "icons"
WORDS = {
    "house": ("Haus", "maison"),
    "heart": ("Herz", "cœur"),
    "bell": ("Glocke", "cloche"),
    "trash": ("Mülleimer", "poubelle"),
    "star": ("Stern", "étoile"),
    "key": ("Schlüssel", "clé"),
    "lock": ("Schloss", "verrou"),
    "sun": ("Sonne", "soleil"),
    "moon": ("Mond", "lune"),
    "cloud": ("Wolke", "nuage"),
    "camera": ("Kamera", "appareil photo"),
}
NONSENSE = "qwrtz"


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 <= done <= total


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """Some icons of Lucide with the bundled model; the bell lies there under another name, too."""
    root = tmp_path_factory.mktemp("languages")
    (root / "drawn").mkdir()
    for name in WORDS:
        shutil.copy(SAMPLES / f"{name}.svg", root / "drawn")
    shutil.copy(SAMPLES / "bell.svg", root / "drawn" / "alarm-old.svg")
    library = Library(root / "library")
    arguments = ["index", str(root / "drawn"), "--library", str(library.root), "--devices", "cpu", "--workers", "0"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return Subject(library)


def _line(word: str, kind: str = "thing", **languages: str) -> dict[str, object]:
    return {"query": word, "kind": kind, "in": languages, "relevant": [word]}


def _write(file: Path, lines: Sequence[dict[str, object]]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return file


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """22 questions of two kinds in German, one of them no word; eleven in French, and one in a made-up language."""
    lines = [_line(word, de=german, fr=french) for word, (german, french) in WORDS.items()]
    lines += [_line(word, "again", de=NONSENSE if word == "sun" else german) for word, (german, _) in WORDS.items()]
    lines += [_line("bell", xx="klokke"), _line("zebra", de="Zebra")]
    return _write(tmp_path / "mine.jsonl", lines)


def test_ranks_are_those_of_a_search_with_the_language_stated_and_without(subject: Subject, tmp_path: Path) -> None:
    file = _write(tmp_path / "q.jsonl", [_line(word, de=german) for word, (german, _) in WORDS.items()])
    asked = find_answers(read_queries(file), subject.corpus).asked
    found = ask_translated(subject.engine, RightHits(subject.opened, subject.corpus), asked, ["de"], _quiet)

    def rank(text: str, word: str, *languages: str) -> int:
        hits = subject.engine.ask(Query(words=text, languages=languages), window=Window(k=50)).hits
        return next((place for place, hit in enumerate(hits, 1) if hit.name == word), UNRANKED)

    others = [one for one in found if one.query.text != "bell"]
    assert len(others) == len(WORDS) - 1
    for one in others:
        word, german = one.query.text, one.query.translations["de"]
        assert one.english == rank(word, word, "en") == 1
        assert (one.answers["de"].known, one.answers["de"].unknown) == (rank(german, word, "de"), rank(german, word))
    read = {one.query.text: one.answers["de"].read_as for one in found}
    assert read["heart"].startswith("Herz: heart")


def test_an_icon_with_the_drawing_of_a_right_one_is_right(subject: Subject, tmp_path: Path) -> None:
    file = _write(tmp_path / "q.jsonl", [_line("alarm-old", de="Glocke"), _line("bell", de="Glocke")])
    rights = RightHits(subject.opened, subject.corpus)
    alarm, bell = (rights.of(one) for one in find_answers(read_queries(file), subject.corpus).asked)
    names = dict(zip(subject.corpus.icon_ids.tolist(), subject.corpus.names, strict=True))
    assert {names[icon] for icon in alarm.tolist()} == {"alarm-old", "bell"}
    assert np.array_equal(alarm, bell)


def test_figures_stand_beside_english_on_the_same_questions(subject: Subject, questions: Path) -> None:
    found = evaluate_languages(subject, LanguageOptions([questions]), _quiet)
    assert (found.n_asked, found.n_dropped, found.lacking) == (23, 1, ["xx"])
    assert found.few == {"French": 11}
    [row] = found.rows
    assert (row.language, row.name, row.kind, row.n_queries) == ("de", "German", None, 22)
    assert row.english["R@1"] == Figure(1.0, 1.0, 1.0)
    assert row.known.shares == row.known.figures
    assert 0 < row.known.figures["R@1"].value < 1
    assert [(kind.kind, kind.n_languages, kind.least) for kind in found.kinds] == [(None, 1, "German")]
    [lost] = [one for one in found.missed if one.text == NONSENSE]
    assert (lost.language, lost.query, lost.kind, lost.read_as) == ("de", "sun", "again", f"{NONSENSE}: not read")
    assert (lost.english_rank, lost.rank) == (1, None)


def _translated(n: int, ranks: dict[str, int], kind: str = "k") -> list[Translated]:
    query = BenchmarkQuery("query", kind, ("name",), translations=dict.fromkeys(ranks, "text"))
    answers = {language: Answered(rank, UNRANKED, "", ()) for language, rank in ranks.items()}
    return [Translated(query, 1, answers)] * n


def test_languages_are_sorted_by_their_share_and_kinds_follow_all_kinds() -> None:
    names = {"de": "German", "fr": "French", "xx": "Other"}
    asked = [*_translated(20, {"de": 11, "fr": 2, "xx": 1}, "one"), *_translated(20, {"de": 1, "fr": 1}, "two")]
    rows = list(language_rows(asked, names, seed=0))
    assert [(row.kind, row.name, row.known.shares["R@1"].value, row.known.shares["R@10"].value) for row in rows] == [
        (None, "French", 0.5, 1.0),
        (None, "Other", 1.0, 1.0),
        (None, "German", 0.5, 0.5),
        ("one", "French", 0.0, 1.0),
        ("one", "Other", 1.0, 1.0),
        ("one", "German", 0.0, 0.0),
        ("two", "French", 1.0, 1.0),
        ("two", "German", 1.0, 1.0),
    ]
    every, one, _ = kind_rows(rows)
    assert (every.n_languages, every.n_of_ten, every.mean["R@1"], every.ten["R@1"]) == (3, 2, 0.6667, 0.5)
    assert (one.least, one.least_share) == ("German", 0.0)
    assert len(list(missed(asked))) == 20


def test_goals_are_held_against_the_ten_languages_alone() -> None:
    asked = _translated(20, dict.fromkeys(TEN, 1) | {"hi": 11, "xx": UNRANKED})
    rows = list(language_rows(asked, {code: code for code in (*TEN, "xx")}, seed=0))
    reached = [(goal.name, goal.least, goal.reached, goal.is_met) for goal in goals(rows)]
    values = (0.9, 0.9, 0.0)
    assert reached == [
        (name, least, value, value >= least) for (name, least), value in zip(GOALS.items(), values, strict=True)
    ]
    assert [(goal.reached, goal.is_met) for goal in goals([])] == [(None, None)] * 3


def _run(subject: Subject, *arguments: str | Path) -> Result:
    command = ["lab", "evaluate", "--languages", "--library", str(subject.library.root), *map(str, arguments)]
    return CliRunner().invoke(main, command)


def test_the_command_prints_tables_of_80_columns_and_writes_a_page(
    subject: Subject, questions: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    done = _run(subject, "--queries", questions, "--report", page)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "23 questions; 1 not asked: no right icon is here" in lines
    assert any(line.startswith("German") and "22" in line for line in lines)
    assert "fewer than 20 questions: French 11" in lines
    assert "not in the dictionary, not asked: xx" in lines
    [least] = [line.split() for line in lines if line.startswith("least share of R@10")]
    assert least[-1] in ("met", "missed") and least[4] == ".86"
    html = page.read_text("utf-8")
    assert f"{NONSENSE}: not read" in html
    assert "found in English, and not in the language" in html


def test_json_holds_every_figure_and_what_was_missed(subject: Subject, questions: Path) -> None:
    said = json.loads(_run(subject, "--queries", questions, "--json").stdout)
    [row] = said["rows"]
    assert row["known"]["shares"]["R@10"].keys() == {"value", "low", "high"}
    assert {goal["name"]: goal["is_met"] for goal in said["goals"]}.keys() == GOALS.keys()
    assert NONSENSE in [one["text"] for one in said["missed"]]


def test_options_of_what_is_not_measured_are_refused_by_name(subject: Subject) -> None:
    refused = _run(subject, "--names", "0", "--model", "bundled")
    assert refused.exit_code == 2
    assert (
        "--languages asks the library's engine in other languages alone; leave out --model, --names" in refused.stderr
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"query": "bell", "kind": "thing", "relevant": ["bell"]}, "says no query in another language"),
        (_line("bell", xx="klokke"), "the dictionary has none of these languages: xx"),
        (_line("zebra", de="Zebra"), "no icon of this library bears any of the relevant names"),
        ({**_line("bell"), "in": {"de": " "}}, 'line 1: "in" is not an object of languages'),
    ],
)
def test_a_file_that_asks_nothing_is_refused(
    subject: Subject, tmp_path: Path, line: dict[str, object], reason: str
) -> None:
    with pytest.raises(QueryFileError, match=reason):
        evaluate_languages(subject, LanguageOptions([_write(tmp_path / "q.jsonl", [line])]), _quiet)


def test_a_question_by_set_is_asked_among_the_icons_of_the_set_alone(subject: Subject, tmp_path: Path) -> None:
    line = {**_line("bell", de="Glocke"), "relevant": {"drawn": ["bell"], "elsewhere": ["bell"]}}
    [asked] = find_answers(read_queries(_write(tmp_path / "q.jsonl", [line])), subject.corpus).asked
    assert asked.sets == {"drawn"}
    assert asked.query.translations == {"de": "Glocke"}
