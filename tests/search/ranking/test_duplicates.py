"""Of icons with one drawing that of the preferred set is shown, and the others are named."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from conftest import build_library

from indexer.library.bundled import bundled
from indexer.library.folder import Library
from search.engine import Filters, Hit, Query, SearchEngine, Window
from search.ranking import order
from search.results import MOST_ALSO
from search.showing.tables import also

SAMPLES = bundled("samples/lucide-static")
OF_SETS = {  # set -> name -> the drawing that it shows
    "alpha": {"house": "house", "bell": "bell", "star": "star"},
    "beta": {"home": "house", "bell": "bell", "villa": "house", "home-outline": "moon"},
    "gamma": {"abode": "house", "sun": "sun"},
    **{f"more{number}": {f"house{number}": "house"} for number in range(4)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[SearchEngine]:
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


def _hits(engine: SearchEngine, words: str, *prefer: str, sets: tuple[str, ...] = (), flat: bool = False) -> list[Hit]:
    window = Window(k=50, min_score=0, flat=flat)
    return list(engine.ask(Query(words=words, prefer=prefer), filters=Filters(sets=sets), window=window).hits)


def test_a_drawing_is_one_hit_that_names_the_others(engine: SearchEngine) -> None:
    house = _hits(engine, "house")[0]
    assert (house.key, house.exact, house.n_also) == ("alpha:house", True, 9)
    assert len(house.also) == MOST_ALSO == len(set(house.also))
    bell = _hits(engine, "bell")[0]
    assert {bell.key, *bell.also} == {"alpha:bell", "beta:bell", "lucide-static:bell"}
    assert bell.also[-1] == "lucide-static:bell"  # a sample stands last
    assert (also(bell), also(house)) == (", ".join(bell.also), f"{house.also[0]}, {house.also[1]} +7")


def test_the_icon_of_a_preferred_set_is_shown_though_it_is_called_something_else(engine: SearchEngine) -> None:
    plain, chosen = _hits(engine, "house")[0], _hits(engine, "house", "gamma")[0]
    assert (chosen.key, chosen.exact, chosen.score) == ("gamma:abode", False, plain.score)
    assert "alpha:house" in chosen.also and chosen.n_also == plain.n_also
    assert _hits(engine, "house", "beta", "gamma")[0].key in ("beta:home", "beta:villa")
    assert _hits(engine, "house", "gamma", sets=("alpha",))[0].key == "alpha:house"


@pytest.mark.parametrize("prefer", [(), ("beta",), ("gamma", "beta"), ("lucide-static",)])
@pytest.mark.parametrize("words", ["house", "home", "moon", "bell"])
def test_no_icon_comes_twice(engine: SearchEngine, words: str, prefer: tuple[str, ...]) -> None:
    hits = _hits(engine, words, *prefer)
    assert len({(hit.set, hit.words) for hit in hits}) == len({hit.image for hit in hits}) == len(hits)


def test_an_icon_that_is_asked_with_is_not_its_own_answer(engine: SearchEngine) -> None:
    own = engine.find("gamma:abode")
    hits = engine.ask(Query(icon=own, prefer=("gamma",)), window=Window(k=50, min_score=0)).hits
    assert own not in {hit.id for hit in hits}
    assert hits[0].image == engine.show(own).hit.image
