"""An evaluation measures what it says, and shows it to people, programs and browsers."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result
from conftest import Build, Silent, build_library, draw_icons, svg

from indexer.encoders.checkpoint import ModelChoice
from indexer.errors import LibraryError, ModelError, SourceError
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.merging.manifest import Weights
from indexer.pipeline import IndexOptions, embed
from indexer.reports.figures import UNRANKED, right_ranks
from search.cli import main
from search.engine import Query as EngineQuery
from search.engine import Window
from search.evaluation.evaluate import MEASURES, EvaluateOptions, Subject, evaluate, report_html
from search.evaluation.queries import NO_TAGS, BenchmarkQuery, Tags, find_answers
from search.evaluation.rankers import CorpusVectors, VectorRankers, find_contenders, read_vectors_of
from search.evaluation.screenshots import Condition, choose_shots, conditions, take

QUERIES = [
    {"query": "dot a", "kind": "names", "relevant": ["dot-a"]},
    {"query": "up", "kind": "names", "relevant": ["arrow-up"]},
    {"query": "skyward", "kind": "means", "relevant": ["arrow up", "no-such-icon"]},
    {"query": "nothing here", "kind": "means", "relevant": ["gone"]},
]


def _quiet(title: str, done: int, total: int) -> None:
    assert title and 0 < done <= total


def _write_queries(file: Path, queries: Sequence[dict[str, object]] = QUERIES) -> Path:
    file.write_text("".join(f"{json.dumps(query)}\n" for query in queries), "utf-8")
    return file


@pytest.fixture(scope="module")
def indexed(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library for tests that leave it as it is."""
    root = tmp_path_factory.mktemp("indexed")
    build_library(library := Library(root / "library"), tiny_model, [draw_icons(root / "icons")])
    return library


@pytest.fixture(scope="module")
def subject(indexed: Library) -> Subject:
    return Subject(indexed)


@pytest.fixture
def own_subject(build: Build, library: Library, icon_folder: Path) -> Subject:
    """For tests that change the library or its sources."""
    build(icon_folder)
    return Subject(library)


def _vectors_of(subject: Subject) -> CorpusVectors:
    [contender] = find_contenders(subject.library, [], in_use=subject.manifest.fingerprint)
    return read_vectors_of(subject.library, contender, subject.corpus)


def test_rows_hold_every_task_and_ranker_with_the_figures_of_exact_search(subject: Subject, tmp_path: Path) -> None:
    file = _write_queries(tmp_path / "q.jsonl")
    options = EvaluateOptions(queries=[file], n_names=0, n_screenshots=0, n_scored=0, picture_weight=0.25)
    found = evaluate(subject, options, _quiet)
    assert [(row.task, row.regime, row.ranker, row.n_queries) for row in found.rows] == [
        (task, NO_TAGS, ranker, n)
        for task, n in (("names", 2), ("means", 1))
        for ranker in ("names", "pictures", "fused", "engine")
    ]
    assert (found.n_dropped, found.unknown) == (1, ["gone", "no-such-icon"])
    questions = find_answers([BenchmarkQuery("skyward", "means", ("arrow-up",))], subject.corpus).asked
    assert len(questions[0].right) == 2
    weights, tags = Weights(picture=0.25, tags=0.5), Tags.read(subject.opened)
    rankers = VectorRankers(subject.engine, subject.corpus, _vectors_of(subject), weights, tags)
    ranks = {
        ranker: right_ranks(scores[0], questions[0].right) for ranker, scores in rankers.scores(["skyward"]).items()
    }
    for row in found.rows[4:]:
        [rank, *_] = ranks.get(row.ranker, rankers.engine.ranks(questions[0]))
        assert row.figures["MRR@50"].value == pytest.approx(1 / rank, abs=1e-4)
    assert {case.query for case in found.worst} == {"dot a", "up", "skyward"}
    worst = [case.rank or UNRANKED for case in found.worst]
    assert worst == sorted(worst, reverse=True)


def test_empty_answers_are_counted_as_a_search_gives_them(subject: Subject, tmp_path: Path) -> None:
    options = EvaluateOptions(queries=[_write_queries(tmp_path / "q.jsonl")], n_names=0, n_screenshots=0, n_scored=3)
    held_out, off_topic, made_up = evaluate(subject, options, _quiet).empty
    limits = ["0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.4", "0.5"]
    assert (held_out.kind, list(held_out.figures)) == ("wrongly empty", limits)
    assert (held_out.n_queries, off_topic.n_queries, made_up.n_queries) == (3, 100, 100)
    topics = (bundled("eval") / "off-topic.txt").read_text().splitlines()
    answers = [subject.engine.ask(EngineQuery(words=topic), window=Window(k=1, min_score=0)) for topic in topics]
    best = [answer.hits[0].score for answer in answers]
    for limit, figure in off_topic.figures.items():
        assert figure.value == pytest.approx(sum(score >= float(limit) for score in best) / 100)
    wrongly = [figure.value for figure in held_out.figures.values()]
    assert wrongly == sorted(wrongly)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is served through torch, .* its export is not there yet")  # it is not in use
def test_several_encoders_stand_side_by_side_and_a_missing_one_says_what_to_run(
    own_subject: Subject, build: Build, tiny_model: Path, other_model: Path, tmp_path: Path
) -> None:
    file = _write_queries(tmp_path / "q.jsonl")
    models = [f"local-dir:{tiny_model}", f"local-dir:{other_model}"]
    options = EvaluateOptions(queries=[file], models=models, n_screenshots=3, n_scored=0)
    with pytest.raises(LibraryError, match=f"`icons index --only embed --model {models[1]}` makes them"):
        evaluate(own_subject, options, _quiet)
    embed(own_subject.library, IndexOptions(choice=ModelChoice(models[1]), devices="cpu"), Silent())
    found = evaluate(Subject(own_subject.library), options, _quiet)
    assert [contender.label for contender in found.encoders] == ["tiny", "other"]
    rankers = [(row.ranker, row.encoder) for row in found.rows if row.task == "names"]
    assert rankers == [
        (ranker, label) for label in ("tiny", "other") for ranker in ("names", "pictures", "fused", "engine")
    ]
    shots = [row for row in found.rows if row.condition]
    assert [(row.encoder, row.condition) for row in shots] == [
        (label, condition) for condition in conditions() for label in ("tiny", "other")
    ]
    assert find_contenders(own_subject.library, [found.encoders[1].fingerprint], in_use="") == [found.encoders[1]]
    with pytest.raises(ModelError, match='unknown model "no-such"'):
        find_contenders(own_subject.library, ["no-such"], in_use="")


def test_icons_without_a_vector_of_an_encoder_are_an_error(own_subject: Subject) -> None:
    for shard in own_subject.library.vectors(own_subject.manifest.fingerprint).glob("images-*"):
        shard.unlink()
    with pytest.raises(LibraryError, match=r"no vectors of model .* for 11 pictures, names and tags"):
        evaluate(own_subject, EvaluateOptions(n_screenshots=2), _quiet)


def test_screenshots_repeat_by_seed_and_count_variants_and_equal_pixels_as_right(
    build: Build, library: Library, icon_folder: Path
) -> None:
    same = (icon_folder / "dot-b.svg").read_text().replace("<svg", '<svg class="another-file"')
    (icon_folder / "alias.svg").write_text(same)
    build(icon_folder)
    subject = Subject(library)
    vectors = _vectors_of(subject)

    def choose(seed: int) -> list[tuple[set[str], set[str], bytes]]:
        shots = choose_shots(subject.corpus, vectors, n=20, seed=seed)
        taken = [take(shots, n, Condition(24, ("theme", "crop", "jpeg"))) for n in range(len(shots))]
        return [
            (_shown(subject, shots.images[[n]]), _shown(subject, shots.right[n]), picture)
            for n, picture in enumerate(taken)
        ]

    first = choose(seed=1)
    assert choose(seed=1) == first
    assert all(one[2] != other[2] for one, other in zip(first, choose(seed=2), strict=True))
    right = {name: found for names, found, _ in first for name in names}
    assert right["dot-b"] == right["alias"] == {"dot-b", "alias"}
    assert right["arrow-up"] == right["arrow-up-filled"] == {"arrow-up", "arrow-up-filled"}
    assert (right["dot-a"], right["dot-c"]) == ({"dot-a", "copy-of-dot"}, {"dot-c"})


def _shown(subject: Subject, images: np.ndarray) -> set[str]:
    return {subject.corpus.names[row] for image in images.tolist() for row in subject.corpus.showing(image)}


@pytest.mark.slow
def test_pictures_whose_source_changed_are_left_out_and_counted(own_subject: Subject, icon_folder: Path) -> None:
    (icon_folder / "dot-e.svg").write_text(svg('<rect width="9" height="9"/>'))
    (icon_folder / "dot-f.svg").unlink()
    found = evaluate(own_subject, EvaluateOptions(n_names=0, n_screenshots=50), _quiet)
    assert (found.n_unreadable, {row.n_queries for row in found.rows}) == (2, {9})
    page = report_html(found, own_subject.corpus.content_of)
    assert page.count('<span class="gone">gone</span>') == page.count("<figcaption>dot-e<") + page.count(
        "<figcaption>dot-f<"
    )
    shutil.rmtree(icon_folder)
    with pytest.raises(SourceError, match="no picture of this library can be read"):
        evaluate(own_subject, EvaluateOptions(n_names=0, n_screenshots=50), _quiet)


@pytest.mark.slow
def test_the_report_holds_charts_figures_and_pictures_and_needs_nothing_beside_it(
    subject: Subject, tmp_path: Path
) -> None:
    hostile = {"query": "<script>alert(1)</script>", "kind": "<i>means</i>", "relevant": ["arrow-up"]}
    file = _write_queries(tmp_path / "q.jsonl", [*QUERIES, hostile])
    found = evaluate(subject, EvaluateOptions(queries=[file], n_names=0, n_screenshots=4), _quiet)
    page = report_html(found, subject.corpus.content_of)
    sources, texts = re.findall(r'src="([^"]*)"', page), re.findall(r">([^<]+)<", page)
    charts = [ElementTree.fromstring(chart) for chart in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert "<script" not in page and "<i>means" not in page and "http-equiv" in page
    assert all(source.startswith("data:image/") for source in sources)
    assert len(charts) == 2 * 3 + 2 + 1  # of three tasks
    assert "theme+background+blur" in "".join(charts[-2].itertext())
    assert "off topic, answered" in "".join(charts[-1].itertext())
    first = found.rows[0].figures["R@10"]
    assert f"{first.value:.3f}".removeprefix("0") in "".join(charts[0].itertext())
    assert sum("24 px" in text for text in texts) >= 3
    n_shots = sum(source.startswith(("data:image/png", "data:image/jpeg")) for source in sources)
    assert n_shots == len(found.worst_shots) == 4


def _run(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["lab", "evaluate", *arguments, "--library", str(library.root)])


def test_the_command_prints_a_table_writes_a_page_and_speaks_json(subject: Subject, tmp_path: Path) -> None:
    file, page = _write_queries(tmp_path / "q.jsonl"), tmp_path / "out" / "report.html"
    library = subject.library
    few = ("--queries", str(file), "--screenshots", "3", "--names", "3")
    table = _run(library, *few, "--report", str(page))
    assert table.exit_code == 0, table.output
    assert re.search(
        r"^names, no tags +names +tiny +2 +[\d.]+ +[\d.]+ +[\d.]+ \([\d.]+-[\d.]+\)", table.stdout, re.MULTILINE
    )
    assert re.search(r"^off topic, answered +100 +[\d.]+", table.stdout, re.MULTILINE)
    for told in ("24 px theme+background+blur", "2 relevant names that no icon bears: gone, no-such-icon"):
        assert told in table.stdout
    assert f"wrote {page}" in table.stderr and "off topic, answered" in page.read_text("utf-8")
    said = json.loads(_run(library, *few, "--scores", "0", "--json").stdout)
    assert [row["task"] for row in said["rows"]].count("screenshot") == len(conditions())
    figures = said["rows"][0]["figures"]
    assert (set(figures), set(figures["nDCG@10"])) == (set(MEASURES), {"value", "low", "high"})
    assert said["encoders"][0]["fingerprint"] == subject.manifest.fingerprint
    assert "picture" not in said["worst_shots"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--screenshots", "0", "--names", "0"], "nothing to ask"),
        (["--screenshots", "-1"], "-1 is not in the range"),
        (["--picture-weight", "2"], "2.0 is not in the range"),
        (["--queries", "/nowhere.jsonl"], "'/nowhere.jsonl' does not exist"),
        (["--model", "local-dir:/nowhere"], '"/nowhere" is no open_clip folder'),
        (["--model", "ViT-B-32"], 'embedded in this library: "local-dir:'),
        (["--screenshots", "1", "--report", "/proc/report.html"], '"/proc/report.html" can\'t be written'),
        (["--model", "bundled"], "`icons index --only embed --model bundled` makes them"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(indexed: Library, arguments: list[str], message: str) -> None:
    result = _run(indexed, *arguments)
    assert result.exit_code == 2 and message in result.stderr, result.output


SAMPLES = bundled("samples/lucide-static")
CHOSEN = ("trash", "trash-2", "arrow-left", "undo", "copy", "circle-alert", "alert-circle")


@pytest.fixture(scope="module")
def lucide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Every 30th icon of Lucide and some more, with the bundled model."""
    root = tmp_path_factory.mktemp("lucide")
    icons = root / "lucide-static" / "icons"
    icons.mkdir(parents=True)
    shutil.copy(SAMPLES / "package.json", root / "lucide-static")
    files = sorted((SAMPLES / "icons").glob("*.svg"))
    for file in {*files[::30], *(SAMPLES / "icons" / f"{name}.svg" for name in CHOSEN)}:
        shutil.copy(file, icons)
    library = Library(root / "library")
    arguments = ["index", str(root / "lucide-static"), "--library", str(library.root), "--devices", "cpu"]
    done = CliRunner().invoke(main, [*arguments, "--workers", "0"])
    assert done.exit_code == 0, done.output
    yield library


@pytest.mark.slow
def test_real_icons_are_found_by_screenshots_in_other_colours_and_a_little_blurred(lucide: Library) -> None:
    found = evaluate(Subject(lucide), EvaluateOptions(n_names=0, n_screenshots=60), _quiet)
    by_label = {row.condition.label: row.figures["R@1"].value for row in found.rows if row.condition}
    assert by_label["48 px clean"] >= 0.98
    assert by_label["24 px theme+background+blur"] >= 0.95
    assert by_label["16 px all"] < by_label["48 px all"] <= by_label["48 px clean"]


@pytest.mark.slow
def test_names_are_found_first_as_they_are_and_nearly_always_when_misspelt(lucide: Library) -> None:
    found = evaluate(Subject(lucide), EvaluateOptions(n_names=60, n_screenshots=0), _quiet)
    first = {(row.task, row.ranker): row.figures["R@1"].value for row in found.rows}
    assert first["name", "engine"] == 1
    assert first["name, misspelt", "engine"] >= 0.9 > first["name, misspelt", "names"]
    assert first["name, turned round", "engine"] >= 0.9


def test_the_engine_row_asks_as_people_do_who_filter_nothing(lucide: Library) -> None:
    subject = Subject(lucide)
    weights, tags = subject.manifest.weights, Tags.read(subject.opened)
    rankers = VectorRankers(subject.engine, subject.corpus, _vectors_of(subject), weights, tags)
    for text in ("bell", "arow", "bell filled", "throw away", "qwzx", "something went wrong"):
        hits = subject.engine.ask(EngineQuery(words=text)).hits
        assert [hit.id for hit in hits] == subject.corpus.icon_ids[rankers.engine.hits(text)].tolist()


@pytest.mark.slow
def test_the_documented_queries_and_commands_work(
    lucide: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
    [queries] = re.findall(r"```jsonl\n(.*?)```", document, re.DOTALL)
    commands: list[str] = re.findall(r"^icons (lab evaluate .*?)(?: +#.*)?$", document, re.MULTILINE)
    cheap = [command for command in commands if "--queries mine.jsonl" in command and "local-dir:" not in command]
    assert len(cheap) >= 2
    (tmp_path / "mine.jsonl").write_text(queries, "utf-8")
    monkeypatch.chdir(tmp_path)
    for command in cheap:
        arguments = [*command.split(), "--screenshots", "2", "--tags", "5", "--names", "5", "--scores", "5"]
        done = CliRunner().invoke(main, [*arguments, "--library", str(lucide.root)])
        assert done.exit_code == 0 and "relevant names that no icon bears" not in done.output, done.output
    assert (tmp_path / "report.html").is_file()


@pytest.mark.slow
def test_the_benchmark_is_asked_by_itself_of_the_bundled_samples_alone(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build()
    assert [file.name for file in Subject(library).query_files(EvaluateOptions())] == ["lucide-1.62.0.jsonl.xz"]
    build(icon_folder)
    assert Subject(library).query_files(EvaluateOptions()) == []
