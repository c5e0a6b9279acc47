import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from usage_screens import save_screen

Ask = Callable[..., Result]


def test_what_is_no_command_is_asked_for(ask: Ask) -> None:
    short, long = ask("ours:search"), ask("find", "ours:search")
    assert (short.exit_code, short.stdout, short.stdout.count("ours:search")) == (0, long.stdout, 3)
    assert "3 places on 2 screenshots" in short.stderr


def test_json_has_boxes_files_and_how_sure_each_is(ask: Ask, used: Path) -> None:
    answer = json.loads(ask("ours:heart", "--json").stdout)
    (use,) = answer["uses"]
    assert (answer["n_found"], answer["n_screens"], answer["generation"]) == (1, 1, 1)
    assert use["file"] == str(used.parent / "shots/a.png")
    assert (use["width"], use["height"], len(use["box"])) == (640, 160, 4)
    assert 0.5 < use["score"] <= answer["best"] + 1e-6


def test_exit_codes_tell_nothing_from_errors(ask: Ask, tmp_path: Path) -> None:
    nothing = ask("theirs:house")
    assert (nothing.exit_code, nothing.stdout) == (1, "") and 'no use of "theirs:house" was found' in nothing.stderr
    assert ask("theirs:house", "--min-score", "0").exit_code == 0
    near = ask("ours:search", "--min-score", "0.999")
    assert (near.exit_code, "--min-score shows it" in near.stderr) == (1, True)
    unknown = ask("ours:nothing-like-it")
    assert (unknown.exit_code, "no icon" in unknown.stderr) == (2, True)
    assert ask("find").exit_code == 2
    assert ask("status", library=tmp_path / "none").exit_code == 2


@pytest.mark.slow
def test_the_page_frames_icons_and_shows_the_crop_of_a_screenshot_that_has_gone(
    ask: Ask, used: Path, tmp_path: Path
) -> None:
    shots = used.parent / "shots"
    assert ask("ours:search", "--html", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text()
    assert (page.count('<div class="framed"'), page.count("<i style="), page.count("<script")) == (2, 3, 0)
    (shots / "b.png").rename(shots / "away")
    try:
        ask("ours:search", "--html", tmp_path / "page.html")
    finally:
        (shots / "away").rename(shots / "b.png")
    page = (tmp_path / "page.html").read_text()
    assert page.count('<div class="framed"') == 1 and "The file has gone" in page


def test_the_report_is_a_table_a_page_and_json(ask: Ask, tmp_path: Path) -> None:
    done = ask("report", "--set", "ours", "--html", tmp_path / "report.html")
    assert done.exit_code == 0
    assert "not from ours: 1" in done.stdout and "theirs:bell  ours: ours:" in done.stdout
    page = (tmp_path / "report.html").read_text()
    assert "Drawn in several ways" in page and "theirs:bell" in page
    told = json.loads(ask("report", "--set", "ours", "--json").stdout)
    assert [one["icon"] for one in told["foreign"]] == ["theirs:bell"]
    assert told["used"][0]["examples"][0]["box"]


@pytest.mark.slow
def test_screenshots_are_added_told_and_removed(ask: Ask, used: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(used, tmp_path / "library")
    more = save_screen(tmp_path / "more/d.png", ["house"]).parent
    (more / "broken.png").write_bytes(b"no picture")
    added = json.loads(ask("add", more, "--no-crops", "--json", library=copied).stdout)
    assert (added["counts"]["found"], added["counts"]["failed"], added["generation"]) == (5, 1, 2)
    status = json.loads(ask("status", "--json", library=copied).stdout)
    assert (status["crops"], [place["files"] for place in status["places"]]) == (False, [3, 2])
    assert ask("failures", library=copied).stdout == f"{more}/broken.png\tnot a picture\n"
    removed = json.loads(ask("remove", more, "--json", library=copied).stdout)
    assert (removed["counts"]["found"], removed["generation"]) == (3, 3)
    assert "not among the screenshots" in ask("remove", more, library=copied).stderr
