"""Under which names do other sets have what is typed?"""

import pytest

from search.words.terms import names_for


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("bin", "trash"),
        ("settings", "cog"),
        ("the dustbin", "trash"),
        ("unread", "notification"),
        ("purity", "droplet"),
    ],
)
def test_a_word_leads_to_the_names_that_sets_draw_it_under(words: str, name: str) -> None:
    assert name in dict(names_for(words))


def test_names_are_weighed_by_how_many_sets_agree() -> None:
    names = names_for("bin")
    weights = [weight for _, weight in names]
    assert weights[0] == 1
    assert weights == sorted(weights, reverse=True)
    assert 1 < len(names) <= 12


@pytest.mark.parametrize("words", ["qwzxbv", "a thing that nobody says", ""])
def test_what_no_set_says_leads_nowhere(words: str) -> None:
    assert names_for(words) == ()
