"""Is each planted defect found by its rule, nothing else in a sound folder, and no member of a family as a twin?"""

from collections.abc import Callable
from pathlib import Path

import pytest
from lint_icons import copy_samples, found_in, lint_folder, shapes_of, text_of
from planted_icons import EXCHANGED, PLANTED, plant

from search.linting.findings import Report
from search.linting.lint import RULES


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("planted") / "icons")


@pytest.fixture(scope="module")
def report(planted: Path) -> Report:
    return lint_folder(planted)


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found_by_its_rule_alone(report: Report, defect: str) -> None:
    name, _, rules = PLANTED[defect]
    assert {rule for rule, icon in found_in(report) if icon == name} == rules


def test_names_that_were_exchanged_are_found_with_what_is_drawn_instead(report: Report) -> None:
    misnamed = {finding.icons[0].name: finding for finding in report.findings if finding.rule == "name"}
    assert misnamed.keys() <= EXCHANGED.keys() and len(misnamed) >= 4
    assert '"ambulance"' in misnamed["croissant"].message


def test_nothing_is_found_where_nothing_was_planted_and_every_rule_but_that_of_the_grid_is_tried(
    report: Report,
) -> None:
    planted = {name for name, _, _ in PLANTED.values()} | {"album", "tractor", "photo"}
    assert ("raster", "photo") in found_in(report)
    assert {name for rule, name in found_in(report) if rule != "name"} == planted
    assert {rule for rule, _ in found_in(report)} == RULES.keys() - {"grid"}


def test_a_message_says_the_value_and_what_the_set_does(report: Report) -> None:
    messages = {(finding.rule, finding.icons[0].name): finding.message for finding in report.findings}
    for rule, name, told in (
        ("stroke-width", "dna-off", "stroke-width is 1.5; 119 of 121 icons have 2"),
        ("colour", "balloon", "paint is #e11d48; 119 of 121 icons have currentColor"),
        ("view-box", "bell-plus", 'viewBox is "0 0 32 32"; '),
        ("view-box", "cog", "viewBox is missing (width and height say 24 x 24); "),
    ):
        assert messages[rule, name].startswith(told)


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


@pytest.mark.parametrize(
    ("rule", "changed", "messages"),
    [
        (
            "stroke-width",
            lambda n: ("2", "1.5" if n < 16 else "2"),
            ["stroke-width is mixed: 2 in 24, 1.5 in 16 of 40 icons"],
        ),
        ("colour", lambda n: ("currentColor", f"#{n * 5:02x}40{255 - n:02x}"), []),
        (
            *("colour", lambda n: ("currentColor", "#000")),
            ["40 of 40 icons are painted with #000: they can't take the colour of a text"],
        ),
    ],
    ids=["a mixture", "many colours", "black"],
)
def test_what_holds_for_a_whole_set_is_said_once_or_not_at_all(
    tmp_path: Path, rule: str, changed: Callable[[int], tuple[str, str]], messages: list[str]
) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    attribute = 'stroke-width="{}"' if rule == "stroke-width" else "{}"
    for number, file in enumerate(sorted(folder.iterdir())):
        old, new = map(attribute.format, changed(number))
        file.write_text(file.read_text().replace(old, new))
    findings = lint_folder(folder, rule).findings
    assert [finding.message for finding in findings] == messages
    assert all(finding.severity == "note" for finding in findings)


def test_members_of_a_family_are_no_near_duplicates(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    family = (
        "arrow-left arrow-right arrow-up arrow-down chevron-left chevron-right clock-1 clock-2 clock-3 battery-low "
        "battery-medium battery-full volume-1 volume-2 dice-1 dice-2 toggle-left toggle-right wifi wifi-off lock "
        "lock-open file-plus file-minus signal-low signal-medium circle-plus circle-minus panel-left panel-right"
    )
    for name in family.split():
        (folder / f"{name}.svg").write_text(text_of(name))
    assert lint_folder(folder, "near-duplicate", "identical").findings == ()


@pytest.mark.parametrize(
    "change",
    [
        'transform="translate(1 -.8)"',
        'transform="translate(.24 .24) scale(.98)"',
        'stroke-width="1.8"',
    ],
)
def test_a_copy_that_was_changed_a_little_is_found(tmp_path: Path, change: str) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    changed = text_of("house").replace(shapes_of("house"), f"<g {change}>{shapes_of('house')}</g>")
    (folder / "house.svg").write_text(text_of("house"))
    (folder / "home.svg").write_text(changed)
    (finding,) = lint_folder(folder, "near-duplicate").findings
    assert {icon.name for icon in finding.icons} == {"house", "home"}


def test_equal_pictures_in_other_bytes_are_identical_unless_they_are_styles_of_one_name(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 20)
    (folder / "house.svg").write_text(text_of("house"))
    (folder / "home.svg").write_text(text_of("house").replace('width="24"', "").replace("\n", " "))
    for style in ("outline", "filled"):
        (folder / style).mkdir()
        (folder / style / "minus.svg").write_text(text_of("minus"))
    (finding,) = lint_folder(folder, "identical").findings
    assert finding.message == "2 icons show the same picture: home.svg, house.svg"
