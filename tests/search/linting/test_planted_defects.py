"""Is each planted defect found by its rule, and nothing else found in a folder that was sound before?"""

from pathlib import Path

import pytest
from lint_icons import copy_samples, found_in, lint_folder
from planted_icons import EXCHANGED, PLANTED, plant

from search.linting.findings import Report
from search.linting.lint import RULES


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("planted") / "icons")


@pytest.fixture(scope="module")
def report(planted: Path) -> Report:
    return lint_folder(planted)


def test_a_sound_folder_has_no_findings(tmp_path: Path) -> None:
    report = lint_folder(copy_samples(tmp_path / "icons"))
    assert (report.n_icons, report.findings) == (120, ())


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found_by_its_rule_alone(report: Report, defect: str) -> None:
    name, _, rules = PLANTED[defect]
    assert {rule for rule, icon in found_in(report) if icon == name} == rules


def test_names_that_were_exchanged_are_found_with_what_is_drawn_instead(report: Report) -> None:
    told = {finding.icons[0].name: finding for finding in report.findings if finding.rule == "name"}
    assert told.keys() <= EXCHANGED.keys()
    assert len(told) >= 4
    assert '"ambulance"' in told["croissant"].message


def test_a_picture_in_pixels_among_svgs_is_found(report: Report) -> None:
    assert ("raster", "photo") in found_in(report)


def test_nothing_is_found_where_nothing_was_planted(report: Report) -> None:
    planted = {name for name, _, _ in PLANTED.values()} | {"album", "tractor", "photo"}
    assert {name for rule, name in found_in(report) if rule != "name"} == planted


def test_a_message_tells_the_value_and_what_the_set_does(report: Report) -> None:
    told = {(finding.rule, finding.icons[0].name): finding.message for finding in report.findings}
    assert told["stroke-width", "dna-off"] == "stroke-width is 1.5; 119 of 121 icons have 2"
    assert told["colour", "balloon"] == "painted with #e11d48; 119 of 121 icons with currentColor"
    assert told["view-box", "bell-plus"].startswith('viewBox is "0 0 32 32"; ')
    assert told["view-box", "cog"].startswith("viewBox is missing (width and height say 24 x 24); ")


def test_every_rule_but_that_of_the_grid_has_a_planted_defect(report: Report) -> None:
    assert {rule for rule, _ in found_in(report)} == RULES.keys() - {"grid"}


def test_lines_off_the_grid_are_found_in_a_set_that_keeps_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "icons"
    folder.mkdir()
    for number in range(30):
        (folder / f"bar-{number}.svg").write_text(_bar(2 + number / 2, 4))
    (folder / "bar-off.svg").write_text(_bar(5.3, 9))
    report = lint_folder(folder, "grid")
    assert [finding.icons[0].name for finding in report.findings] == ["bar-off"]
    assert "such as 5.3" in report.findings[0].message


def _bar(x: float, y: float) -> str:
    path = f'<path d="M{x} {y}h4v8"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#000">{path}</svg>'


def test_a_mixture_is_told_once_and_not_icon_by_icon(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for file in sorted(folder.iterdir())[:16]:
        file.write_text(file.read_text().replace('stroke-width="2"', 'stroke-width="1.5"'))
    report = lint_folder(folder, "stroke-width")
    assert [finding.message for finding in report.findings] == ["stroke-width is mixed: 2 in 24, 1.5 in 16 of 40 icons"]
    assert report.findings[0].severity == "note"


def test_a_set_of_many_colours_is_left_alone(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for number, file in enumerate(sorted(folder.iterdir())):
        file.write_text(file.read_text().replace("currentColor", f"#{number * 5:02x}40{255 - number:02x}"))
    assert lint_folder(folder, "colour").findings == ()


def test_a_set_in_black_is_told_once_that_it_takes_no_colour(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("currentColor", "#000"))
    (finding,) = lint_folder(folder, "colour").findings
    assert finding.message == "40 of 40 icons are painted with #000: they can't take the colour of a text"
