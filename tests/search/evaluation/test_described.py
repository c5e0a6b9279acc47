"""Is a described drawing judged by the names and styles of the first five hits, and told to people and programs?"""

import json
import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexer.errors import QueryFileError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.cli import main
from search.engine import SearchEngine
from search.evaluation.described import DescribedAnswer, ask_described, described_rows, read_described

SAMPLES = bundled("samples/lucide-static") / "icons"
HOUSES = ("house", "house-plus", "house-wifi", "house-plug", "house-heart")
ARROWS = ("arrow-up", "arrow-down", "arrow-left", "arrow-right", "arrow-up-left", "arrow-down-right")
HOLDS = {"query": "arrow", "kind": "plain", "must": [["arrow|arrows"]], "must_not": [["house"], ["arrow", "plus"]]}
LACKS = {"query": "arrow", "kind": "plain", "must": [["house"], ["arrow", "house"]], "must_not": []}
TOO_MUCH = {"query": "house", "kind": "without", "must": [["house"]], "must_not": [["bell"], ["house", "add|plus"]]}
GOOD = json.dumps(HOLDS)


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 < done <= total


@pytest.fixture(scope="module")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Some icons of Lucide with the bundled model; a star lies in a folder that states its style."""
    root = tmp_path_factory.mktemp("described")
    (root / "drawn" / "solid").mkdir(parents=True)
    for name in (*HOUSES, *ARROWS, "bell", "trash"):
        shutil.copy(SAMPLES / f"{name}.svg", root / "drawn")
    shutil.copy(SAMPLES / "star.svg", root / "drawn" / "solid")
    library = Library(root / "library")
    arguments = ["index", str(root / "drawn"), "--library", str(library.root), "--devices", "cpu", "--workers", "0"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return library


def _write(file: Path, *queries: object) -> Path:
    file.write_text("".join(f"{json.dumps(query)}\n" for query in queries), "utf-8")
    return file


def _ask(library: Library, *files: Path) -> list[DescribedAnswer]:
    return ask_described(SearchEngine.open(library.root), {str(file): read_described(file) for file in files}, _quiet)


def test_entries_are_alternatives_and_all_entries_of_a_group_count(tmp_path: Path) -> None:
    [query] = read_described(_write(tmp_path / "d.jsonl", TOO_MUCH))
    assert (query.text, query.kind) == ("house", "without")
    assert query.must == [(frozenset({"house"}),)]
    assert query.must_not == [(frozenset({"bell"}),), (frozenset({"house"}), frozenset({"add", "plus"}))]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"must": None}, '"must" is not a list of groups'),
        ({"must": ["arrow"]}, '"must" is not a list of groups'),
        ({"must": []}, '"must" has no group'),
        ({"must": [[]]}, '"must" is not a list of groups, each a list of words, one at least'),
        ({"must": [["arrow", 3]]}, '"must" has "3"'),
        ({"must": [["Arrow"]]}, '"must" has "Arrow"; an entry is a word as names have it'),
        ({"must": [["arrow left"]]}, '"must" has "arrow left"'),
        ({"must_not": [["circle|"]]}, '"must_not" has "circle|"'),
        ({"must_not": {"circle": 1}}, '"must_not" is not a list of groups'),
        ({"query": " "}, '"query" is not a text'),
        ({"kind": 3}, '"kind" is not a text'),
    ],
)
def test_a_bad_line_is_named_with_its_number_and_what_is_wrong(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    file = _write(tmp_path / "d.jsonl", HOLDS, {**HOLDS, **change})
    with pytest.raises(QueryFileError, match="line 2") as error:
        read_described(file)
    assert reason in str(error.value)


@pytest.mark.parametrize("name", ["query", "kind", "must", "must_not"])
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    file = _write(tmp_path / "d.jsonl", {key: value for key, value in HOLDS.items() if key != name})
    with pytest.raises(QueryFileError, match=f'line 1: "{name}" is missing; a line is'):
        read_described(file)


def test_what_is_no_json_or_holds_no_query_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(f"{GOOD}\n\n{{not json}}\n")
    with pytest.raises(QueryFileError, match="line 3 is not JSON"):
        read_described(tmp_path / "d.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(QueryFileError, match="holds no query"):
        read_described(tmp_path / "empty.jsonl")


def test_a_query_holds_with_three_right_hits_and_no_wrong_one(drawings: Library, tmp_path: Path) -> None:
    holds, lacks, too_much = _ask(drawings, _write(tmp_path / "d.jsonl", HOLDS, LACKS, TOO_MUCH))
    assert (holds.holds, holds.n_right, holds.n_wrong) == (True, 5, 0)
    assert (lacks.holds, lacks.n_right, lacks.n_wrong) == (False, 0, 0)
    assert (too_much.holds, too_much.n_right, too_much.n_wrong) == (False, 5, 1)
    assert {hit.name for hit in too_much.hits} == set(HOUSES)


def test_two_right_hits_are_too_few(drawings: Library, tmp_path: Path) -> None:
    def ask(n: int) -> DescribedAnswer:
        names = [[name.partition("-")[2]] for name in HOUSES[1 : n + 1]]
        [answer] = _ask(drawings, _write(tmp_path / "d.jsonl", {**TOO_MUCH, "must": names, "must_not": []}))
        return answer

    assert [(ask(n).n_right, ask(n).holds) for n in (2, 3)] == [(2, False), (3, True)]


def test_a_style_that_is_stated_beside_the_name_counts_as_a_word(drawings: Library, tmp_path: Path) -> None:
    star = {"query": "star", "kind": "style", "must": [["star"]], "must_not": [["star", "filled"]]}
    [answer] = _ask(drawings, _write(tmp_path / "d.jsonl", star))
    assert answer.hits[0].name == "star"
    assert (answer.n_right, answer.n_wrong) == (1, 1)


def test_rows_are_shares_by_file_and_kind_and_of_a_file_of_several_kinds(drawings: Library, tmp_path: Path) -> None:
    first = _write(tmp_path / "first.jsonl", HOLDS, LACKS, TOO_MUCH)
    second = _write(tmp_path / "second.jsonl", HOLDS)
    rows = described_rows(_ask(drawings, first, second), seed=0)
    assert [(row.title, row.n_queries, row.holds.value) for row in rows] == [
        ("first, plain", 2, 0.5),
        ("first, without", 1, 0.0),
        ("first", 3, 0.3333),
        ("second, plain", 1, 1.0),
    ]
    assert rows[0].holds.low == 0.0 and rows[0].holds.high == 1.0


def _run(library: Library, file: Path, *arguments: str) -> Result:
    nothing_else = ["--names", "0", "--tags", "0", "--screenshots", "0"]
    command = ["lab", "evaluate", "--described", str(file), *nothing_else, "--library", str(library.root), *arguments]
    return CliRunner().invoke(main, command)


def test_the_command_tells_the_share_and_the_five_names_of_what_failed(drawings: Library, tmp_path: Path) -> None:
    file, page = _write(tmp_path / "mine.jsonl", HOLDS, TOO_MUCH), tmp_path / "report.html"
    table = _run(drawings, file, "--report", str(page))
    assert table.exit_code == 0, table.output
    assert "mine, plain" in table.stdout and "1.000 (1.000-1.000)" in table.stdout
    [failure] = [line for line in table.stdout.splitlines() if line.startswith("  house: 5 right, 1 wrong: ")]
    assert sorted(failure.rpartition(": ")[2].split(", ")) == sorted(f"drawn:{name}" for name in HOUSES)
    assert "no words were asked" not in table.stdout
    html = page.read_text("utf-8")
    assert "Described drawings that were not found" in html
    assert all(f"<figcaption>{name}</figcaption>" in html for name in HOUSES)
    assert html.count("<figcaption>arrow") == 0


def test_json_holds_every_answer(drawings: Library, tmp_path: Path) -> None:
    said = json.loads(_run(drawings, _write(tmp_path / "mine.jsonl", HOLDS, TOO_MUCH), "--json").stdout)
    assert [(row["kind"], row["holds"]["value"]) for row in said["described"]] == [
        ("plain", 1.0),
        ("without", 0.0),
        (None, 0.5),
    ]
    assert [(answer["query"], answer["holds"]) for answer in said["described_answers"]] == [
        ("arrow", True),
        ("house", False),
    ]
    assert {hit["name"] for hit in said["described_answers"][1]["hits"]} == set(HOUSES)
    assert said["rows"] == []


def test_a_bad_file_stops_the_command_with_one_clear_line(drawings: Library, tmp_path: Path) -> None:
    result = _run(drawings, _write(tmp_path / "mine.jsonl", {**HOLDS, "must": []}))
    assert result.exit_code == 2
    assert 'mine.jsonl", line 1: "must" has no group' in result.stderr
    assert "Traceback" not in result.output


def _texts(half: str) -> Sequence[str]:
    return [query.text for query in read_described(bundled("eval") / f"described-{half}.jsonl")]


def test_the_lists_are_whole_and_their_halves_are_chosen_by_the_queries_themselves() -> None:
    halves = _texts("open"), _texts("kept")
    assert len({*halves[0], *halves[1]}) == len(halves[0]) + len(halves[1]) == 60
    for is_kept, texts in enumerate(halves):
        assert {blake2b(text.encode()).digest()[0] % 2 for text in texts} == {is_kept}
