"""What `icons search`, `show` and `export` write to stdout, to stderr and into files, and with which exit code."""

import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from conftest import disc, index_by_command

from indexer.languages.words import printable
from indexer.library.folder import Library

Run = Callable[..., Result]
ALL = ("--min-score", "0")


def hits(run: Run, *arguments: str | Path, **how: Any) -> list[dict[str, Any]]:
    return json.loads(run("search", *arguments, "--json", **how).stdout)["hits"]


def keys(run: Run, *arguments: str | Path, **how: Any) -> set[str]:
    return {hit["key"] for hit in hits(run, *arguments, *ALL, "-k", "50", **how)}


def test_a_table_has_rank_score_key_set_style_and_licence(run: Run) -> None:
    done = run("search", "house", *ALL, "-k", "3")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["#", "score", "key", "set", "style", "licence"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert 0 <= float(rows[0].split()[1]) <= 1 and rows[0].split()[2] in ("own:house", "other:house")
    assert "--offset 3 goes on" in done.stderr and "--offset" not in done.stdout
    assert run("search", "house", *ALL, "--offset", "2").stdout.splitlines()[1].split()[0] == "3"
    browsed = run("search", "--set", "own", "--sort", "name", "--facets").stdout.splitlines()
    assert browsed[0].split() == ["#", "key", "set", "style", "licence"] and "found by" in "".join(browsed)
    assert [row.split()[1] for row in browsed[1:4]] == ["own:arrow-left", "own:arrow-right", "own:house"]


def test_long_has_files_and_variants_on_lines_of_their_own(run: Run, asked: Path) -> None:
    lines = run("search", "arrow left", "--set", "own", "--long").stdout.splitlines()
    assert lines[0].split()[2] == "own:arrow-left"
    assert lines[1].strip().startswith("own, ") and lines[1].endswith("MIT, 2 variants")
    assert lines[2].strip().startswith(str(asked.parent / "icons"))
    assert "arrow-left-filled" in run("search", "arrow left", "--set", "own", "--flat", *ALL, "--long").stdout


def test_json_is_one_answer_with_the_names_of_the_http_api(run: Run) -> None:
    from search.web.answers import SearchAnswer

    names = {field.name for field in fields(SearchAnswer)}  # type: ignore[arg-type]
    for command in (("house",), ("--like", "own:house"), ("--set", "own")):
        [printed] = run("search", *command, "--json", "--facets", *ALL, "-k", "2").stdout.splitlines()
        answer = json.loads(printed)
        assert set(answer) == names and len(answer["hits"]) <= 2
    assert {one["value"]: one["n"] for one in answer["facets"]["set"]} == {"own": 3}
    assert (answer["query"], answer["n_found"], answer["spelled"]) == ("", 3, None)
    nothing = run("search", "house", "--keyword", "--set", "own", "--only", "tag=west", "--json")
    answer = json.loads(nothing.stdout)
    assert (nothing.exit_code, answer["query"], answer["hits"], answer["n_found"]) == (1, "house", [], 0)


def test_an_svg_is_printed_byte_for_byte_unpacked_and_a_bitmap_is_refused(run: Run, asked: Path) -> None:
    icons = asked.parent / "icons"
    assert run("show", "own:arrow-left", "--svg").stdout_bytes.removesuffix(b"\n") in {
        path.read_bytes() for path in icons.glob("*.svg")
    }
    assert run("show", "other:packed", "--svg").stdout_bytes.strip() == gzip.decompress(
        (icons / "packed.svgz").read_bytes()
    )
    bitmap = run("show", "other:logo", "--svg")
    assert (bitmap.exit_code, bitmap.stdout, '"other:logo" is no SVG' in bitmap.stderr) == (2, "", True)
    assert "`icons export` copies it as it is" in bitmap.stderr


@pytest.mark.parametrize("before", ["", '<?xml version="1.0"?>\n<!-- a house -->\n'])
def test_a_pasted_svg_finds_its_icon(run: Run, asked: Path, before: str) -> None:
    drawing = (asked.parent / "icons" / "house.svg").read_text()
    assert hits(run, before + drawing, "-k", "1")[0]["key"] == "own:house"
    assert hits(run, "--image", "-", "-k", "1", *ALL, given=drawing.encode())[0]["key"] == "own:house"
    broken = run("search", "<svg >no picture")
    assert (broken.exit_code, broken.stdout) == (2, "") and 'picture "pasted SVG" can\'t be' in broken.stderr


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("--set other --licence copyleft", {"other:house", "other:logo"}),
        ("--license GPL-3.0-only", {"other:house", "other:logo"}),
        ("--only tag=Home", {"own:house"}),
        ("--only category=places", {"own:house"}),
        ("--only size=24 --set own", {"own:house"}),
        ("--only coloured=yes", {"other:logo"}),
        ("--only coloured=yes --only animated=yes", set()),
        ("--only tag=Home --only tag=west --only coloured=no", {"own:house", "own:arrow-left"}),
    ],
)
def test_filters_hold(run: Run, options: str, found: set[str]) -> None:
    assert keys(run, "arrow", *options.split()) == found


def test_icons_like_one_leave_it_out(run: Run) -> None:
    found = hits(run, "--like", "own:house", *ALL)
    assert found and "own:house" not in {hit["key"] for hit in found}


def test_show_has_all_that_is_known(run: Run, asked: Path) -> None:
    shown = run("show", "own:arrow-left").stdout
    facts = ("own:arrow-left-filled", "arrows", "back, west", "MIT (permissive)", str(asked.parent), "variants")
    assert [fact for fact in facts if fact not in shown] == []
    assert len(json.loads(run("show", "own:arrow-left", "own:house", "--json").stdout)) == 2


def test_a_source_that_has_gone_or_changed_stops_no_table_and_is_not_given_out(
    run: Run, own: Path, tmp_path: Path
) -> None:
    house, sheet = tmp_path / "icons" / "house.svg", tmp_path / "sheet.html"
    house.write_text('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')
    changed = run("show", "own:house", "--svg", library=own)
    house.unlink()
    gone = run("show", "own:house", "--svg", library=own)
    for done in (changed, gone):
        assert (done.exit_code, done.stdout, "run `icons index`" in done.stderr) == (2, "", True)
    done = run("search", "house", "--set", "own", *ALL, "--sheet", sheet, library=own)
    assert done.exit_code == 0 and f'Warning: "{house}" can\'t be read' in done.stderr
    assert "gone" in sheet.read_text()


NOTHING = [
    (["house", "--keyword", "--set", "own", "--only", "tag=west"], 'nothing found for "house" with these filters\n'),
    (["a query that no icon means", "--min-score", "1"], "--min-score 0 shows what is nearest"),
    (["house", *ALL, "--offset", "500"], "--offset 500 leaves out all of them"),
]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        *NOTHING,
        ([], "say what to look for"),
        (["   "], "say what to look for"),
        (["house", "-k", "0"], "0 is not in the range 1<=x<=10000"),
        (["house", "-k", "1000000"], "1000000 is not in the range 1<=x<=10000"),
        (["house", "-k", "many"], "'many' is not a valid integer"),
        (["house", "-k", "6000", "--offset", "6000"], 'k "6000" at offset "6000"'),
        (["house", "--offset", "-1"], "-1 is not in the range"),
        (["house", "--min-score", "1.5"], "1.5 is not in the range 0<=x<=1"),
        (["house", "--set", "othr"], 'no set "othr" in this library; near: other'),
        (["house", "--style", "fild"], 'no style "fild" in this library; near: filled'),
        (["house", "--style", "thin"], 'no style "thin" in this library; the most frequent are '),
        (["house", "--sort", "size"], "'size' is not one of 'relevance', 'name', 'set', 'newest'"),
        (["house", "--only", "corner=round"], 'no corner "round" in this library: no icon of it states one'),
        (["house", "--only", "tag=hom"], 'no tag "hom" in this library; near: home'),
        (["house", "--only", "category=arow"], 'no category "arow" in this library; near: arrows'),
        (["house", "--licence", "GPL"], 'no licence "GPL" in this library; near: '),
        (["house", "--only", "size=0"], '"size=0" is none of category=NAME, tag=TAG'),
        (["house", "--only", "animated=perhaps"], '"animated=perhaps" is none of '),
        (["house", "--only", "colour=red"], '"colour=red" is none of '),
        (["house", "--image", "shot.png", "--like", "own:house"], "--image and --like are two things to look like"),
        (["house", "--sheet", "hits.pdf"], '"hits.pdf" ends neither in .html nor in .png'),
        (["house", "--sheet", "/proc/hits.png"], '"/proc/hits.png" can\'t be written'),
        (["--image", "/nowhere.png"], '"/nowhere.png" can\'t be read: No such file or directory'),
        (["--image", "/proc"], "File '/proc' is a directory"),
        (["--image", __file__], f'"{__file__}" can\'t be looked for: not a picture'),
        (["--image", "/dev/zero"], '"/dev/zero" can\'t be read: it has more than 67 MB'),
        (["--image", "/dev/null"], '"/dev/null" can\'t be looked for: empty file'),
        (["--like", "own:hous"], 'no icon "own:hous" in this library; near: own:house'),
    ],
)
def test_nothing_found_is_exit_code_1_wrong_input_2_with_an_empty_stdout_and_a_reason(
    run: Run, arguments: list[str], reason: str
) -> None:
    done = run("search", *arguments)
    assert (done.exit_code, done.stdout) == (1 if (arguments, reason) in NOTHING else 2, ""), done.output
    assert reason in done.stderr


@pytest.mark.parametrize("command", [["search", "house"], ["search", "--like", "own:house"], ["show", "own:house"]])
def test_a_library_that_is_missing_or_of_an_older_schema_says_what_to_run(
    run: Run, copied: Path, tmp_path: Path, command: list[str]
) -> None:
    manifest = Library(copied).generation(1).manifest
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema": "0000"}))
    for library, told in ((tmp_path / "none", "`icons index SOURCE` builds one"), (copied, '"0000"')):
        done = run(*command, library=library)
        assert (done.exit_code, done.stdout) == (2, "") and told in done.stderr and "`icons" in done.stderr


# Whatever is printed leads back


NAMES = (
    "42",
    "7",
    "a:b",
    "mdi:home",
    " edges ",
    "arrow-up-filled",
    "ArrowUp_24px",
    "tab\there",
    "back\\slash",
    "#3",
    "x#1",
)


@pytest.fixture(scope="module")
def oddly_named(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Path:
    """A set and its copy under another key: every name stands for two icons."""
    folder = tmp_path_factory.mktemp("oddly")
    bodies = {name: {"body": f'<path d="M2 2h{n + 4}v{n + 3}z"/>'} for n, name in enumerate(NAMES)}
    for prefix in ("odd", "even"):
        (folder / f"{prefix}.json").write_text(json.dumps({"prefix": prefix, "icons": bodies}), "utf-8")
    return index_by_command(folder / "odd.json", folder / "library", tiny_model)


@pytest.mark.parametrize("name", NAMES)
def test_show_takes_every_name_as_search_prints_it_and_every_key(run: Run, oddly_named: Path, name: str) -> None:
    options = (name, *ALL, "-k", "50")
    hit = next(found for found in hits(run, *options, library=oddly_named) if found["name"] == name)
    assert printable(name).strip() in run("search", *options, library=oddly_named).stdout
    for spelling in (name, printable(name), hit["key"]):
        shown = json.loads(run("show", "--json", "--", spelling, library=oddly_named).stdout)
        assert shown["hit"]["name"] == name


def test_an_icon_that_shares_set_and_name_has_its_number_in_its_key(run: Run, tmp_path: Path, tiny_model: Path) -> None:
    for place, x in (("a", 4), ("b", 9)):
        (tmp_path / "twice" / place).mkdir(parents=True)
        (tmp_path / "twice" / place / "bell.svg").write_text(disc(x, 12))
    library = index_by_command(tmp_path / "twice", tmp_path / "library", tiny_model)
    found = hits(run, "bell", "--flat", *ALL, library=library)
    assert sorted(hit["key"] for hit in found) == ["twice:bell", f"twice:bell#{max(hit['id'] for hit in found)}"]
    for hit in found:
        assert json.loads(run("show", hit["key"], "--json", library=library).stdout)["hit"]["id"] == hit["id"]


CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


def test_a_query_is_read_in_english_and_the_environment_decides_where_a_word_is_two_languages(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    found = run("search", "Pfeil links", "--long")
    assert found.stderr.startswith("Pfeil links: arrow left") and found.stderr.splitlines()[0].endswith("(German)")
    assert "arrow-left" in found.stdout.splitlines()[0]
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert json.loads(run("search", "chat", *ALL, "--json").stdout)["read_as"] == CAT
    why = run("search", "chat", "--why", "own:house").stdout.splitlines()
    assert why[:2] == ["chat: cat, chat (French)", "asked: cat"]
    for language in ("C.UTF-8", "german", "en_GB"):  # some systems still call de_DE.ISO8859-1 "german"
        monkeypatch.setenv("LANG", language)
        assert json.loads(run("search", "chat", *ALL, "--json").stdout)["read_as"] is None


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
    assert 'id="own-house"' in sprite and 'id="other-house"' in sprite and '<use href="signs.svg#' in done.stderr
    assert done.stderr.splitlines()[-2:] == ["wrote img/signs.svg", "wrote img/signs.licences.md"]


def test_a_collection_is_exported_again_into_its_folder_and_keeps_its_code_points(run: Run, tmp_path: Path) -> None:
    first = run("export", "own:house", "own:arrow-left", "--as", "font", "-o", "font")
    assert {path.name for path in (tmp_path / "font").iterdir()} == {
        *("icons.woff2", "icons.ttf", "icons.css", "icons.html"),
        *("LICENCES.md", "collection.json"),
    }
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


@pytest.mark.parametrize(
    ("place", "is_killed"),
    [("font", False), ("font", True), ("font.zip", False), ("icons-font", False), ("icons-font", True)],
)
def test_code_points_stay_wherever_a_font_is_exported_again(run: Run, place: str, is_killed: bool) -> None:
    as_font = ("--as", "font", *(() if place == "icons-font" else ("-o", place)))
    assert run("export", "own:house", "own:arrow-left", *as_font).exit_code == 0
    if is_killed:  # between the two renames of a replacement
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
