"""What does `icons lint` print, write and exit with?"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import svg
from lint_icons import copy_samples, text_of

from search.cli import main
from search.linting.lint import RULES

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
