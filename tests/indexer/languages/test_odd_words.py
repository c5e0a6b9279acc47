"""Does an English text stay English where one of its words is another language's, or is used more there?"""

import pytest

from indexer.languages.dictionary import Dictionary
from indexer.languages.reading import read


@pytest.mark.parametrize("text", ["two circles joined by two bent arrows", "tin", "till", "vet", "bent", "iced bun"])
def test_english_stays_english_beside_languages_in_which_few_ask(text: str) -> None:
    assert read(Dictionary.bundled(), text) is None


def test_one_odd_word_is_read_by_who_reads_that_language() -> None:
    text = "three small grey circles around one Pfeil"
    assert read(Dictionary.bundled(), text) is None
    reading = read(Dictionary.bundled(), text, preferred=("de",))
    assert reading is not None and "arrow" in reading.english
