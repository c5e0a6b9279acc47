"""Where icons are used: asked, and by command."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from known_screens import save_screen
from PIL import Image

from indexer.errors import LibraryError
from search.engine import SearchEngine
from search.pictures import pixels_of
from search.query import Filters, Query
from search.screens.opened import UsageIndex, asked_for, uses_of_icon, uses_of_picture, uses_of_words
from search.screens.results import Uses
from search.screens.usage_page import report


def places(found: Uses) -> dict[str, int]:
    return dict(Counter(Path(use.file).name for use in found.uses))


def of_icon(uses: UsageIndex, engine: SearchEngine, key: str) -> Uses:
    return uses_of_icon(uses, engine, engine.find(key))


def of_words(uses: UsageIndex, engine: SearchEngine, words: str, **options: Filters) -> Uses:
    return uses_of_words(uses, engine, Query(words=words, languages=("en",)), **options)


def test_an_icon_is_found_wherever_it_is_used_on_light_and_dark_ground(uses: UsageIndex, engine: SearchEngine) -> None:
    found = of_icon(uses, engine, "ours:search")
    assert places(found) == {"a.png": 1, "b.png": 2} and (found.n_found, found.n_screens) == (3, 2)
    assert {use.icon for use in found.uses} == {"ours:search"}
    box = next(use.box for use in found.uses if use.file.endswith("a.png"))
    assert (box.left, box.top) == pytest.approx((183, 73), abs=2)


def test_what_is_called_the_same_in_another_set_is_told_apart(uses: UsageIndex, engine: SearchEngine) -> None:
    assert places(of_icon(uses, engine, "ours:bell")) == {"b.png": 1}
    assert places(of_icon(uses, engine, "theirs:bell")) == {"c.png": 2}
    nowhere = of_icon(uses, engine, "theirs:house")
    assert nowhere.uses == [] and nowhere.best < 0.5


@pytest.mark.parametrize(
    ("words", "icon", "where"),
    [("warning", "ours:triangle-alert", "a.png"), ("delete", "ours:trash-2", "b.png"), ("home", "ours:house", "a.png")],
)
def test_words_find_the_icons_that_mean_it(
    uses: UsageIndex, engine: SearchEngine, words: str, icon: str, where: str
) -> None:
    first = of_words(uses, engine, words).uses[0]
    assert (first.icon, Path(first.file).name) == (icon, where)


def test_a_filter_chooses_among_the_icons_that_words_mean(uses: UsageIndex, engine: SearchEngine) -> None:
    assert {"ours:bell", "theirs:bell"} <= {use.icon for use in of_words(uses, engine, "bell").uses}
    assert places(of_words(uses, engine, "bell", filters=Filters(sets=("theirs",)))) == {"c.png": 2}


def test_a_picture_finds_what_looks_like_it(uses: UsageIndex, engine: SearchEngine, used: Path, tmp_path: Path) -> None:
    crop = tmp_path / "crop.png"
    with Image.open(used.parent / "shots/a.png") as image:
        image.crop((174, 64, 210, 100)).save(crop)  # the search icon
    found = uses_of_picture(uses, engine, pixels_of(crop.read_bytes(), name="crop", size=engine.image_size), k=3)
    assert (places(found), found.uses[0].icon) == ({"a.png": 1, "b.png": 2}, None)


def test_vectors_of_two_encoders_are_not_compared(uses: UsageIndex, engine: SearchEngine) -> None:
    other = UsageIndex(uses.generation, replace(uses.manifest, fingerprint="0123456789abcdef"))
    with pytest.raises(LibraryError, match="another encoder"):
        of_icon(other, engine, "ours:search")


def test_the_report_counts_what_is_ours_what_is_not_and_what_is_drawn_in_several_ways(
    uses: UsageIndex, engine: SearchEngine
) -> None:
    reported = report(uses, engine, ["ours"], progress=lambda *_: None)
    used = {one.icon: (one.n, one.n_screens) for one in reported.used}
    assert (used["ours:search"], used["ours:heart"], reported.n_screens) == ((3, 2), (1, 1), 3)
    assert {"ours:settings", "ours:bell", "ours:trash-2", "ours:calendar", "ours:house"} <= used.keys()
    assert reported.used[0].icon == "ours:search"
    (foreign,), (bell,) = reported.foreign, reported.several
    assert (foreign.icon, foreign.n, foreign.ours.startswith("ours:")) == ("theirs:bell", 2, True)
    assert [Path(use.file).name for use in foreign.examples] == ["c.png"] and (bell.words, bell.n) == ("bell", 3)
    assert {way.icon for way in bell.ways} == {"ours:bell", "theirs:bell"}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("where do we show a warning", "warning"),
        ("Where is the trash can used?", "trash can"),
        ("On which screens are arrows shown?", "arrows"),
        ("where do we", "where do we"),
        ("where am I", "where am I"),
        ("warning", "warning"),
    ],
)
def test_a_question_asks_for_what_stands_in_it(words: str, what: str) -> None:
    assert asked_for(words) == what


Ask = Callable[..., Result]


def test_what_is_no_command_is_asked_for(ask: Ask) -> None:
    short, long = ask("ours:search"), ask("find", "ours:search")
    told = (short.exit_code, short.stdout, short.stdout.count("ours:search"), "3 places on 2 screens" in short.stderr)
    assert told == (0, long.stdout, 3, True)


def test_json_has_boxes_files_and_how_sure_each_is(ask: Ask, used: Path) -> None:
    answer = json.loads(ask("ours:heart", "--json").stdout)
    (use,) = answer["uses"]
    assert (answer["n_found"], answer["n_screens"], answer["generation"]) == (1, 1, 1)
    where = (use["file"], use["width"], use["height"], len(use["box"]))
    assert where == (str(used.parent / "shots/a.png"), 640, 160, 4) and 0.5 < use["score"] <= answer["best"] + 1e-6


def test_exit_codes_tell_nothing_from_errors(ask: Ask, tmp_path: Path) -> None:
    nothing = ask("theirs:house")
    assert (nothing.exit_code, nothing.stdout) == (1, "") and 'no use of "theirs:house" was found' in nothing.stderr
    assert ask("theirs:house", "--min-score", "0").exit_code == 0
    near = ask("ours:search", "--min-score", "0.999")
    assert (near.exit_code, "--min-score shows it" in near.stderr) == (1, True)
    unknown = ask("ours:nothing-like-it")
    wrong = [unknown, ask("find"), ask("status", library=tmp_path / "none")]
    assert [one.exit_code for one in wrong] == [2, 2, 2] and "no icon" in unknown.stderr


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
