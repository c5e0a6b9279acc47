"""Names are found by their words, and the look of an icon is seen as a person sees it, alone and by its set."""

from pathlib import Path

import numpy as np
import pytest
from conftest import svg

from indexer.errors import LibraryError
from indexer.languages.words import LOOKS
from indexer.library.traits import NOT_KNOWN, Ink
from indexer.merging.facets import likelihoods, name_styles
from indexer.merging.lexicon import STATED_SHARE, Lexicon, stems
from indexer.rendering.render import render

NAMES = [
    (3, "arrow left", "", ""),
    (5, "arrow right", "", ""),
    (9, "batteries", "power ; left", ""),
    (12, "c++", "", ""),
]
ICONS = [(3, 1), (3, 7), (5, 2), (9, 4), (12, 5)]


@pytest.fixture
def lexicon(tmp_path: Path) -> Lexicon:
    Lexicon.of_keywords(NAMES, ICONS).save(tmp_path / "lexicon")
    return Lexicon.open(tmp_path / "lexicon")


def test_coverage_is_the_weight_of_the_words_that_a_name_bears_or_is_told(lexicon: Lexicon) -> None:
    arrow, left = (float(lexicon.weights[lexicon.place(word)]) for word in ("arrow", "left"))
    expected = [1, arrow / (arrow + left), STATED_SHARE * left / (arrow + left), 0]
    assert lexicon.coverage("left arrow") == pytest.approx(expected)
    assert lexicon.coverage("left unheard") == pytest.approx(
        [left / (left + 1), 0, STATED_SHARE * left / (left + 1), 0]
    )


def test_function_words_count_where_there_are_no_others(lexicon: Lexicon) -> None:
    assert lexicon.coverage("an arrow of the left").tolist() == lexicon.coverage("arrow left").tolist()
    assert lexicon.coverage("of the").tolist() == [0, 0, 0, 0]


def test_stems_are_those_of_the_keyword_index(lexicon: Lexicon) -> None:
    assert stems("battery arrows") == ("batteri", "arrow")
    assert lexicon.coverage("battery").argmax() == 2
    assert lexicon.coverage("c++").tolist() == [0, 0, 0, 1]


def test_the_best_icons_are_those_whose_short_names_cover_most(lexicon: Lexicon) -> None:
    assert lexicon.best_icons(lexicon.coverage("arrow left"), most=10).tolist() == [1, 7, 2, 4]
    assert lexicon.best_icons(lexicon.coverage("arrow left"), most=1).tolist() == [1]
    assert lexicon.best_icons(lexicon.coverage("nothing"), most=10).tolist() == []


def test_a_word_is_known_in_any_form_that_a_name_or_a_tag_bears(lexicon: Lexicon) -> None:
    assert [word for word in ("battery", "powers", "arrow", "c++", "c", "arro") if lexicon.knows(word)] == [
        "battery", "powers", "arrow", "c++",
    ]  # fmt: skip


def test_a_damaged_lexicon_says_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "lexicon").write_bytes(b"half")
    with pytest.raises(LibraryError, match="`icons index` builds a new generation"):
        Lexicon.open(tmp_path / "lexicon")


RING = '<circle cx="12" cy="12" r="9" fill="none" stroke="black" stroke-width="2"/>'
HOUSE = '<path d="M3 11l9-8 9 8v10h-6v-7H9v7H3z" fill="none" stroke="black" stroke-width="2"/>'
DISC = '<circle cx="12" cy="12" r="10"/>'
SHIELD = '<path d="M12 1l9 4v7c0 5-4 9-9 11-5-2-9-6-9-11V5z"/>'
ARROW = '<path d="M4 12h16M13 5l7 7-7 7" fill="none" stroke="black" stroke-width="2"/>'
DUOTONE = f'<circle cx="12" cy="12" r="9" opacity=".3"/>{RING}'
FLAT = (
    '<circle cx="12" cy="12" r="10" fill="#2196f3"/><rect x="6" y="8" width="12" height="9" fill="#ffc107"/>'
    '<rect x="9" y="4" width="6" height="6" fill="#4caf50"/>'
)
UNKNOWN = [NOT_KNOWN] * len(Ink._fields)


def _ink(*bodies: str) -> np.ndarray:
    return np.array([render(svg(body).encode(), size=64).ink for body in bodies], np.int8)


def _named(*bodies: str, stated: list[str | None] | None = None) -> list[str | None]:
    return name_styles(stated or [None] * len(bodies), np.zeros(len(bodies), np.int32), _ink(*bodies))


@pytest.mark.parametrize(
    ("body", "look"),
    [
        (RING, "outline"),
        (HOUSE, "outline"),
        (ARROW, "outline"),
        (DISC, "filled"),
        (SHIELD, "filled"),
        (DUOTONE, "duotone"),
        (FLAT, "color"),
    ],
)
def test_a_picture_alone_shows_its_look(body: str, look: str) -> None:
    [likely] = likelihoods(_ink(body))
    assert LOOKS[int(likely.argmax())] == look
    assert likely.sum() == pytest.approx(1)
    assert _named(body) == [look]


def test_an_arrow_is_as_the_others_of_its_set_are() -> None:
    assert _named(*[DISC, SHIELD] * 15, ARROW)[-1] == "filled"
    assert _named(*[RING, HOUSE] * 15, ARROW)[-1] == "outline"
    assert _named(*[RING, DISC] * 15, ARROW)[-1] == "outline"
    assert _named(*[RING, HOUSE] * 15, DISC)[-1] == "filled", "what is clear is not changed"
    assert _named(*[FLAT] * 30, DISC)[-1] == "filled", "what shows no colour is no picture in colours"
    stated = [*[None] * 30, *["bold"] * 31]  # a group of its own
    assert _named(*[RING, HOUSE] * 15, *[DISC, SHIELD] * 15, ARROW, stated=stated)[-1] == "bold filled"


def test_sets_do_not_meddle_with_each_other() -> None:
    bodies = [*[DISC, SHIELD] * 15, ARROW, *[RING, HOUSE] * 15, ARROW]
    named = name_styles([None] * 62, np.repeat([4, 9], 31), _ink(*bodies))
    assert (named[30], named[61]) == ("filled", "outline")


def test_a_stated_look_is_kept_and_other_styles_stand_beside_the_one_that_is_seen() -> None:
    stated: list[str | None] = ["filled", "sharp twotone", "rounded", "linear", "color"]
    expected = ["filled", "sharp duotone", "rounded filled", "linear outline", "color"]
    assert _named(RING, RING, DISC, DISC, RING, stated=stated) == expected


def test_without_measures_only_what_is_stated_is_known() -> None:
    ink = np.array([UNKNOWN, UNKNOWN, *_ink(DISC).tolist()], np.int8)
    assert name_styles([None, "sharp outline", None], np.zeros(3, np.int32), ink) == [None, "sharp outline", "filled"]
    assert name_styles([], np.zeros(0, np.int32), np.zeros((0, len(Ink._fields)), np.int8)) == []
