"""A search finds icons by the look that was seen, under all of its names."""

from pathlib import Path

import pytest
from conftest import build_library, svg

from indexer.errors import IconsError
from indexer.library.folder import Library
from search.engine import SearchEngine
from search.query import Filters, Query, Window

STAR = "M12 2l3 7h7l-5.5 4.5 2 7.5-6.5-4.5-6.5 4.5 2-7.5L2 9h7z"
BODIES = {
    "outline": f'<path d="{STAR}" fill="none" stroke="black" stroke-width="1.5"/>',
    "filled": f'<path d="{STAR}"/>',
    "duotone": f'<path d="{STAR}" opacity=".3"/><path d="{STAR}" fill="none" stroke="black" stroke-width="1.5"/>',
    "color": f'<circle cx="12" cy="12" r="11" fill="#2196f3"/><path d="{STAR}" fill="#ffc107"/>'
    '<circle cx="12" cy="12" r="3" fill="#e53935"/>',
}
ALL = Window(k=20, min_score=0, flat=True)


@pytest.fixture(scope="module")
def engine(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """A star of each look, whose names do not say so, and a filled one that states to be sharp."""
    folder = tmp_path_factory.mktemp("stars")
    lines = ["file_path,name,set,style"]
    for look, body in {**BODIES, "sharp": BODIES["filled"].replace("M12 2", "M12 1")}.items():
        (folder / f"{look}.svg").write_text(svg(body))
        lines.append(f"{look}.svg,star,of-{look},{'sharp' if look == 'sharp' else ''}")
    (folder / "icons.csv").write_text("\n".join(lines) + "\n")
    build_library(Library(folder / "library"), tiny_model, [folder / "icons.csv"])
    return SearchEngine.open(folder / "library")


def _sets(engine: SearchEngine, words: str = "star", **filters: tuple[str, ...]) -> set[str]:
    answer = engine.ask(Query(words=words), filters=Filters(**filters), window=ALL)  # type: ignore[arg-type]
    return {hit.set.removeprefix("of-") for hit in answer.hits}


@pytest.mark.parametrize(
    ("style", "found"),
    [
        *((style, {"filled", "sharp"}) for style in ("filled", "Fill", "solid", "FILLED")),
        *((style, {"outline"}) for style in ("outline", "line", "regular", "stroke", "outlined")),
        *((style, {"duotone"}) for style in ("duotone", "two-tone", "twotone", "two tone")),
        *((style, {"color"}) for style in ("color", "colour", "flat colour")),
        *((style, {"sharp"}) for style in ("sharp filled", "solid sharp")),
    ],
)
def test_a_style_is_found_by_any_of_its_names(engine: SearchEngine, style: str, found: set[str]) -> None:
    assert _sets(engine, styles=(style,)) == found


def test_corners_hold_beside_styles(engine: SearchEngine) -> None:
    assert _sets(engine, corners=("sharp",)) == {"sharp"}
    assert _sets(engine, styles=("outline",), corners=("sharp",)) == set()
    assert _sets(engine, styles=("outline", "duotone")) == {"outline", "duotone"}


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (Filters(styles=("fild",)), 'no style "fild" in this library; near: filled'),
        (Filters(styles=("sharp thin",)), 'no style "sharp thin" in this library; the most frequent are '),
        (Filters(corners=("round",)), 'no corner "round" in this library; the most frequent are sharp'),
    ],
)
def test_an_unknown_style_is_refused(engine: SearchEngine, filters: Filters, message: str) -> None:
    with pytest.raises(IconsError, match=message):
        engine.ask(Query(words="star"), filters=filters)


def test_counts_are_those_of_the_filters_and_hits_say_all_of_their_style(engine: SearchEngine) -> None:
    counted = {kind: {facet.value: facet.n for facet in facets} for kind, facets in engine.facets().items()}
    styles = {"filled": 2, "outline": 1, "duotone": 1, "color": 1}
    assert (counted["style"], counted["corner"]) == (styles, {"sharp": 1})
    answer = engine.ask(Query(words="star"), window=Window(k=20, min_score=0, flat=True, facets=True))
    assert {facet.value: facet.n for facet in answer.facets["style"]} == counted["style"]
    styles = {hit.set.removeprefix("of-"): hit.style for hit in answer.hits}
    assert styles == {**{look: look for look in BODIES}, "sharp": "sharp filled"}


@pytest.mark.parametrize(
    ("words", "look"),
    [("filled star", "filled"), ("star solid", "filled"), ("outlined star", "outline"), ("two-tone star", "duotone")],
)
def test_a_style_beside_a_name_is_the_look_that_was_seen(engine: SearchEngine, words: str, look: str) -> None:
    answer = engine.ask(Query(words=words), window=ALL)
    assert [hit for hit in answer.hits if hit.exact] == [
        hit for hit in answer.hits if look in (hit.style or "").split()
    ]
    assert look in (answer.hits[0].style or "")


def test_what_is_called_a_border_looks_as_its_picture_does_among_filled_icons_and_a_stated_style_is_shown_first(
    tiny_model: Path, tmp_path: Path
) -> None:
    arrow = '<path d="M4 12h16M14 6l6 6-6 6" fill="none" stroke="black" stroke-width="2"/>'
    bodies = {
        f"disc-{letter}": f'<circle cx="12" cy="12" r="{9 + n / 20}"/>'
        for n, letter in enumerate("abcdefghijklmnopqrst")
    }
    bodies |= {f"disc-{letter}-filled": f'<circle cx="13" cy="12" r="{8 - n}"/>' for n, letter in enumerate("abcdef")}
    bodies |= {"arrow-go": arrow, "arrow-border": arrow.replace("M4", "M5")}
    for name, body in bodies.items():
        (tmp_path / f"{name}.svg").write_text(svg(body))
    lines = ["file_path,name,set", *(f"{name}.svg,{name},one" for name in bodies)]
    (tmp_path / "icons.csv").write_text("\n".join(lines) + "\n")
    build_library(Library(tmp_path / "library"), tiny_model, [tmp_path / "icons.csv"])
    engine = SearchEngine.open(tmp_path / "library")
    assert [engine.show(engine.find(f"one:arrow-{end}")).hit.style for end in ("go", "border")] == ["filled", "outline"]
    for letter in "abcdef":
        assert engine.search(f"filled disc {letter}")[0].name == f"disc-{letter}-filled"
