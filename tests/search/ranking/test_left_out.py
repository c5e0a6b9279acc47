"""Is what a minus leaves out read in the language of the query?"""

import pytest

from search.ranking.asked import _left_out_in_english


@pytest.mark.parametrize(
    ("tail", "language", "english"),
    [
        (" -Kreis", "de", " -circle"),
        (" -cercle -carré", "fr", " -circle -square"),
        (" -circle", "de", " -circle"),
        (" -qwzxbv", "de", " -qwzxbv"),
        (" ohne-Kreis", "de", " ohne-Kreis"),
        (" without circle", "de", " without circle"),
    ],
)
def test_each_word_behind_a_minus_is_read_and_others_stay(tail: str, language: str, english: str) -> None:
    assert _left_out_in_english(tail, language) == english
