"""What does `icons export` write, refuse and say?"""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_icons_go_into_a_zip_named_after_the_collection(run: Run, tmp_path: Path) -> None:
    done = run("export", "own:house", "logo", "--name", "My page")
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert done.stderr.splitlines() == [
        '"logo" is "other:logo"',
        "other (GPL-3.0-only): its icons may put what you build with them under their licence",
        "2 icons; 2 sets; 1 copyleft",
        "wrote my-page.zip",
    ]
    with zipfile.ZipFile(tmp_path / "my-page.zip") as archive:
        assert archive.namelist() == [
            "my-page/LICENCES.md",
            "my-page/collection.json",
            "my-page/icons/other-logo.png",
            "my-page/icons/own-house.svg",
        ]


def test_hits_on_stdin_become_a_sprite(run: Run, tmp_path: Path) -> None:
    hits = run("search", "house", "--json", "--min-score", "0", "-k", "2").stdout
    done = run("export", "-", "--as", "sprite", "-o", "img/signs.svg", given=hits)
    assert done.exit_code == 0, done.output
    sprite = (tmp_path / "img" / "signs.svg").read_text()
    assert 'id="own-house"' in sprite and 'id="other-house"' in sprite
    assert '<use href="signs.svg#' in done.stderr
    assert done.stderr.splitlines()[-2:] == ["wrote img/signs.svg", "wrote img/signs.licences.md"]


def test_a_collection_is_exported_again_into_its_folder_and_keeps_its_code_points(run: Run, tmp_path: Path) -> None:
    first = run("export", "own:house", "own:arrow-left", "--as", "font", "-o", "font")
    assert {path.name for path in (tmp_path / "font").iterdir()} == {
        *("icons.woff2", "icons.ttf", "icons.css", "icons.html"),
        *("LICENCES.md", "collection.json"),
    }
    refused = run("export", "own:house", "--as", "font", "-o", "font")
    assert '"font" is there already; choose another --out, or --replace what an export wrote there' in refused.stderr
    again = run("export", "own:arrow-right", "own:arrow-left", "--as", "font", "-o", "font", "--replace")
    kept = json.loads((tmp_path / "font" / "collection.json").read_text())
    assert [(icon["key"], icon["code_point"]) for icon in kept["icons"]] == [
        ("own:arrow-right", 0xE002),
        ("own:arrow-left", 0xE001),
    ]
    assert kept["taken_code_points"] == {"own:house": 0xE000}
    from_file = run("export", "--from", "font/collection.json", "--as", "iconify", "--prefix", "app", "-o", "app.json")
    assert (first.exit_code, again.exit_code, from_file.exit_code) == (0, 0, 0)
    assert list(json.loads((tmp_path / "app.json").read_text())["icons"]) == ["own-arrow-right", "own-arrow-left"]
    assert not list(tmp_path.glob(".aside*"))


FOREIGN: dict[str, Callable[[Path], object]] = {
    "work.txt": lambda file: file.write_text("mine"),
    "src/own.ts": lambda file: file.write_text("mine"),
    "notes": lambda file: file.mkdir(),
    "LICENCES.md": lambda file: file.rename("elsewhere.md") and file.symlink_to("../elsewhere.md"),
}
"""What somebody has put into the folder of an export, or changed there."""


@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_that_no_export_wrote_is_replaced(run: Run, tmp_path: Path, name: str) -> None:
    as_package = ("export", "own:house", "--as", "react", "-o", "package")
    assert run(*as_package).exit_code == 0
    FOREIGN[name](tmp_path / "package" / name)
    refused = run(*as_package, "--replace")
    assert (refused.exit_code, f'"package" holds "{name}", which no export wrote' in refused.stderr) == (2, True)
    assert (tmp_path / "package" / name).exists()


@pytest.mark.parametrize("place", ["font", "font.zip", "icons-font"])
@pytest.mark.parametrize("is_killed", [False, True])
def test_code_points_stay_wherever_a_font_is_exported_again(run: Run, place: str, is_killed: bool) -> None:
    as_font = ("--as", "font", *(() if place == "icons-font" else ("-o", place)))
    assert run("export", "own:house", "own:arrow-left", *as_font).exit_code == 0
    if is_killed and Path(place).is_dir():  # between the two renames of a replacement
        Path(place).rename(f".aside-gone-{place}")
        assert "is there already" in run("export", "own:arrow-left", *as_font).stderr
        Path(place).rename(f".aside-gone-{place}")
        Path(place).mkdir()  # as scripts make it before
    again = run("export", "own:arrow-left", *as_font, "--replace")
    assert again.exit_code == 0, again.output
    run("export", "own:house", "own:arrow-left", *as_font, "--replace")
    files = Path(place)
    if place.endswith(".zip"):
        zipfile.ZipFile(place).extractall()
        files = Path("icons")
    kept = json.loads((files / "collection.json").read_text())["icons"]
    assert {icon["key"]: icon["code_point"] for icon in kept} == {"own:house": 0xE000, "own:arrow-left": 0xE001}
    assert not list(Path().glob(".aside*"))


def test_no_file_is_replaced_unless_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    for name in ("icons.zip", "photos.zip", "sprite.licences.md"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "link.zip").symlink_to("photos.zip")
    of_sprite = ("--as", "sprite", "-o", "sprite.svg")
    for how in ((), ("-o", "photos.zip"), ("-o", "link.zip"), of_sprite):
        refused = run("export", "own:house", *how)
        assert "is there already; choose another --out, or --replace" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("icons.zip", "link.zip", "photos.zip", "sprite.licences.md"),
    ]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
    assert run("export", "own:house", *of_sprite, "--replace").exit_code == 0
    assert "own:house" in (tmp_path / "sprite.licences.md").read_text()
    assert run("export", "own:house", "-o", "link.zip", "--replace").exit_code == 0
    assert (tmp_path / "link.zip").is_symlink() and zipfile.is_zipfile(tmp_path / "photos.zip")


def test_a_folder_of_an_export_is_replaced_behind_a_link_and_never_where_somebody_works(
    run: Run, tmp_path: Path
) -> None:
    run("export", "own:house", "--as", "react", "-o", "package")
    (tmp_path / "link").symlink_to("package")
    again = run("export", "own:arrow-left", "--as", "react", "-o", "link", "--replace")
    assert again.exit_code == 0 and (tmp_path / "link").is_symlink(), again.output
    assert "own:arrow-left" in (tmp_path / "package" / "collection.json").read_text()
    for place in (".", "..", "/", "package/..", str(tmp_path)):
        refused = run("export", "own:house", "--as", "react", "-o", place, "--replace")
        assert f'"{Path(place)}" is the working directory, or above it' in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "package"]


def test_what_can_not_be_exported_is_refused_or_left_out_with_the_reason(run: Run, tmp_path: Path) -> None:
    refused = run("export", "own:house", "other:logo", "own:nothing", "--as", "sprite")
    assert "2 icons can't be exported so" in refused.stderr and "it is a bitmap" in refused.stderr
    assert (refused.exit_code, list(tmp_path.iterdir())) == (2, [])
    done = run("export", "own:house", "other:logo", "--as", "sprite", "--skip-unreadable", "--json")
    told = json.loads(done.stdout)
    assert told["icons"] == ["own:house"] and told["licences"] == "1 set"
    assert told["left_out"][0]["key"] == "other:logo"
    assert sorted(Path(path).name for path in told["written"]) == [
        *("LICENCES.md", "collection.json", "example.html", "sprite.svg"),
    ]


@pytest.mark.parametrize(
    ("arguments", "given", "reason"),
    [
        ((), None, "name icons, as lucide:bell"),
        (("own:nothing", "-o", "x.json"), None, '"x.json" is there already; choose another --out'),
        (
            *(("own:house", "other:house", "--as", "iconify", "-o", "y.json"), None),
            '"y.json" can\'t hold all of this iconify; choose a folder with --out, or --prefix',
        ),
        (("own:house", "--colour", "colour"), None, 'colour is "colour"; give a name or a number'),
        (("own:house", "--from", "x.json"), None, "two ways to name icons"),
        (("-",), "", "the collection is empty"),
        (("-",), '{"icons": [3]}', '"icons.0.key" may not be 3'),
        (("own:house", "--prefix", "My Icons", "--as", "font"), None, "use small letters"),
        (("own:house", "--size", "32", "--as", "font"), None, "size is for zip, react"),
        (("own:house", "--colour", "navy", "--as", "font"), None, "a font takes the colour of the text"),
    ],
)
def test_bad_input_is_refused(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], given: str | None, reason: str
) -> None:
    (tmp_path / "x.json").write_text('["own:house"]')
    done = run("export", *arguments, given=given)
    assert done.exit_code == 2 and reason in done.stderr.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
