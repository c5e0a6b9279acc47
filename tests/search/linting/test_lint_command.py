"""`icons lint`: planted defects are found, and what it prints."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import svg
from lint_icons import copy_samples, found_in, lint_folder, shapes_of, text_of
from planted_icons import EXCHANGED, PLANTED, plant

from indexer.rendering.pool import RenderPool
from search.cli import main
from search.linting.findings import Report
from search.linting.lint import RULES


@pytest.fixture(scope="module", autouse=True)
def drawn_here() -> Iterator[None]:
    """Nothing here is drawn in a process that starts for it, which takes longer than a few icons do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("search.linting.inspecting.RenderPool", lambda **how: RenderPool(**how | {"workers": 0}))
        yield


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


Run = Callable[..., Result]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A folder with one thin icon, and one drawing twice."""
    folder = copy_samples(tmp_path / "icons", 30)
    (folder / "house.svg").write_text(text_of("house").replace('stroke-width="2"', 'stroke-width="1.5"'))
    for name in ("album", "album-2"):
        (folder / f"{name}.svg").write_text(text_of("album"))
    return folder


@pytest.fixture
def lint(tmp_path: Path) -> Run:
    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(main, ["lint", "--library", str(tmp_path / "no-library"), *map(str, arguments)])

    return run


def test_findings_are_grouped_by_rule_within_80_columns(lint: Run, odd: Path) -> None:
    done = lint(odd)
    told = (
        "identical  1 warning\n"
        "  2 icons show the same picture: album-2.svg, album.svg\n"
        "  mend: keep one, and let the other names lead to it\n\n"
        "stroke-width  1 warning\n"
        "  house.svg                    stroke-width is 1.5; 32 of 33 icons have 2\n"
        "  mend: give its strokes the width of the set, and draw again what is scaled\n\n"
        "2 findings in 33 icons\n"
    )
    assert (done.exit_code, done.stdout) == (1, told)
    assert str(odd / "house.svg") in lint(odd, "--long", "--rule", "stroke-width").stdout


def test_aliases_of_iconify_and_sizes_of_one_icon_are_no_duplicates(lint: Run, tmp_path: Path) -> None:
    icon_set = {
        "prefix": "own",
        "icons": {"bell": {"body": "<path d='M2 2h9v9z'/>"}},
        "aliases": {"ring": {"parent": "bell"}},
    }
    (tmp_path / "own.json").write_text(json.dumps(icon_set))
    assert lint(tmp_path / "own.json", "--rule", "identical").stdout == "nothing found in 2 icons\n"
    for size, side in ((16, 20.0), (24, 20.2)):
        (tmp_path / "sizes" / f"{size}px").mkdir(parents=True)
        (tmp_path / "sizes" / f"{size}px" / "bell.svg").write_text(svg(f'<path d="M2 2h{side}v{side}z"/>'))
    assert lint(tmp_path / "sizes", "--rule", "near-duplicate").stdout == "nothing found in 2 icons\n"


def test_a_sound_folder_exits_with_0(lint: Run, tmp_path: Path) -> None:
    done = lint(copy_samples(tmp_path / "icons", 30))
    assert (done.exit_code, done.stdout) == (0, "nothing found in 30 icons\n")


def test_json_has_all_findings_with_icons_and_files(lint: Run, odd: Path) -> None:
    report = json.loads(lint(odd, "--json").stdout)
    assert (report["n_icons"], report["n_findings"], report["counts"]) == (33, 2, {"identical": 1, "stroke-width": 1})
    thin = report["findings"][1]
    assert thin["icons"] == [{"key": "icons:house", "path": str(odd / "house.svg")}]
    assert thin["severity"] == "warning" and len(thin["beside"]) == 1 and thin["beside"] != thin["icons"]


def test_rules_can_be_chosen_and_left_out(lint: Run, odd: Path) -> None:
    chosen, others = (lint(odd, "--json", option, "identical") for option in ("--rule", "--without-rule"))
    assert json.loads(chosen.stdout)["counts"] == {"identical": 1}
    assert json.loads(others.stdout)["counts"] == {"stroke-width": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to look at; give a folder of icons"),
        (("--rule", "stroke", "."), '"stroke" is no rule; there are broken, blank, identical'),
        (("no-such-folder",), '"no-such-folder" does not exist'),
        (("--long", "--max", "3", "."), "--long and --max are all findings and some"),
    ],
)
def test_what_can_not_be_done_exits_with_2(lint: Run, arguments: tuple[str, ...], message: str) -> None:
    done = lint(*arguments)
    assert done.exit_code == 2 and message in done.stderr


def test_max_says_how_many_more_there_are(lint: Run, tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 30)
    for number in range(5):
        (folder / f"house-{number}.svg").write_text(text_of("house").replace('cap="round"', 'cap="butt"'))
    lines = lint(folder, "--rule", "line-cap", "--max", "2").stdout.splitlines()
    assert (lines[0], lines[3]) == ("line-cap  5 warnings", "  ... and 3 more; --long shows all")


@pytest.mark.parametrize(
    ("accepted", "counts", "warning"),
    [
        ('identical = ["album*"]\nstroke-width = ["house"]', {}, ""),
        ('identical = ["album-2"]', {"stroke-width": 1}, ""),  # of icons that are alike, all but one are enough
        ('identical = ["album-2", "gone-*"]', {"stroke-width": 1}, 'exception "identical: gone-*" accepts nothing'),
    ],
)
def test_what_a_folder_accepts_is_left_out_and_counted(
    lint: Run, odd: Path, accepted: str, counts: dict[str, int], warning: str
) -> None:
    (odd / ".iconslint").write_text(f"[accept]\n{accepted}\n")
    done = lint(odd, "--json", "--without-rule", "name")
    report = json.loads(done.stdout)
    assert (report["counts"], report["n_accepted"], done.exit_code) == (counts, 2 - len(counts), len(counts))
    assert warning in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[accept]\nstrokes = ["a"]', '"strokes" is no rule'),
        ('[accept]\nname = "a"', '"accept.name" may not be'),
        ('[ignore]\nname = ["a"]', '"ignore" is not known'),
        ("accept = 1", '"accept" may not be 1'),
        ("[accept", "can't be read"),
    ],
)
def test_a_wrong_file_of_exceptions_is_an_error(lint: Run, odd: Path, text: str, message: str) -> None:
    (odd / ".iconslint").write_text(text)
    done = lint(odd)
    assert done.exit_code == 2 and message in done.stderr and ".iconslint" in done.stderr


def test_the_page_holds_every_picture_and_runs_nothing(lint: Run, odd: Path, tmp_path: Path) -> None:
    (odd / "menu.svg").write_text(text_of("menu").replace("</svg>", "<script>alert(1)</script></svg>"))
    (odd / "shrimp\x1b[31m<b>.svg").write_text("<svg")
    done = lint(odd, "--html", tmp_path / "lint.html")
    page = (tmp_path / "lint.html").read_text("utf-8")
    assert f"wrote {tmp_path / 'lint.html'}" in done.stderr
    assert "default-src 'none'" in page and "stroke-width is 1.5; 33 of 34 icons have 2" in page
    assert page.count("<figure") == page.count("<img") + page.count('class="gone"')
    assert "<script" not in page and "<b>.svg" not in page and "\x1b" not in page + done.stdout
    assert 'src="data:image/png' in page  # what holds a script is drawn


def test_sets_of_a_library_are_looked_at_with_its_encoder(run: Run) -> None:
    report = json.loads(run("lint", "--set", "own", "--set", "other", "--json").stdout)
    assert (report["sets"], report["n_icons"]) == (["own", "other"], 8)
    done = run("lint", "--set", "nobody")
    assert done.exit_code == 2 and '"nobody"' in done.stderr


def test_the_rules_can_be_listed(lint: Run) -> None:
    assert [line.split()[0] for line in lint("--rules").stdout.splitlines()] == list(RULES)


def test_neither_torch_nor_sqlalchemy_is_imported(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 12)
    program = (
        "import sys; from search.cli import main\n"
        f"main(['lint', {str(folder)!r}, '--library', {str(tmp_path / 'none')!r}], standalone_mode=False)\n"
        "print(sorted({'torch', 'open_clip', 'sqlalchemy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
