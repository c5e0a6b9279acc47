"""Is a keyword query read as it was written, and never as FTS5's own syntax?"""

import pytest

from indexer.errors import IconsError
from search.words.wording import read_keywords


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('arrow* -"left down" "c++"', '"arrow" * AND "c++" NOT "left down"'),
        ("a AND NEAR(b c)", '"a" AND "and" AND "near b" AND "c"'),
        ("arrowLeft*", '"arrow left" *'),
        ("words:arrow", '"words arrow"'),
        ('"not closed', '"not closed"'),
    ],
)
def test_a_keyword_query_is_quoted_word_by_word(text: str, match: str) -> None:
    assert read_keywords(text) == match


def test_a_keyword_query_that_only_excludes_is_refused_and_signs_are_no_query() -> None:
    with pytest.raises(IconsError, match='"-arrow" only excludes'):
        read_keywords("-arrow")
    assert read_keywords('-> * "" -') is None


def test_a_keyword_query_has_bounds() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]
    assert read_keywords(" ".join(words[:32] * 9)) is not None
    for text in (" ".join(words[:33]), f'"{" ".join(words[:33])}"', "arrow " + " ".join(f"-{word}" for word in words)):
        with pytest.raises(IconsError, match=r"the keyword query holds \d+ words; ask with 32 or fewer"):
            read_keywords(text)
    for text in ("a*", "arrow -b*", "arrowA*"):
        with pytest.raises(IconsError, match="begins a word with one letter; write 2 or more before"):
            read_keywords(text)
    assert read_keywords("ar*") == read_keywords("ar* ar* AR*")
