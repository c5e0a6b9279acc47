"""What does `icons lint` print, write and exit with?"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
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
        given = ["lint", "--library", str(tmp_path / "no-library"), *map(str, arguments)]
        return CliRunner().invoke(main, given)

    return run


def test_findings_are_grouped_by_rule_within_80_columns(lint: Run, odd: Path) -> None:
    done = lint(odd)
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:3] == [
        "identical  1 warning",
        "  2 icons show the same picture: album-2, album",
        "  mend: keep one, and let the other names lead to it",
    ]
    assert lines[4:6] == [
        "stroke-width  1 warning",
        "  house                        stroke-width is 1.5; 32 of 33 icons have 2",
    ]
    assert lines[-1] == "2 findings in 33 icons"


def test_long_tells_the_files(lint: Run, odd: Path) -> None:
    assert str(odd / "house.svg") in lint(odd, "--long", "--rule", "stroke-width").stdout


def test_a_sound_folder_exits_with_0(lint: Run, tmp_path: Path) -> None:
    done = lint(copy_samples(tmp_path / "icons", 30))
    assert (done.exit_code, done.stdout) == (0, "nothing found in 30 icons\n")


def test_json_has_all_findings_with_icons_and_files(lint: Run, odd: Path) -> None:
    told = json.loads(lint(odd, "--json").stdout)
    assert (told["n_icons"], told["n_findings"], told["counts"]) == (33, 2, {"identical": 1, "stroke-width": 1})
    thin = told["findings"][1]
    assert thin["icons"] == [{"key": "icons:house", "path": str(odd / "house.svg")}]
    assert thin["severity"] == "warning"
    assert len(thin["beside"]) == 1
    assert thin["beside"] != thin["icons"]


def test_rules_can_be_chosen_and_left_out(lint: Run, odd: Path) -> None:
    assert json.loads(lint(odd, "--json", "--rule", "identical").stdout)["counts"] == {"identical": 1}
    assert json.loads(lint(odd, "--json", "--without-rule", "identical").stdout)["counts"] == {"stroke-width": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to look at; give a folder of icons"),
        (("--rule", "stroke", "."), '"stroke" is no rule; there are broken, blank, identical'),
        (("no-such-folder",), '"no-such-folder" does not exist'),
        (("--long", "--max", "3", "."), "--long shows all findings, and --max some"),
    ],
)
def test_what_can_not_be_done_exits_with_2(lint: Run, arguments: tuple[str, ...], message: str) -> None:
    done = lint(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_max_says_how_many_more_there_are(lint: Run, tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 30)
    for number in range(5):
        (folder / f"house-{number}.svg").write_text(text_of("house").replace('cap="round"', 'cap="butt"'))
    lines = lint(folder, "--rule", "line-cap", "--max", "2").stdout.splitlines()
    assert lines[0] == "line-cap  5 warnings"
    assert lines[3] == "  ... and 3 more; --long shows all"


def test_what_a_folder_accepts_is_left_out_and_counted(lint: Run, odd: Path) -> None:
    (odd / ".iconslint").write_text('[accept]\nidentical = ["album*"]\nstroke-width = ["house"]\n')
    done = lint(odd)
    assert (done.exit_code, done.stdout) == (0, "nothing found in 33 icons; 2 accepted\n")


def test_of_icons_that_are_alike_all_but_one_have_to_be_accepted(lint: Run, odd: Path) -> None:
    (odd / ".iconslint").write_text('[accept]\nidentical = ["album-2"]\n')
    assert json.loads(lint(odd, "--json").stdout)["counts"] == {"stroke-width": 1}


def test_an_exception_that_accepts_nothing_is_told(lint: Run, odd: Path) -> None:
    (odd / ".iconslint").write_text('[accept]\nidentical = ["album-2", "gone-*"]\n')
    assert 'Warning: the exception "identical: gone-*" accepts nothing' in lint(odd).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[accept]\nstrokes = ["a"]', '"strokes" is no rule'),
        ('[accept]\nname = "a"', '"name" is no list of names'),
        ('[ignore]\nname = ["a"]', '"ignore", which is unknown'),
        ("accept = 1", '"accept" is no table'),
        ("[accept", "can't be read"),
    ],
)
def test_a_wrong_file_of_exceptions_is_an_error(lint: Run, odd: Path, text: str, message: str) -> None:
    (odd / ".iconslint").write_text(text)
    done = lint(odd)
    assert done.exit_code == 2
    assert message in done.stderr
    assert ".iconslint" in done.stderr


def test_the_page_holds_every_picture_and_runs_nothing(lint: Run, odd: Path, tmp_path: Path) -> None:
    (odd / "menu.svg").write_text(text_of("menu").replace("</svg>", "<script>alert(1)</script></svg>"))
    (odd / "shrimp.svg").write_text("<svg")
    done = lint(odd, "--html", tmp_path / "lint.html")
    page = (tmp_path / "lint.html").read_text("utf-8")
    assert f"wrote {tmp_path / 'lint.html'}" in done.stderr
    assert "default-src 'none'" in page
    assert "stroke-width is 1.5; 33 of 34 icons have 2" in page
    assert page.count("<figure") == page.count("<img") + page.count('class="gone"')
    assert "<script" not in page
    assert 'src="data:image/png' in page  # what holds a script is drawn


def test_names_of_strangers_can_not_write_html_or_steer_a_terminal(lint: Run, tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 30)
    (folder / "a\x1b[31m<b>.svg").write_text(text_of("house").replace('cap="round"', 'cap="butt"'))
    done = lint(folder, "--rule", "line-cap", "--html", tmp_path / "lint.html")
    assert "\x1b" not in done.stdout
    assert "&lt;b&gt;" in (tmp_path / "lint.html").read_text("utf-8")


def test_a_page_that_can_not_be_written_is_an_error(lint: Run, odd: Path, tmp_path: Path) -> None:
    done = lint(odd, "--rule", "stroke-width", "--html", tmp_path / "icons" / "house.svg" / "lint.html")
    assert done.exit_code == 2
    assert "--html" in done.stderr


def test_a_set_of_a_library_is_looked_at_with_its_encoder(run: Run) -> None:
    told = json.loads(run("lint", "--set", "own", "--json").stdout)
    assert (told["sets"], told["n_icons"]) == (["own"], 4)
    assert json.loads(run("lint", "--set", "own", "--set", "other", "--json").stdout)["n_icons"] == 8


def test_an_unknown_set_is_an_error(run: Run) -> None:
    done = run("lint", "--set", "nobody")
    assert done.exit_code == 2
    assert '"nobody"' in done.stderr


def test_the_rules_can_be_listed(lint: Run) -> None:
    done = lint("--rules")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(RULES)


def test_neither_torch_nor_sqlalchemy_is_imported(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 12)
    program = (
        "import sys; from search.cli import main\n"
        f"main(['lint', {str(folder)!r}, '--library', {str(tmp_path / 'none')!r}], standalone_mode=False)\n"
        "print(sorted({'torch', 'open_clip', 'sqlalchemy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
