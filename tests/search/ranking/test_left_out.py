"""A query of another language, and what it leaves out, are put into English."""

import pytest

from indexer.library.folder import Library
from search.generation.opened import Opened, open_current
from search.query import Query
from search.ranking.parsing import _read_in_english, parse_avoided, parse_query
from search.words.wording import read_phrase


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Stern -Kreis", "star -circle"),
        ("-Kreis Stern", "star -circle"),
        ("Stern -Kreis links", "star left -circle"),
        ("étoile -cercle -carré", "star -circle -square"),
        ("Pfeil -circle", "arrow -circle"),
        ("Pfeil -qwzxbv", "arrow -qwzxbv"),
        ("Pfeil without circle", "arrow without circle"),
        ("Pfeil without Kreis", "arrow without circle"),
        ("étoile not filled", "star not filled"),
    ],
)
def test_what_is_left_out_is_read_in_the_language_of_the_rest(text: str, english: str) -> None:
    reading, said = _read_in_english(text, ())
    assert reading is not None and said == english and read_phrase(said).without


@pytest.mark.parametrize(
    "text", ["bell -filled", "chat without dot", "-filled", "🪙", "→ ←", "sign in", "morning", "dream"]
)
def test_english_and_signs_stay_as_they_are(text: str) -> None:
    assert _read_in_english(text, ()) == (None, text)
    assert _read_in_english(text, ("en-US", "fr")) == (None, text)


def test_no_and_not_are_words_of_other_languages_too() -> None:
    assert _read_in_english("no disponible", ("es",))[0] is not None
    assert "without" not in _read_in_english("mostrar no mapa", ("pt-BR",))[1]


@pytest.fixture(scope="module")
def opened(called: Library) -> Opened:
    return open_current(called)


@pytest.mark.parametrize(
    ("words", "without", "languages", "avoided"),
    [
        ("Stern", ("gefüllt",), (), ("filled",)),
        ("Stern -Kreis", ("gefüllt",), (), ("circle", "filled")),
        ("star", ("gefüllt", "circle"), ("de",), ("filled", "circle")),
        ("star", ("filled",), (), ("filled",)),
    ],
)
def test_what_is_left_out_beside_the_words_is_read_too(
    opened: Opened, words: str, without: tuple[str, ...], languages: tuple[str, ...], avoided: tuple[str, ...]
) -> None:
    query = Query(words=words, without=without, languages=languages)
    assert parse_avoided(opened, query, parse_query(opened, words, languages=languages)).words == avoided
