"""Of variants the plain one is shown, unless another is asked for; of equal drawings that of the preferred set."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest
from conftest import Silent, build_library
from PIL import Image

from indexer.embedding.planning import EmbedOptions
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index
from indexer.rendering.render import draw
from search.engine import Filters, Hit, Query, SearchEngine, Window
from search.query import MOST_ALSO
from search.ranking import order
from search.showing.tables import also

NAMES = (
    "bell", "moon-star", "log-out", "trash", "house", "settings", "phone", "user", "star", "heart", "calendar", "sun",
)  # fmt: skip
OUTLINED = 'fill="none" stroke="currentColor" stroke-width="2"'
LOOKS = {
    **{"": OUTLINED, "-bold": OUTLINED.replace("2", "3"), "-light": OUTLINED.replace("2", "1.5")},
    **{"-thin": OUTLINED.replace("2", "1"), "-fill": 'fill="currentColor"'},
}
WAYS = (
    "log out", "leave this page", "dark mode", "night", "delete", "rubbish", "notifications", "go home", "call",
    "preferences", "favourite", "like", "appointment", "profile", "brightness",
)  # fmt: skip


SAMPLES = bundled("samples/lucide-static")
DRAWN = (
    "bell", "cloud", "ear", "fish", "fishing-rod", "group", "house", "monitor", "screen-share", "user-group", "users",
)  # fmt: skip
ALIKE = {  # set -> its licence, and the drawing of each of its names; where all else is equal the first set is shown
    "few": ("MIT", {"bell": "bell", "cloud": "cloud"}),
    "copyleft": ("GPL-3.0-only", {name: name for name in DRAWN}),
    "thin": ("MIT", {f"{name}-thin": name for name in DRAWN}),
    "many": ("MIT", {name: "cloud-lightning" if name == "cloud" else name for name in DRAWN}),
}


def _body(drawing: str, look: str = OUTLINED) -> str:
    """What a sample draws, in some look."""
    [body] = re.findall("<svg[^>]*>(.*)</svg>", (SAMPLES / "icons" / f"{drawing}.svg").read_text(), re.DOTALL)
    return f"<g {look}>{body}</g>"


def _opened(root: Path, sets: Mapping[str, tuple[str, Mapping[str, str]]]) -> SearchEngine:
    """Sets of Iconify, each with its licence and the body of each icon, indexed with the bundled model."""
    for prefix, (licence, bodies) in sets.items():
        whole = {
            "prefix": prefix,
            "info": {"name": prefix, "license": {"spdx": licence}},
            "width": 24,
            "height": 24,
            "icons": {name: {"body": body} for name, body in bodies.items()},
        }
        (root / f"{prefix}.json").write_text(json.dumps(whole))
    index(
        Library(root / "library"),
        IndexOptions(
            sources=[root / f"{prefix}.json" for prefix in sets],
            devices="cpu",
            embed=EmbedOptions(batch_size=32, workers=0, precision="fp32"),
        ),
        Silent(),
    )
    return SearchEngine.open(root / "library")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """A set in four weights and filled, whose plain icons bear the name alone."""
    icons = {f"{name}{suffix}": _body(name, look) for name in NAMES for suffix, look in LOOKS.items()}
    return _opened(tmp_path_factory.mktemp("weights"), {"ph": ("MIT", icons)})


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    """Sets that have the same icons."""
    return _opened(
        tmp_path_factory.mktemp("alike"),
        {
            prefix: (licence, {name: _body(drawing) for name, drawing in drawn.items()})
            for prefix, (licence, drawn) in ALIKE.items()
        },
    )


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("fishing", ":fishing-rod", ":fish"),  # other sets call both so, and one of them is named so
        ("screen reader", ":screen-share", ":ear"),  # the last of what is drawn for it
        ("bell", "many:bell", ":bell"),  # of the largest set
        ("house", "many:house", ":house"),  # of a permissive licence
        ("monitor", "many:monitor", ":monitor-thin"),  # whose name states no style
        ("cloud", "many:cloud", ":cloud"),  # of the largest set, though lightning is drawn beside it
    ],
)
def test_of_icons_that_answer_alike_people_see_the_usual_one_first(
    alike: SearchEngine, words: str, first: str, second: str
) -> None:
    keys = [hit.key for hit in alike.ask(Query(words=words), window=Window(k=50, min_score=0)).hits]
    assert first in next(key for key in keys if first in key or second in key), keys


def test_beside_an_icon_of_the_very_name_its_set_means_another_thing_by_another_name(tmp_path: Path) -> None:
    sets = {
        "forms": {"checkbox-blank": _body("square"), "checkbox-blank-circle": _body("circle")},
        "apart": {"check-box-blank": _body("square", LOOKS["-light"]), "square": _body("square", LOOKS["-thin"])},
    }
    engine, query = _opened(tmp_path, {prefix: ("MIT", icons) for prefix, icons in sets.items()}), "checkbox unchecked"
    why = [engine.explain(Query(words=query), hit.id).icon for hit in engine.search(query)]
    told = [(icon.hit.key, icon.evidence["words"] > 1, icon.evidence["drawn"] > 0) for icon in why]
    assert told[:2] == [("forms:checkbox-blank", True, False), ("apart:check-box-blank", True, False)]
    assert sorted(told[2:]) == [("apart:square", False, False), ("forms:checkbox-blank-circle", False, False)]


def _names(engine: SearchEngine, query: Query, **filters: tuple[str, ...]) -> list[str]:
    found = engine.ask(query, filters=Filters(**filters), window=Window(k=5, min_score=0))  # type: ignore[arg-type]
    return [hit.name for hit in found.hits]


def test_hits_are_plain_where_no_style_is_asked_or_outlines_are_or_something_is_left_out(engine: SearchEngine) -> None:
    for words in WAYS:
        assert set(_names(engine, Query(words=words))) <= set(NAMES), words
        assert set(_names(engine, Query(words=words), styles=("outline",))) <= set(NAMES), words
        assert set(_names(engine, Query(words=words, without=("bold",)))) <= set(NAMES), words


def test_the_plain_one_has_the_score_of_the_best(engine: SearchEngine) -> None:
    for words in WAYS:
        each = engine.ask(Query(words=words), window=Window(k=1, min_score=0, flat=True)).hits[0]
        first = engine.ask(Query(words=words), window=Window(k=5, min_score=0)).hits[0]
        assert (first.words, first.score) == (each.words, each.score)


@pytest.mark.parametrize(
    ("words", "meaning", "suffixes"),
    [
        *((words, "bell", ["-fill"]) for words in ("filled bell", "bell fill", "solid bell")),
        ("thin outline bell", "bell", ["-thin"]),
        ("bell in thin line style", "bell", ["-thin"]),
        ("bold filled love", "heart", ["-fill"]),
        ("hollow heart", "heart", ["", "-bold", "-light", "-thin"]),
        ("line style trash icon", "trash", ["", "-light", "-thin"]),
        ("filled stars please", "star", ["-fill"]),
        ("i need a solid icon for a user", "user", ["-fill"]),
        ("not outlined heart", "heart", ["-fill", "-bold"]),
        ("unfilled heart", "heart", ["", "-light", "-thin"]),
        ("phones", "phone", [""]),
    ],
)
def test_of_sentences_the_thing_is_found_in_the_style_that_is_asked(
    engine: SearchEngine, words: str, meaning: str, suffixes: list[str]
) -> None:
    hits = engine.ask(Query(words=words)).hits
    assert hits[0].name in [f"{meaning}{suffix}" for suffix in suffixes]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_of_a_weight_that_is_asked_all_else_that_is_near_has_it_too(engine: SearchEngine) -> None:
    assert {hit.name.rpartition("-")[2] for hit in engine.search("thin heart")} == {"thin"}


@pytest.mark.parametrize("words", ["bell bold", "bell-bold", "ph:bell-bold", "BellBold"])
def test_a_name_that_states_its_weight_is_found_as_it_is_spelt(engine: SearchEngine, words: str) -> None:
    hit = engine.search(words)[0]
    assert (hit.name, hit.exact) == ("bell-bold", True)


def test_a_variant_in_a_style_to_be_left_out_stands_for_no_other(engine: SearchEngine) -> None:
    found = engine.ask(Query(words="bell", without=("outline",)), window=Window(k=1)).hits
    assert [(hit.words, "outline" in (hit.style or "")) for hit in found] == [("bell", False)]


@pytest.mark.parametrize("name", ["bell-bold", "trash-fill", "star"])
def test_a_picture_finds_the_variant_that_is_most_like_it(engine: SearchEngine, name: str) -> None:
    assert _names(engine, Query(picture=engine.picture(engine.find(f"ph:{name}"))))[0] == name


OF_SETS = {  # set -> name -> the drawing that it shows
    "alpha": {"house": "house", "bell": "bell", "star": "star"},
    "beta": {"home": "house", "bell": "bell", "villa": "house", "home-outline": "moon"},
    "gamma": {"abode": "house", "sun": "sun"},
    **{f"more{number}": {f"house{number}": "house"} for number in range(4)},
}


@pytest.fixture(scope="module")
def sharing(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[SearchEngine]:
    """Sets that share drawings under several names, and a few bundled samples."""
    place = tmp_path_factory.mktemp("bearers")
    lines = ["file_path,name,set"]
    for of_set, names in OF_SETS.items():
        for name, drawing in names.items():
            copyfile(SAMPLES / "icons" / f"{drawing}.svg", place / f"{drawing}.svg")
            lines.append(f"{drawing}.svg,{name},{of_set}")
    (place / "icons.csv").write_text("\n".join(lines) + "\n")
    samples = place / "samples" / "lucide-static"
    (samples / "icons").mkdir(parents=True)
    copyfile(SAMPLES / "package.json", samples / "package.json")
    for name in ("anchor", "bell", "moon", *(path.stem for path in sorted(SAMPLES.glob("icons/ho*.svg")))):
        copyfile(SAMPLES / "icons" / f"{name}.svg", samples / "icons" / f"{name}.svg")
    build_library(Library(place / "library"), tiny_model, [place / "icons.csv", samples])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "bundled", lambda name: place / name)
        yield SearchEngine.open(place / "library")


def _hits(sharing: SearchEngine, words: str, *prefer: str, sets: tuple[str, ...] = (), flat: bool = False) -> list[Hit]:
    window = Window(k=50, min_score=0, flat=flat)
    return list(sharing.ask(Query(words=words, prefer=prefer), filters=Filters(sets=sets), window=window).hits)


def test_a_drawing_is_one_hit_that_names_the_others(sharing: SearchEngine) -> None:
    house = _hits(sharing, "house")[0]
    assert (house.key, house.exact, house.n_also) == ("alpha:house", True, 9)
    assert len(house.also) == MOST_ALSO == len(set(house.also))
    bell = _hits(sharing, "bell")[0]
    assert {bell.key, *bell.also} == {"alpha:bell", "beta:bell", "lucide-static:bell"}
    assert bell.also[-1] == "lucide-static:bell"  # a sample stands last
    assert (also(bell), also(house)) == (", ".join(bell.also), f"{house.also[0]}, {house.also[1]} +7")


def test_the_icon_of_a_preferred_set_is_shown_though_it_is_called_something_else(sharing: SearchEngine) -> None:
    plain, chosen = _hits(sharing, "house")[0], _hits(sharing, "house", "gamma")[0]
    assert (chosen.key, chosen.exact, chosen.score) == ("gamma:abode", False, plain.score)
    assert "alpha:house" in chosen.also and chosen.n_also == plain.n_also
    assert _hits(sharing, "house", "beta", "gamma")[0].key in ("beta:home", "beta:villa")
    assert _hits(sharing, "house", "gamma", sets=("alpha",))[0].key == "alpha:house"


@pytest.mark.parametrize("prefer", [(), ("beta",), ("gamma", "beta"), ("lucide-static",)])
@pytest.mark.parametrize("words", ["house", "home", "moon", "bell"])
def test_no_icon_comes_twice(sharing: SearchEngine, words: str, prefer: tuple[str, ...]) -> None:
    hits = _hits(sharing, words, *prefer)
    assert len({(hit.set, hit.words) for hit in hits}) == len({hit.image for hit in hits}) == len(hits)


def test_an_icon_that_is_asked_with_is_not_its_own_answer(sharing: SearchEngine) -> None:
    own = sharing.find("gamma:abode")
    hits = sharing.ask(Query(icon=own, prefer=("gamma",)), window=Window(k=50, min_score=0)).hits
    assert own not in {hit.id for hit in hits}
    assert hits[0].image == sharing.show(own).hit.image


def test_of_variants_that_differ_in_their_files_alone_the_cleanest_is_shown(tmp_path: Path, tiny_model: Path) -> None:
    drawn = (bundled("samples/lucide-static") / "icons" / "bell.svg").read_bytes()
    for place, (kind, side, ground) in zip("abcd", FILES, strict=True):
        (tmp_path / "in" / place).mkdir(parents=True)
        on_ground = Image.alpha_composite(
            Image.new("RGBA", (side, side), ground), Image.fromarray(draw(drawn, size=side))
        )
        on_ground.convert("RGBA" if ground == "#0000" else "RGB").save(tmp_path / "in" / place / f"bell.{kind}")
    (tmp_path / "in" / "bell.svg").write_bytes(drawn)
    build_library(Library(tmp_path / "library"), tiny_model, [tmp_path / "in"])
    for query in (Query(words="bell"), Query()):
        engine = SearchEngine.open(tmp_path / "library")
        assert [Path(hit.path).name for hit in engine.ask(query, window=Window(min_score=0)).hits] == ["bell.svg"]
    rows = np.load(engine.generation.facets)
    assert np.argsort(rows["roughness"]).tolist() == [2, 1, 0, 4, 3]
    np.save(engine.generation.facets, rows[[name for name in rows.dtype.names if name != "roughness"]])
    assert SearchEngine.open(tmp_path / "library").ask(Query()).n_found == 1, "as older programs wrote it"


FILES = ("png", 64, "#0000"), ("png", 256, "#0000"), ("jpg", 256, "white"), ("png", 512, "white")
