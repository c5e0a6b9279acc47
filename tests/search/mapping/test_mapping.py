"""Does the nearest of another set stand for each icon, and is what is not sure marked?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexer.arrays import Floats, spread_of
from indexer.errors import IconsError
from search.code.compare import BY_BOTH, N_CANDIDATES, Side, best_of, open_side
from search.code.map import (
    COLUMNS,
    Choice,
    Mapped,
    Name,
    choose,
    map_icons,
    read_choices,
    source_names,
    source_sets,
    target_set,
    to_csv,
)
from search.engine import SearchEngine


@pytest.fixture(scope="module")
def side(engine: SearchEngine) -> Side:
    return engine.with_generation(lambda opened: open_side(opened, "lucide"))


def mapped(engine: SearchEngine, *names: Name, to: str = "lucide") -> Mapped:
    return map_icons(engine, names, to, progress=lambda *_: None)


def targets(found: Mapped) -> list[str | None]:
    return [one.target.name.name if one.target else None for one in found.mappings]


def test_what_the_library_has_no_picture_of_is_mapped_by_its_name(engine: SearchEngine) -> None:
    asked = [Name("ti", "bell"), Name("", "map-pin"), Name("mdi", "no-such-icon"), Name("mdi", "bell")]
    found = mapped(engine, *asked, asked[0])
    assert [one.source for one in found.mappings] == asked
    assert targets(found)[:2] == ["bell", "map-pin"] and targets(found)[3] == "bell"
    assert [one.image is None for one in found.mappings] == [True, True, True, False]
    assert len(found.without_picture) == 3


def test_candidates_are_other_drawings_and_other_names_best_first(engine: SearchEngine) -> None:
    (one,) = mapped(engine, Name("fa6-solid", "star")).mappings
    names = [candidate.name.name.removesuffix("-filled") for candidate in one.candidates]
    assert len(names) == len(set(names)) == N_CANDIDATES


def test_of_variants_the_plain_one_is_taken_or_the_one_of_a_look(side: Side) -> None:
    plain, filled = side.by_name["star"], side.by_name["star-filled"]
    evidence = evidence_for(side, {plain: 20, filled: 25})
    assert best_of(evidence, side, BY_BOTH)[1] > 0.95
    assert best_of(evidence / 20, side, BY_BOTH)[1] < 0.1
    assert best_of(evidence, side, BY_BOTH)[0][0] == plain
    assert best_of(evidence, side, BY_BOTH, look=side.looks[filled])[0][0] == filled
    assert best_of(evidence, side, BY_BOTH, look="sharp")[0][0] == plain
    assert side.own_look(filled) == side.looks[filled] != side.own_look(plain)
    assert side.own_look(side.by_name["bell"]) is None


def evidence_for(side: Side, values: dict[int, float]) -> Floats:
    evidence = np.zeros(len(side.ids), np.float32)
    evidence[list(values)] = list(values.values())
    return evidence


def test_of_the_names_of_a_drawing_the_sources_own_is_taken_else_one_with_tags_else_the_first(side: Side) -> None:
    rows = [side.by_name[name] for name in ("arrow-right", "bell-plus", "map-pin", "cigarette")]
    is_one = np.isin(np.arange(len(side.ids)), rows)
    side = replace(side, drawings=np.where(is_one, side.drawings[rows[0]], side.drawings))
    assert side.is_tagged[rows].tolist() == [False, False, True, True]
    evidence = evidence_for(side, {rows[0]: 20})
    taken = [side.rows[best_of(evidence, side, BY_BOTH, name=name)[0][0]].name for name in ("bell-plus", "bell", None)]
    assert taken == ["bell-plus", *[side.rows[min(rows[2:])].name] * 2]
    side = replace(side, is_tagged=np.zeros(len(side.ids), bool))
    assert best_of(evidence, side, BY_BOTH, name="bell")[0][0] == min(rows)


def test_the_spread_of_all_pairs_is_what_the_pairs_have() -> None:
    left, right = np.split(np.random.default_rng(0).normal(size=(70, 8)).astype(np.float32), [40])
    pairs, found, of_each = left @ right.T, spread_of(left, right), spread_of(left, right, of_each=True)
    assert (found.mean, found.deviation) == pytest.approx((float(pairs.mean()), float(pairs.std())), abs=1e-4)
    assert of_each.mean == pytest.approx(pairs.mean(axis=0), abs=1e-4)
    assert of_each.deviation == pytest.approx(pairs.std(axis=0), abs=1e-4)
    assert of_each.of(pairs).std(axis=0) == pytest.approx(1, abs=1e-3)


def test_names_are_of_the_set_that_is_given_beside(engine: SearchEngine) -> None:
    assert source_names(engine, ["home", " mdi:bell  # so", "# no", "", "home"], ["mdi"]) == [
        Name("mdi", "home"),
        Name("mdi", "bell"),
    ]
    assert source_names(engine, ["home"], []) == [Name("", "home")]
    assert len(source_names(engine, [], ["mdi"])) >= 3


@pytest.mark.parametrize(
    ("lines", "sets", "why"),
    [
        ([], [], "no name to map"),
        (["ti:home"], ["mdi"], '"ti:home" is of "ti"'),
        (["hoome", "bel"], ["mdi"], r'mdi has no icon "hoome" \(near: mdi:home\); mdi has no icon "bel"'),
        (["x"] * 3 + [f"mdi:{n}" for n in range(20_000)], [], "20,001 names to map; give 20,000 or fewer"),
    ],
)
def test_names_that_are_none_are_refused(engine: SearchEngine, lines: list[str], sets: list[str], why: str) -> None:
    with pytest.raises(IconsError, match=why):
        source_names(engine, lines, sets)


def test_sets_are_called_by_key_or_title_and_may_be_of_iconify_alone(engine: SearchEngine) -> None:
    assert source_sets(engine, ["tabler", "Material Design Icons", "mdi"]) == ["tabler", "mdi"]
    assert target_set(engine, "Font Awesome 6 Solid") == "fa6-solid"
    with pytest.raises(IconsError, match="no-such"):
        source_sets(engine, ["no-such"])


def test_csv_comes_back_as_what_a_person_chose(engine: SearchEngine, tmp_path: Path) -> None:
    found = mapped(engine, Name("mdi", "star"), Name("mdi", "bell"), Name("", "plus"))
    doubtful = replace(found.mappings[2], is_doubtful=True)  # which nobody touches
    found = replace(found, mappings=[*found.mappings[:2], doubtful])
    (written := tmp_path / "mapping.csv").write_text(to_csv(found))
    assert written.read_text().splitlines()[0] == ",".join(COLUMNS)
    choices = {**read_choices(written)}
    for encoding, separator in (("utf-8-sig", ";"), ("utf-16", "\t"), ("cp1252", ";")):  # as Excel saves it
        text = written.read_text().replace(",", separator).replace("source", '"Source" ')
        (saved := tmp_path / "saved.txt").write_bytes(text.replace("\n", "\r\n").encode(encoding))
        assert read_choices(saved) == choices
    said = {"mdi:star": Choice("map-pin", is_doubtful=False), "mdi:bell": Choice("", is_doubtful=False)}
    chosen = choose(engine, found, choices | said)
    assert targets(chosen)[:2] == ["map-pin", None] and chosen.mappings[2] == doubtful
    first = chosen.mappings[0]
    assert first.is_chosen and first.probability == 1.0 and found.mappings[0].target in first.candidates


@pytest.mark.parametrize(
    ("text", "why"), [("a,b\n1,2\n", 'no column "source"'), (b"\xff\xfe\x00", "it is neither UTF-8")]
)
def test_a_file_that_is_no_mapping_is_refused(text: str | bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "mapping.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(IconsError, match=why):
        read_choices(tmp_path / "mapping.csv")


@pytest.mark.parametrize(("key", "why"), [("mdi:bell", 'is of "mdi"'), ("lucide:no-such", "no-such")])
def test_a_target_of_another_set_or_of_none_is_refused(engine: SearchEngine, key: str, why: str) -> None:
    found = mapped(engine, Name("mdi", "star"))
    with pytest.raises(IconsError, match=why):
        choose(engine, found, {"mdi:star": Choice(key, is_doubtful=False)})
