"""First hits are laid out as sheets, judged by numbers, and judged once."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from data.making.eval.judged import Judgement, read_judgements
from data.making.eval.pooling import join, main, pool_hits, read_answers, write_judgements
from indexer.errors import QueryFileError
from indexer.library.folder import Library
from search.evaluation.evaluate import Subject

ARROW = Judgement("arrow", "means", {"right": ("arrow-up", "Arrow Down"), "fair": ("zap",), "wrong": ("bell", "star")})


def _lines(file: Path, *lines: dict[str, object]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_what_is_pooled_is_judged_and_then_nothing_is_left(lucide: Library, tmp_path: Path) -> None:
    asked = ({"query": query, "kind": "means", "relevant": ["key"]} for query in ("unlock", "dwelling"))
    queries, judged, out = _lines(tmp_path / "queries.jsonl", *asked), tmp_path / "judged.jsonl", tmp_path / "pool"
    given = ["--library", str(lucide.root), "--queries", str(queries), "--judged", str(judged)]
    done = CliRunner().invoke(main, ["pool", *given, "--out", str(out)])
    assert done.exit_code == 0, done.output
    pooled = json.loads((out / "pool.json").read_text())
    assert [found["query"] for found in pooled] == ["unlock", "dwelling"]
    assert all(5 <= len(found["icons"]) <= 20 and "key" in found["icons"] for found in pooled)
    with Image.open(out / "sheet-00.png") as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 20) or ()) > 3
    again = CliRunner().invoke(main, ["pool", *given, "--out", str(out)])
    assert (again.exit_code, "holds a pool already" in again.output) == (2, True)
    said = [
        {"query": found["query"], "kind": found["kind"], "right": [found["icons"].index("key")], "fair": []}
        for found in pooled
    ]
    answers = _lines(out / "answers.jsonl", *said)
    done = CliRunner().invoke(main, ["add", str(out), str(answers), "--judged", str(judged)])
    assert done.exit_code == 0, done.output
    assert [line.grades["right"] for line in read_judgements(judged)] == [("key",), ("key",)]
    done = CliRunner().invoke(main, ["pool", *given, "--out", str(tmp_path / "again")])
    assert "0 icons of 0 queries" in done.output


def test_lines_that_agree_in_query_and_kind_are_pooled_as_one(lucide: Library, tmp_path: Path) -> None:
    asked = ({"query": "unlock", "kind": kind, "relevant": ["key"]} for kind in ("means", "other", "means"))
    queries, subject = _lines(tmp_path / "queries.jsonl", *asked), Subject(lucide)
    known = [Judgement("unlock", "means", {"right": ("key",), "fair": (), "wrong": ()})]
    pooled = pool_hits(subject, queries, n=3, judged=known, seed=0, progress=lambda *_: None)
    names = {found.kind: [subject.corpus.names[row] for row in found.rows] for found in pooled}
    assert list(names) == ["means", "other"]
    assert "key" in names["other"] and "key" not in names["means"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"right": [2]}, 'line 2.*"2" is no number of its 2 pictures, which are 0 to 1'),
        ({"right": [True]}, 'line 2.*"True" is no number'),
        ({"right": [0], "fair": [0]}, 'line 2.*"0" is there twice'),
        ({"fair": 1}, 'line 2.*"fair" is not a list of numbers'),
        ({"kind": "looks"}, 'line 2.*"alarm" of kind "looks" is not in the pool'),
        ({"kind": "other"}, 'answers "alarm" of kind "other" twice'),
    ],
)
def test_an_answer_that_can_not_be_meant_is_named(tmp_path: Path, changed: dict[str, object], reason: str) -> None:
    pool = [{"query": "alarm", "kind": kind, "icons": ["bell", "star"]} for kind in ("other", "means")]
    (tmp_path / "pool.json").write_text(json.dumps(pool))
    good = {"query": "alarm", "kind": "other", "right": [0], "fair": []}
    answers = _lines(tmp_path / "answers.jsonl", good, good | {"kind": "means"} | changed)
    with pytest.raises(QueryFileError, match=reason):
        read_answers(tmp_path, answers)


def test_a_second_judge_adds_icons_and_changes_no_grade(tmp_path: Path) -> None:
    more = Judgement("arrow", "means", {"right": ("bell", "trash"), "fair": ("Arrow up",), "wrong": ("house", "ZAP")})
    [joined] = join([ARROW], [more])
    assert joined.grades == {
        "right": ["Arrow Down", "arrow-up", "trash"], "fair": ["zap"], "wrong": ["bell", "house", "star"],
    }  # fmt: skip
    write_judgements(tmp_path / "judged.jsonl", [ARROW])
    bad = Judgement("home", "means", {"right": ("house",), "fair": ("House",), "wrong": ()})
    with pytest.raises(QueryFileError, match='new line 2: "house" has two grades'):
        write_judgements(tmp_path / "judged.jsonl", [ARROW, bad])
    assert len(read_judgements(tmp_path / "judged.jsonl")) == 1
