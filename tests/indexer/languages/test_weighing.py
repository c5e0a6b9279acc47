"""Does the dictionary's build find which words translate which, and weigh and keep what sources say?"""

import pytest

from indexer.languages.making.alignment import align, chances
from indexer.languages.making.annotations import Annotation
from indexer.languages.making.interface_texts import Text
from indexer.languages.making.neighbours import Neighbours
from indexer.languages.making.pruning import prune
from indexer.languages.making.weighing import Sources, Weighed, weigh

PAIRS = [
    (["datei", "öffnen"], ["open", "file"]),
    (["datei", "löschen"], ["delete", "file"]),
    (["bild", "löschen"], ["delete", "image"]),
    (["bild", "öffnen"], ["open", "image"]),
]


def _texts(language: str, *pairs: tuple[str, str]) -> list[Text]:
    return [Text(language, english, foreign, "somewhere") for english, foreign in pairs]


def _sources(**given: object) -> Sources:
    nothing: dict[str, object] = {"texts": [], "signs": {}, "english_signs": {}, "neighbours": {}}
    return Sources(**(nothing | given))  # type: ignore[arg-type]


def test_words_are_aligned_by_the_texts_that_they_are_in_together() -> None:
    aligned = align(PAIRS)
    best = {word: max(others, key=lambda other: others[other].onward) for word, others in aligned.items()}
    assert best == {"datei": "file", "öffnen": "open", "löschen": "delete", "bild": "image"}
    assert aligned["datei"]["file"].onward > 0.6
    assert aligned["datei"]["file"].n == 4


def test_chances_of_a_word_add_up_to_one_at_most_and_nothing_comes_of_nothing() -> None:
    found = chances(PAIRS)
    for word in ("datei", "bild"):
        assert 0.5 < sum(chance for (first, _), chance in found.items() if first == word) <= 1
    assert chances([]) == {}


def test_a_short_text_means_what_most_sources_translate_it_by() -> None:
    texts = _texts("de", ("settings", "einstellungen"), ("settings", "einstellungen"), ("preferences", "einstellungen"))
    terms = weigh(_sources(texts=texts))["einstellungen"].terms
    assert [term for term, _ in terms] == ["settings", "preferences"]
    assert terms[0][1] == 1
    assert terms[1][1] < 0.7


def test_names_of_signs_translate_each_other_and_keywords_go_together() -> None:
    def sign(name: str, *keywords: str) -> Annotation:
        return Annotation([name], list(keywords))

    ours = {"🐻": sign("bär", "tier"), "🐱": sign("katze", "tier"), "🌲": sign("tanne", "baum")}
    english = {"🐻": sign("bear", "animal"), "🐱": sign("cat", "animal"), "🌲": sign("fir", "tree")}
    found = weigh(_sources(signs=ours, english_signs=english))
    assert found["bär"].terms[0][0] == "bear"
    assert found["tier"].terms[0][0] == "animal"


def test_neighbours_weigh_half_of_the_best_and_bring_no_word_of_their_own() -> None:
    near = Neighbours((("cog", 1.0),), 0.8)
    texts = _texts("de", ("settings", "einstellungen"))
    found = weigh(_sources(texts=texts, neighbours={"einstellungen": near, "zahnrad": near}))
    terms = dict(found["einstellungen"].terms)
    assert terms["cog"] == pytest.approx(0.4)
    assert "zahnrad" not in found


def test_a_phrase_that_its_words_say_is_left_out_and_another_stays() -> None:
    weighed = {
        "pfeil": Weighed((("arrow", 1.0),), 1.0),
        "links": Weighed((("left", 1.0),), 1.0),
        "pfeil links": Weighed((("arrow left", 1.0),), 1.0),
        "runde ecke": Weighed((("radius", 1.0),), 1.0),
    }
    kept = prune(weighed, names={"arrow": 9, "left": 9, "radius": 3}, most=10)
    assert set(kept) == {"pfeil", "links", "runde ecke"}


def test_what_icons_are_called_by_most_is_kept_and_what_none_is_called_by_is_not() -> None:
    weighed = {
        "haus": Weighed((("house", 1.0), ("zebra", 0.9)), 1.0),
        "igel": Weighed((("hedgehog", 1.0),), 1.0),
        "quark": Weighed((("curd", 1.0),), 5.0),
    }
    names = {"house": 50, "hedgehog": 2}
    assert prune(weighed, names=names, most=9) == {"haus": (("house", 1.0),), "igel": (("hedgehog", 1.0),)}
    assert set(prune(weighed, names=names, most=1)) == {"haus"}
