"""Does a measurement on screens count what it says, and tell it to people, programs and browsers?"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from indexer.arrays import Pixels
from indexer.errors import RenderError, SourceError
from indexer.library.folder import Library
from indexer.locating.boxes import Boxes
from indexer.locating.located import NO_ICONS
from indexer.reports.measures import Figure
from indexer.screens.stored import read_screens
from search.cli import main
from search.evaluation.evaluate import Subject
from search.evaluation.screens.answers import AnsweredScreen, ask_contenders
from search.evaluation.screens.contenders import COMPONENTS, Contender, open_contender
from search.evaluation.screens.cost import measure_cost, usual_picture
from search.evaluation.screens.evaluate import ScreenOptions, evaluate_screens
from search.evaluation.screens.faults import BADLY, EMPTY, false_boxes, missed_icons, n_faults, wrongly_named
from search.evaluation.screens.figures import contender_row, naming
from search.evaluation.screens.findings import FALSE_BOXES, ScreenEvaluation, screens_json
from search.evaluation.screens.frames import COLOURS, FALSE, MISSED, framed_screen
from search.evaluation.screens.gallery import find_faults
from search.evaluation.screens.groups import group_rows
from search.evaluation.screens.page import screens_html
from search.evaluation.screens.rendered import bench_screens, find_icons
from search.evaluation.screens.summary import print_screens
from search.evaluation.screens.truth import KnownIcons, Truth, size_class

Measured = tuple[ScreenEvaluation, list[AnsweredScreen]]


def plan(*screens: list[tuple[tuple[float, ...], float]]) -> Contender:
    """Finds what it is told to find, screen by screen."""
    left = iter(screens)

    def detect(pixels: Pixels) -> Boxes:
        found = next(left)
        corners = np.array([box for box, _ in found], np.float32).reshape(-1, 4)
        return Boxes(corners, np.array([score for _, score in found], np.float32))

    return Contender("planned", 0.5, detect, lambda _: NO_ICONS)


def truths_of(subject: Subject, folder: Path) -> list[Truth]:
    known = KnownIcons(subject.opened, subject.corpus)
    return [known.truth(folder, screen) for screen in read_screens(folder)]


def ask(subject: Subject, folder: Path, *contenders: Contender) -> list[AnsweredScreen]:
    return list(ask_contenders(contenders, truths_of(subject, folder), subject.engine))


@pytest.fixture
def planned(screens_folder: Path) -> Contender:
    """Finds three of five icons, one of them below its threshold; a bad box, and one on the icon-free screen."""
    mail, chart, _ = read_screens(screens_folder)
    disc, box, _arrow = (icon.box for icon in mail.icons)
    large, gone = (icon.box for icon in chart.icons)
    badly = (large[0], large[1], large[2], large[1] + (large[3] - large[1]) * 0.4)
    return plan([(box, 0.6), (disc, 0.9)], [(badly, 0.8), (gone, 0.7), (large, 0.3)], [((0, 0, 9, 9), 0.95)])


def value(figure: Figure | None) -> float:
    assert figure is not None
    return figure.value


def test_figures_count_what_is_found(known_subject: Subject, screens_folder: Path, planned: Contender) -> None:
    row = contender_row(planned, 0, ask(known_subject, screens_folder, planned), seed=0)
    assert [value(getattr(row.fixed, name)) for name in ("precision", "recall", "f1")] == [0.6, 0.6, 0.6]
    assert value(row.false_on_empty) == 1
    assert row.false_kinds == {"second box of an icon": 0, BADLY: 1, "no icon there": 0, EMPTY: 1}
    assert row.best.threshold == pytest.approx(0.3)
    assert value(row.best.f1) == pytest.approx(8 / 11, abs=1e-4)
    # .95 wrong, .9 right, .8 wrong, .7 right, .6 right, .3 right: precision made monotone is 4/6 everywhere
    assert value(row.ap50) == pytest.approx(4 / 6 * 4 / 5, abs=1e-4)
    at = {one.threshold: one for one in row.thresholds}
    assert (at[0.85].precision, at[0.85].recall, at[0.85].false_on_empty) == (0.5, 0.2, 1)
    assert (at[0.25].recall, at[0.35].recall) == (0.8, 0.6)


def test_icons_that_the_library_lacks_are_left_aside_when_names_count(
    known_subject: Subject, screens_folder: Path, planned: Contender
) -> None:
    screens = ask(known_subject, screens_folder, planned)
    assert [screen.truth.is_held.tolist() for screen in screens] == [[True] * 3, [True, False], []]
    named = sum(int(screen.by_contender[0].is_named(screen.truth).sum()) for screen in screens)
    row = contender_row(planned, 0, screens, seed=0)
    assert row.end_to_end is not None
    # of five boxes one is on an icon that the library lacks, of five icons one
    assert value(row.end_to_end.precision) == pytest.approx(named / 4, abs=1e-4)
    assert value(row.end_to_end.recall) == pytest.approx(named / 4, abs=1e-4)
    ceiling = naming(screens, seed=0)
    assert ceiling is not None and ceiling.n_icons == 4
    assert value(ceiling.top_1) <= value(ceiling.top_5) == 1  # there are but five icons


def test_names_are_right_up_to_equal_pictures(known_subject: Subject, screens_folder: Path) -> None:
    mail = truths_of(known_subject, screens_folder)[0]
    right = {icon.key: icon.right for icon in mail.icons}
    names = {key: {known_subject.engine.show(icon).hit.name for icon in icons} for key, icons in right.items()}
    assert names == {"own:disc": {"disc"}, "own:box": {"box", "copy-of-box"}, "own:arrow": {"arrow"}}


def test_sizes_are_painted_ones_in_css_pixels() -> None:
    assert size_class((0, 0, 16, 10), 1) == "16-24 px"
    assert size_class((0, 0, 16, 10), 2) == "8-12 px"
    assert size_class((0, 0, 10, 200), 1.5) == "48 px and more"
    assert size_class((0, 0, 7, 7), 1) == "below 8 px"


def test_faults_are_told_apart(known_subject: Subject, screens_folder: Path, planned: Contender) -> None:
    mail, chart, plain = ask(known_subject, screens_folder, planned)
    assert missed_icons(mail.by_contender[0], mail.truth) == [(2, 0.0)]
    assert missed_icons(chart.by_contender[0], chart.truth) == [(0, pytest.approx(0.3))]
    assert false_boxes(chart.by_contender[0], chart.truth) == [(0, BADLY)]
    assert false_boxes(plain.by_contender[0], plain.truth) == [(0, EMPTY)]
    assert n_faults(plain.by_contender[0], plain.truth) == 1
    assert wrongly_named(chart.by_contender[0], chart.truth) == []  # the library lacks the only one that was found
    answers = [(screen.by_contender[0], screen.truth) for screen in (mail, chart, plain)]
    found = find_faults(answers)
    assert [round(fault.score, 2) for fault in found.false] == [0.95, 0.8]
    assert [fault.caption for fault in found.missed] == ["0.00 own:arrow", "0.30 own:box"]


def test_a_screen_is_shown_with_a_frame_for_each_fault(
    known_subject: Subject, screens_folder: Path, planned: Contender
) -> None:
    _, chart, _ = ask(known_subject, screens_folder, planned)
    page = framed_screen(chart.by_contender[0], chart.truth)
    assert page.count(COLOURS[MISSED]) == page.count(COLOURS[FALSE]) == 1
    assert page.count("<rect") == 3
    assert 'viewBox="0 0 400 300"' in page and "a box with 0.30 was not shown" in page


def test_parts_of_screens_and_kinds_of_icons_have_figures_of_their_own(
    known_subject: Subject, screens_folder: Path, planned: Contender
) -> None:
    rows = list(group_rows([planned], ask(known_subject, screens_folder, planned), seed=0))
    found = {(row.by, row.value): row for row in rows}
    assert value(found["template", "mail"].figures["recall"]) == pytest.approx(2 / 3, abs=1e-4)
    assert value(found["template", "chart"].figures[FALSE_BOXES]) == 1
    assert list(found["template", "plain-form"].figures) == [FALSE_BOXES]
    assert value(found["scale", "2"].figures["recall"]) == 0.5
    assert [row.value for row in rows if row.by == "size"] == ["12-16 px", "16-24 px"]
    assert value(found["size", "12-16 px"].figures["recall"]) == 0.5
    assert value(found["size", "16-24 px"].figures["recall"]) == pytest.approx(2 / 3, abs=1e-4)
    assert {row.value for row in rows if row.by == "colours"} == {"one colour", "not known"}
    assert found["drawn", "inline"].n_icons == 5


def test_the_baseline_finds_what_stands_alone(known_subject: Subject, screens_folder: Path) -> None:
    baseline = open_contender(COMPONENTS, known_subject.engine)
    row = contender_row(baseline, 0, ask(known_subject, screens_folder, baseline), seed=0)
    assert value(row.fixed.recall) == 1
    assert value(row.fixed.precision) == pytest.approx(5 / 8, abs=1e-4)
    assert value(row.false_on_empty) == 2


@pytest.fixture(scope="module")
def measured(known_subject: Subject, screens_folder: Path) -> Measured:
    options = ScreenOptions(Path("nowhere"), screens_folder, contenders=[COMPONENTS], with_cost=False)
    return evaluate_screens(known_subject, options, lambda *_: None)


def test_figures_are_told_to_people(measured: Measured, capsys: pytest.CaptureFixture[str]) -> None:
    print_screens(measured[0])
    shown = capsys.readouterr().out
    assert "3 screens, 1 of them without icons; 5 icons" in shown
    assert "which holds 4 of the icons on the screens" in shown
    for title in ("AP50", "boxes and names", "true boxes", "by size", "by drawn"):
        assert title in shown
    assert re.search(r"^components .* 1\.00 +\.625 +1\.000 +\.769 ", shown, re.MULTILINE)


def test_figures_and_faults_are_told_to_browsers(measured: Measured, known_subject: Subject) -> None:
    page = screens_html(*measured, known_subject.originals.content_of)
    assert "<h2>False boxes <small>components: 3; the surest first</small></h2>" in page
    assert "<h2>Missed icons <small>components: 0;" in page
    n_wrong = len(find_faults([(one.by_contender[0], one.truth) for one in measured[1]]).misnamed)
    assert page.count('<img class="called"') == n_wrong
    assert page.count('<div class="screen">') >= 2
    assert page.count("<figure") == 3 + n_wrong
    assert "<script" not in page


def test_figures_are_told_to_programs(measured: Measured) -> None:
    found = json.loads(json.dumps(screens_json(measured[0])))
    [baseline] = found["rows"]
    assert (baseline["contender"], baseline["fixed"]["recall"]["value"]) == (COMPONENTS, 1)
    assert found["sets"] == {"own": 4, "gone": 1}
    assert found["naming"]["n_icons"] == 4
    assert {row["by"] for row in found["groups"]} == {"template", "theme", "scale", "size", "drawn", "colours"}


@pytest.mark.slow
def test_time_and_memory_are_those_of_a_process_of_its_own(known_library: Library, screens_folder: Path) -> None:
    picture = usual_picture(truths_of(Subject(known_library), screens_folder))
    assert picture.shape == (900, 1440, 3)
    cost = measure_cost(known_library, COMPONENTS, picture)
    assert cost.peak_bytes > 50_000_000
    assert cost.find_seconds > 0 and cost.name_seconds > 0
    assert cost.n_boxes == len(open_contender(COMPONENTS, Subject(known_library).engine).detect(picture).scores) > 5


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (["--screens", "--names", "0"], "--screens measures boxes and names in screens alone; leave out --names"),
        (["--screens-from", "."], "--screens-from and --iconify go with --screens"),
        (["--languages", "--screens-from", "."], "--screens-from and --iconify go with --screens"),
        (["--screens", "--screens-from", "."], 'no screens in "."'),
    ],
)
def test_what_does_not_go_together_is_refused(known_library: Library, options: list[str], refused: str) -> None:
    told = CliRunner().invoke(main, ["evaluate", *options, "--library", str(known_library.root)])
    assert told.exit_code == 2
    assert refused in " ".join(told.output.split())


def test_icons_to_render_with_are_those_that_the_library_was_made_from(known_subject: Subject) -> None:
    with pytest.raises(SourceError, match="give its folder by --iconify, or rendered screens by --screens-from"):
        find_icons(known_subject.opened)
    [location] = known_subject.opened.snapshot.locations()
    collections = Path(location).parent / "collections.json"
    collections.write_text("{}")
    try:
        assert find_icons(known_subject.opened) == collections.parent
    finally:
        collections.unlink()


def test_without_a_browser_nothing_is_rendered_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    facts = {"heroicons": {"license": {"spdx": "MIT"}, "total": 300}}
    (tmp_path / "collections.json").write_text(json.dumps(facts))
    with pytest.raises(RenderError, match="no browser here"):
        bench_screens(tmp_path, tmp_path / "cache", lambda *_: None, n=2)
    with pytest.raises(SourceError, match="name the folder of npm's @iconify/json"):
        bench_screens(tmp_path / "cache", tmp_path / "cache", lambda *_: None)
