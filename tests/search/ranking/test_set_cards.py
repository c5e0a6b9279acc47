"""A card says what a set is like, and shows of it what all sets have."""

import pytest
from called_icons import LUCIDE, MAP, MDI

from indexer.library.folder import Library
from search.answering.details import N_SAMPLED
from search.engine import SearchEngine


@pytest.fixture(scope="module")
def engine(called: Library) -> SearchEngine:
    return SearchEngine.open(called)


def test_every_set_has_a_card(engine: SearchEngine) -> None:
    cards = {card.key: card for card in engine.sets()}
    assert list(cards) == ["fa6-solid", "lucide", "map", "mdi"]
    assert (cards["mdi"].title, cards["mdi"].n, cards["mdi"].styles) == (
        "Material Design Icons",
        len(MDI),
        ("outline",),
    )
    assert (cards["lucide"].n, cards["lucide"].licence_family) == (len(LUCIDE), "unknown")
    assert cards["map"].newest == len(LUCIDE) + len(MAP)


def test_a_sample_shows_the_usual_things_in_the_usual_style_then_others_and_no_drawing_twice(
    engine: SearchEngine,
) -> None:
    cards = {card.key: card for card in engine.sets()}
    names = [hit.name for hit in cards["lucide"].sample]
    assert names[:3] == ["home", "bell", "star"]
    assert len(names) == len(set(names)) == N_SAMPLED
    # home-outline looks the same
    assert [hit.name for hit in cards["mdi"].sample] == ["home", "account", "bell", "star"]
    assert {hit.set for hit in cards["map"].sample} == {"map"}
