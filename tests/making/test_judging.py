"""First hits are laid out as sheets and judged once, by numbers; what judgements and descriptions measure."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from data.making.eval.described import ask_described, described, described_rows, read_described
from data.making.eval.judged import JudgedRow, Judgement, ask_judged, first_rows, read_judgements
from data.making.eval.pooling import main
from indexer.arrays import Floats, Ids
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.engine import SearchEngine
from search.evaluation.evaluate import Subject

ARROW = Judgement("arrow", "means", {"right": ("arrow-up", "Arrow Down"), "fair": ("zap",), "wrong": ("bell", "star")})
HOUSE = Judgement("home", "means", {"right": (), "fair": ("house-plus",), "wrong": ()})
RING = Judgement("ring", "means", {"right": ("bell",), "fair": ("zap",), "wrong": ("alarm-old",)})


def _write(file: Path, *lines: dict[str, object]) -> Path:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return file


def _judged(subject: Subject, lines: list[Judgement], *names: str) -> JudgedRow:
    """What a ranker gains whose order for every text is that of some names, best first; the rest are not ranked."""

    class Ordered:
        def scores(self, texts: list[str]) -> dict[str, Floats]:
            scores = np.full((len(texts), len(subject.corpus)), -np.inf, np.float32)
            scores[:, [subject.corpus.names.index(name) for name in names]] = -np.arange(len(names))
            return {"ordered": scores}

        @property
        def engine(self) -> "Ordered":
            return self

        def hits(self, text: str) -> Ids:
            return first_rows(self.scores([text])["ordered"][0], subject.corpus)

    row, by_hits = ask_judged(Ordered(), lines, subject.corpus, encoder="one", seed=0, progress=lambda *_: None)
    assert (by_hits.ranker, by_hits.figures, by_hits.unjudged) == ("engine", row.figures, row.unjudged)
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
    drawn = _judged(subject, [RING], "alarm-old", "bell", "zap")  # one drawing is one hit, with the better grade
    assert (drawn.figures["R@1"].value, drawn.figures["nDCG@5"].value, drawn.unjudged) == (1, 1, 0)


HOLDS = {"query": "arrow", "kind": "plain", "must": [["arrow|arrows"]], "must_not": [["house"], ["arrow", "plus"]]}
LACKS = {"query": "arrow", "kind": "plain", "must": [["house"], ["arrow", "house"]], "must_not": []}
TOO_MUCH = {"query": "house", "kind": "without", "must": [["house"]], "must_not": [["bell"], ["house", "add|plus"]]}
STAR = {"query": "star", "kind": "style", "must": [["star"]], "must_not": [["star", "filled"]]}
GRADES = {"query": "arrow", "kind": "means", "right": ["arrow-up"], "fair": [], "wrong": []}


def test_the_bundled_judgements_are_of_bundled_samples() -> None:
    lines = read_judgements(bundled("eval") / "judged-lucide.jsonl")
    here = {path.stem for path in (bundled("samples/lucide-static") / "icons").glob("*.svg")}
    assert {name for line in lines for names in line.grades.values() for name in names} <= here and len(lines) == 300


def test_a_description_holds_with_three_right_hits_and_no_wrong_one(lucide: Library, tmp_path: Path) -> None:
    file = _write(tmp_path / "d.jsonl", HOLDS, LACKS, TOO_MUCH, STAR)
    answers = ask_described(SearchEngine.open(lucide.root), {str(file): read_described(file)})
    assert [(one.holds, one.n_right, one.n_wrong) for one in answers] == [
        (True, 5, 0), (False, 0, 0), (False, 5, 1), (False, 1, 1),
    ]  # fmt: skip
    assert [(row.title, row.n_queries, row.holds.value) for row in described_rows(answers, seed=0)] == [
        ("d, plain", 2, 0.5),
        ("d, without", 1, 0.0),
        ("d, style", 1, 0.0),
        ("d", 4, 0.25),
    ]
    done = CliRunner().invoke(described, [str(file), "--library", str(lucide.root)])
    assert "  house: 5 right, 1 wrong: drawn:house" in done.output


def test_what_is_pooled_is_judged_and_then_nothing_is_left(lucide: Library, tmp_path: Path) -> None:
    asked = ({"query": query, "kind": "means", "relevant": ["key"]} for query in ("unlock", "dwelling", "unlock"))
    queries, judged, out = _write(tmp_path / "queries.jsonl", *asked), tmp_path / "judged.jsonl", tmp_path / "pool"
    given = ["--library", str(lucide.root), "--queries", str(queries), "--judged", str(judged), "--out"]
    assert CliRunner().invoke(main, ["pool", *given, str(out)]).exit_code == 0
    pooled = json.loads((out / "pool.json").read_text())
    assert [found["query"] for found in pooled] == ["unlock", "dwelling"]
    assert all(5 <= len(found["icons"]) <= 20 and "key" in found["icons"] for found in pooled)
    with Image.open(out / "sheet-00.png") as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 20) or ()) > 3
    again = CliRunner().invoke(main, ["pool", *given, str(out)])
    assert (again.exit_code, "holds a pool already" in again.output) == (2, True)
    said = ({**found, "right": [found.pop("icons").index("key")], "fair": []} for found in pooled)
    answers = _write(out / "answers.jsonl", *({key: one[key] for key in GRADES.keys() & one} for one in said))
    assert CliRunner().invoke(main, ["add", str(out), str(answers), "--judged", str(judged)]).exit_code == 0
    assert [line.grades["right"] for line in read_judgements(judged)] == [("key",), ("key",)]
    assert "0 icons of 0 queries" in CliRunner().invoke(main, ["pool", *given, str(tmp_path / "again")]).output
