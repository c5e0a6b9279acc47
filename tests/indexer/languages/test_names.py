"""Names of files are read as words, style and size, as all names of a set tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.languages.words import (
    Affixes,
    Name,
    asked_style,
    common_affixes,
    normalise,
    parse,
    path_hints,
    split,
    stated_look,
    with_look,
)

SUBJECTS = ("Home", "MarkForRedaction", "AddCircle", "Search", "ArrowRight", "Sun", "Lock", "Folder", "User", "Trash")


def read(names: list[str], name: str) -> Name:
    return parse(name, common_affixes(names))


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("arrow-right-24px", ["arrow", "right", "24", "px"]),
        ("ArrowRight18", ["arrow", "right", "18"]),
        ("S2_Icon_AddCircle_20_N", ["s2", "icon", "add", "circle", "20", "n"]),
        ("PDFFile", ["pdf", "file"]),
        ("ExportPDFs", ["export", "pdfs"]),
        ("3DRotate", ["3d", "rotate"]),
        ("2fa", ["2fa"]),
        ("Video4K", ["video", "4k"]),
        ("h1 mp3 html5 a11y", ["h1", "mp3", "html5", "a11y"]),
        ("python3", ["python", "3"]),
        ("Sha256", ["sha256"]),
        ("Add24Filled", ["add", "24", "filled"]),
        ("iPhoneApp", ["iphone", "app"]),
        ("GitHubLogo", ["github", "logo"]),
        ("ic:baseline-home", ["ic", "baseline", "home"]),
        ("what's new.final", ["whats", "new", "final"]),
        ("c++ C# google+", ["c++", "c#", "google+"]),
        ("ÉcoleVerte", ["école", "verte"]),
        ("ﬁle", ["file"]),
        ("हिन्दी", ["हिन्दी"]),
        ("--", []),
    ],
)
def test_a_name_is_split_into_tokens(name: str, tokens: list[str]) -> None:
    assert split(name) == tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, "arrow left") for text in ("arrowLeft", "arrow-left", "Arrow Left", " arrow  left!", "arrow.left")),
        *(("ARROW_LEFT", "arrow left"), ("!", "!"), ("->", "->"), ("? !", "?!"), ("c++", "c++"), ("C#", "c#")),
        *(("❤️", "❤️"), ("❤ red", "red"), (" ", "")),
    ],
)
def test_spellings_of_one_name_normalise_alike_and_a_query_of_signs_is_kept(text: str, expected: str) -> None:
    assert normalise(text) == expected


@settings(deadline=None)
@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@settings(deadline=None)
@given(st.text(min_size=1), st.lists(st.text(max_size=12), max_size=12))
def test_words_are_never_empty(name: str, others: list[str]) -> None:
    words = read([name, *others], name).words
    assert words
    assert words == words.strip()


ACME = [f"acme-{chr(97 + i // 26)}{chr(97 + i % 26)}x-thing" for i in range(120)]


@pytest.mark.parametrize(
    ("names", "affixes", "name", "expected"),
    [
        (
            [f"SDC_{subject}_18_N" for subject in SUBJECTS],
            Affixes(("sdc",), ("n",), is_sized=True),
            "SDC_MarkForRedaction_18_N",
            Name("mark for redaction", None, 18),
        ),
        # A meaning stays.
        ([f"arrow-{way}" for way in SUBJECTS], Affixes(is_sized=False), "arrow-up", Name("arrow up")),
        (ACME, Affixes(("acme",), ("thing",), is_sized=False), "acme-bell-thing", Name("bell")),
        (
            [name.replace("acme", "flag") for name in ACME],
            Affixes((), ("thing",), is_sized=False),
            "flag-a",
            Name("flag a"),
        ),
    ],
)
def test_codes_common_to_a_set_and_long_words_before_everything_are_dropped(
    names: list[str], affixes: Affixes, name: str, expected: Name
) -> None:
    assert common_affixes(names) == affixes
    assert read(names, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ArrowRight18", Name("arrow right", None, 18)),
        ("arrow-right-filled", Name("arrow right", "filled")),
        ("arrow_right_24px", Name("arrow right", None, 24)),
        ("arrow-right-24x24", Name("arrow right", None, 24)),
        ("arrow-right@2x", Name("arrow right")),
        ("home-outline", Name("home", "outline")),
        ("home-24-outline", Name("home", "outline", 24)),
        ("home-two-tone", Name("home", "twotone")),
        ("ArrowLeft24Filled", Name("arrow left", "filled", 24)),
        ("light-bulb", Name("light bulb")),
        ("chart-line", Name("chart line")),
        ("arrow-up-circle", Name("arrow up circle")),
        ("outlined-flag", Name("outlined flag")),
        ("forward-30", Name("forward 30")),
        ("light-filled", Name("light", "filled")),
        ("bold", Name("bold")),
        ("24", Name("24")),
        ("24px", Name("24 px")),
        ("outline", Name("outline")),
        ("outline-24", Name("outline 24")),
        ("!", Name("!")),
        ("", Name("unnamed")),
    ],
)
def test_a_name_alone_is_read_with_care(name: str, expected: Name) -> None:
    assert parse(name) == expected


def test_an_ambiguous_word_is_a_style_where_the_set_says_so() -> None:
    subjects = ("sun", "moon", "home", "traffic-light", "user", "lock", "arrow-up", "chart-line")
    names = [f"{subject}{style}" for subject in subjects for style in ("", "-light", "-bold", "-fill")]
    affixes = common_affixes(names)
    assert affixes.styles == {"light", "bold", "fill"}
    assert parse("sun-light", affixes) == Name("sun", "light")
    assert parse("traffic-light-light", affixes) == Name("traffic light", "light")
    assert parse("traffic-light-fill", affixes) == Name("traffic light", "filled")
    assert parse("chart-line-fill", affixes) == Name("chart line", "filled")


def test_an_ambiguous_word_stays_a_word_where_the_set_is_about_it() -> None:
    lamps = [f"{lamp}-light" for lamp in ("ceiling", "traffic", "desk", "street", "night", "flash")]
    assert read([*lamps, "sofa", "chair", "table", "bed", "door", "window"], "traffic-light") == Name("traffic light")


def test_styles_are_combined_where_the_set_combines_them() -> None:
    styles = ("", "-rounded", "-sharp", "-outline", "-outline-rounded", "-outline-sharp")
    names = [f"{subject}{style}" for subject in SUBJECTS for style in styles]
    affixes = common_affixes(names)
    assert parse("Home-outline-sharp", affixes) == Name("home", "sharp outline")
    assert parse("Home-sharp-rounded", affixes) == Name("home sharp", "rounded")


def test_numbers_are_sizes_only_in_a_set_of_sizes() -> None:
    sized = [f"{subject}-{size}-regular" for subject in SUBJECTS for size in (16, 20, 24)]
    assert read(sized, "Home-20-regular") == Name("home", None, 20)
    turned = [*sized, *(f"home-rotate-{angle}-24-regular" for angle in range(30, 360, 15))]  # what stands before a size
    assert read(turned, "home-rotate-90-24-regular") == Name("home rotate 90", None, 24)
    unsized = [*SUBJECTS, "battery-20", "battery-50", "battery-80"]
    assert read(unsized, "battery-20") == Name("battery 20")
    assert read(unsized, "ArrowRight18") == Name("arrow right", None, 18)


@pytest.mark.parametrize(
    ("name", "style", "size", "expected"),
    [
        ("sun-light", "light", None, Name("sun", "light")),
        ("home-24", "Filled", 16, Name("home", "filled", 16)),
        ("home-outline", "sharp", None, Name("home", "sharp outline")),
        ("home", "24 Filled", None, Name("home", "filled", 24)),
        ("home", "Hand Drawn", None, Name("home", "hand drawn")),
        ("home", "Outlined Sharp", None, Name("home", "sharp outline")),
        ("home", "sharp-outline", None, Name("home", "sharp outline")),
        ("home", "Solid 20x20", None, Name("home", "filled", 20)),
        ("home", "Regular", None, Name("home")),
        *((odd, None, None, Name(odd.replace("-", " "))) for odd in ("9" * 5000, f"star{'9' * 5000}", "star-²", "١٢")),
    ],
)
def test_what_the_source_states_wins(name: str, style: str | None, size: int | None, expected: Name) -> None:
    assert parse(name, style=style, size=size).style == expected.style
    assert parse(name, style=style, size=size).size == expected.size


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("outline",), ("outline", None)),
        (("24px", "filled"), ("filled", 24)),
        (("24", "solid"), ("filled", 24)),
        (("svg", "32x32", "navigation"), (None, 32)),
        (("light bulbs", "regular"), (None, None)),
        ((), (None, None)),
    ],
)
def test_folders_that_name_only_a_look_state_it(
    parts: tuple[str, ...], expected: tuple[str | None, int | None]
) -> None:
    assert path_hints(parts) == expected


@pytest.mark.parametrize(
    ("asked", "style"),
    [
        *((text, "filled") for text in ("filled", "Fill", "solid")),
        *((text, "outline") for text in ("outlined", "line", "regular", "stroke")),
        *((text, "duotone") for text in ("duotone", "duo", "two-tone", "Two Tone")),
        *((text, "color") for text in ("color", "colours", "flat colour")),
        ("Sharp solid", "sharp filled"),
        ("round", "rounded"),
        ("broken", "broken"),
        ("normal", ""),
    ],
)
def test_styles_are_asked_for_under_several_names(asked: str, style: str) -> None:
    assert asked_style(asked) == style


@pytest.mark.parametrize(
    ("styles", "look", "whole"),
    [
        ("sharp filled", "filled", "sharp filled"),
        ("rounded twotone", "duotone", "rounded duotone"),
        ("duotone outline", "duotone", "duotone outline"),
        ("linear", "outline", "linear outline"),
        ("bold", None, "bold"),
        (None, None, None),
    ],
)
def test_the_look_is_one_of_four_of_the_styles(styles: str | None, look: str | None, whole: str | None) -> None:
    assert stated_look(styles) == look
    assert with_look(styles, look) == whole
