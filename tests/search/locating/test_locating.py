"""Icons found in screenshots, as data and by command."""

import json
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from known_screens import KEYS, saved, screen

from data.making.eval.components import connected_components
from indexer.arrays import Pixels
from indexer.screens import located
from indexer.screens.located import Locator, crops
from search.cli import main
from search.engine import SearchEngine
from search.generation.opened import Opened
from search.query import Filters, Query, Window
from search.ranking.order import set_priority
from search.screens import locate
from search.screens.locate import name_crops, reading_order


def test_every_icon_of_a_screen_is_named_row_by_row(engine: SearchEngine) -> None:
    found = engine.locate(screen(engine))
    assert [icon.hits[0].name for icon in found.icons] == KEYS
    assert (found.kind, found.n_found, found.is_cut) == ("screen", 8, False)
    first = found.icons[0].box
    assert (first.left, first.top) == pytest.approx((31, 71), abs=2) and 20 <= first.right - first.left <= 24


@pytest.mark.parametrize("sets", [("lucide",), ("thin",)])
def test_every_crop_is_answered_as_a_picture_query_is_under_the_same_filter(
    engine: SearchEngine, sets: tuple[str, ...]
) -> None:
    pixels, only = screen(engine), Filters(sets=sets)
    found = engine.locate(pixels, k=5, filters=only)
    corners = np.array([icon.box for icon in found.icons], np.float32)
    for icon, crop in zip(found.icons, crops(pixels, corners, size=engine.image_size), strict=True):
        asked = engine.ask(Query(picture=crop), window=Window(k=5), filters=only).hits
        assert [(hit.key, hit.also) for hit in icon.hits] == [(hit.key, hit.also) for hit in asked] != []
        assert [hit.score for hit in icon.hits] == pytest.approx([hit.score for hit in asked], abs=2e-3)


def test_where_fewer_are_looked_at_first_the_same_are_found_under_a_filter(
    engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels, only = screen(engine), Filters(sets=("thin",))
    compared = engine.locate(pixels, filters=only)
    monkeypatch.setattr(locate, "N_NEAREST", 1)
    monkeypatch.setattr(locate, "STEP", 2)
    assert [icon.hits[0] for icon in engine.locate(pixels, filters=only, k=1).icons] == [
        icon.hits[0] for icon in compared.icons
    ]


def test_the_set_that_most_icons_of_a_screen_are_of_names_what_another_has_as_well(engine: SearchEngine) -> None:
    keys = [f"{key}:{name}" for key in ("lucide", "thin") for name in KEYS[:4]]

    def named(opened: Opened) -> list[list[str]]:
        images = np.array([hit.image for hit in engine.hits([engine.find(key) for key in keys])])
        ours, thin = np.split(np.stack([opened.pictures.reconstruct(images[[place]])[0] for place in range(8)]), 2)
        between = 0.48 * ours[:1] + 0.52 * thin[:1]  # nearly of length 1
        screens, sets = (between, np.concatenate([between, ours[1:]])), set_priority(opened, ())
        return [[hits[0].set for hits in name_crops(opened, one, Filters(), sets, k=3)] for one in screens]

    assert engine.with_generation(named) == [["thin"], ["lucide"] * 4]


def test_equal_crops_are_encoded_once(engine: SearchEngine) -> None:
    seen: list[int] = []

    class Counting:
        image_size = engine.image_size

        def encode_many_pictures(self, pixels: Pixels) -> np.ndarray:
            seen.append(len(pixels))
            return engine.with_generation(lambda opened: opened.encoder.encode_many_pictures(pixels))

    pixels = screen(engine, ["star"] * 8)
    found = Locator(connected_components, None).locate(pixels, Counting())  # type: ignore[arg-type]
    assert (found.n_found, seen) == (8, [1]) and (found.vectors == found.vectors[0]).all()


def test_the_user_says_what_a_picture_is(engine: SearchEngine) -> None:
    bar = np.ascontiguousarray(screen(engine, ["star"])[62:102, 22:62])
    found, [icon] = engine.locate(bar), engine.locate(bar, as_kind="screen").icons
    assert (found.kind, tuple(found.icons[0].box), found.icons[0].score) == ("icon", (0, 0, 40, 40), 1.0)
    assert tuple(icon.box) != (0, 0, 40, 40) and icon.hits[0].name == "star"
    [whole] = engine.locate(screen(engine), as_kind="icon").icons
    assert tuple(whole.box) == (0, 0, 640, 240)


def test_a_limit_says_so(engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(located, "MOST_ICONS", 5)
    found = engine.locate(screen(engine))
    assert (len(found.icons), found.n_found, found.is_cut) == (5, 8, True)


def test_one_row_is_read_from_left_to_right() -> None:
    corners = [[50, 12, 70, 32], [10, 10, 30, 30], [12, 60, 28, 70], [90, 8, 110, 40], [60, 58, 80, 72]]
    assert reading_order(np.array(corners, np.float32)).tolist() == [1, 0, 3, 2, 4]
    assert reading_order(np.zeros((0, 4), np.float32)).tolist() == []


Run = Callable[..., Result]


@pytest.fixture(scope="module")
def shot(engine: SearchEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(screen(engine), tmp_path_factory.mktemp("shots") / "shot.png")


@pytest.fixture
def run(samples: Path) -> Run:
    def locating(*arguments: object) -> Result:
        told = ["locate", *map(str, arguments), "--library", str(samples)]
        return CliRunner().invoke(main, told, env={"COLUMNS": "80"})

    return locating


def test_a_table_has_a_line_an_icon(run: Run, shot: Path) -> None:
    done = run(shot, "--set", "lucide")
    head, *lines = done.stdout.splitlines()
    assert (done.exit_code, head.split()) == (0, ["at", "size", "score", "key", "or"])
    told = [(line.split()[3], float(line.split()[2]) > 0.9) for line in lines]
    assert told == [(f"lucide:{name}", True) for name in KEYS]


def test_json_is_what_the_engine_says(run: Run, shot: Path, engine: SearchEngine) -> None:
    told = json.loads(run(shot, "--json", "-k", 2, "--set", "thin").stdout)
    assert (told["file"], told["kind"], told["width"], told["n_found"]) == (str(shot), "screen", 640, 8)
    found = [(icon["hits"][0]["key"], len(icon["hits"]) <= 2) for icon in told["icons"]]
    assert found == [(f"thin:{name}", True) for name in KEYS]


def test_a_broken_file_among_many_is_told_and_the_rest_goes_on(run: Run, shot: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(shot.read_bytes()[:200])
    done = run(broken, shot, tmp_path / "gone.png", "--json")
    lines = json.loads(done.stdout)
    assert [line["file"] for line in lines] == [str(broken), str(shot), str(tmp_path / "gone.png")]
    error = f'no icons can be found in "{broken}": truncated PNG'
    assert (done.exit_code, lines[0]["error"], lines[1]["n_found"]) == (2, error, 8)
    assert f'"{lines[2]["file"]}" can\'t be read: No such file' in done.stderr


def test_a_broken_file_alone_is_one_line(run: Run, tmp_path: Path) -> None:
    white = saved(np.full((200, 300, 3), 255, np.uint8), tmp_path / "white.png")
    told = f'Error: no icons can be found in "{white}": of one colour all over, so it shows no icon\n'
    for place, said in ((white, told), (tmp_path, f'Error: "{tmp_path}" can\'t be read: Is a directory\n')):
        done = run(place)
        assert (done.exit_code, done.stdout) == (2, "") and done.stderr.endswith(said)


def test_a_picture_without_icons_is_answered_with_one(run: Run, tmp_path: Path) -> None:
    photo = np.stack([*np.meshgrid(*(2 * [np.linspace(0, 255, 400)])), np.full((400, 400), 90)], axis=-1)
    file = saved(photo.astype(np.uint8), tmp_path / "photo.png")
    done, told = run(file), f'no icons in "{file}"; --as icon takes it for one icon\n'
    assert (done.exit_code, done.stdout) == (1, "") and done.stderr.endswith(told)


def test_one_icon_is_answered_as_a_search_by_picture(run: Run, engine: SearchEngine, tmp_path: Path) -> None:
    icon = tmp_path / "bell.svg"
    icon.write_bytes(engine.picture(engine.find("lucide:bell")))
    done = run(icon, "--json")
    told = json.loads(done.stdout)
    searched = engine.ask(Query(picture=icon.read_bytes()), window=Window(k=5)).hits
    assert (told["kind"], [hit["key"] for hit in told["icons"][0]["hits"]]) == ("icon", [hit.key for hit in searched])
    assert done.stderr.endswith(f'"{icon}" is taken for one icon; --as screen looks for several in it\n')


@pytest.mark.slow
def test_what_is_found_is_written_as_code_row_by_row(run: Run, shot: Path) -> None:
    done = run(shot, "--format", "lucide-react", "--size", 20)
    first, blank, *uses = done.stdout.splitlines()
    names = ["Heart", "Search", "Settings", "Bell", "Trash2", "Download", "Calendar", "Star"]
    assert (first, blank) == (f'import {{ {", ".join(names)} }} from "lucide-react";', "")
    assert uses[1::2] == [f"<{name} size={{20}} />" for name in names]
    assert all(use.startswith("{/* at ") for use in uses[::2])
    assert done.stderr == "to install: npm install lucide-react\n"
    assert run(shot, "--format", "svg").stdout.count("<svg") == len(KEYS)
    assert run(shot, "--format", "@mdi/js").exit_code == 2  # the library has no set that it serves


def test_a_page_holds_all_that_it_shows(run: Run, shot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", lambda url: opened.append(url) or 0)
    page = tmp_path / "found.html"
    done = run(shot, "--html", page, "--open", "--set", "lucide")
    assert (done.exit_code, opened) == (0, [page.as_uri()]), done.output
    html = page.read_text("utf-8")
    assert html.count('class="frame sure"') == len(KEYS)
    assert html.count("http") == html.count("http-equiv")  # nothing is fetched
    assert all(f"<code>lucide:{name}</code>" in html for name in KEYS)
