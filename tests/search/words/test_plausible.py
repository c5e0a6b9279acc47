"""Does an unknown word read like one? With the letters of all words that CLIP's tokenizer keeps whole."""

from pathlib import Path

import pytest

from indexer.encoders.query_encoder import QueryEncoder, open_query_encoder
from indexer.merging.calibration import made_up_words
from search.words.spelling import Plausible


@pytest.fixture(scope="module")
def encoder(asked: Path) -> QueryEncoder:
    [folder] = (asked / "encoders").iterdir()
    return open_query_encoder(folder)


@pytest.fixture(scope="module")
def plausible(encoder: QueryEncoder) -> Plausible:
    return Plausible(encoder.whole_words)


def test_an_encoder_lists_the_words_that_it_reads_as_one_piece(encoder: QueryEncoder) -> None:
    words = encoder.whole_words()
    assert len(words) == len(set(words))
    assert {"arrow", "house", "calendar"} <= set(words)
    letters = [word for word in words if word.isascii() and word.isalpha()]
    assert len(letters) > 30_000 and all(map(encoder.has_token, letters[::500]))
    assert not {"arro", "thermostatic", "qwzxbv"} & set(words)


@pytest.mark.parametrize("word", ["thermostatic", "rotatable", "defragment", "hygrometer", "unsubscribing"])
def test_a_rare_word_reads_like_one(plausible: Plausible, encoder: QueryEncoder, word: str) -> None:
    assert not encoder.has_token(word)
    assert plausible.reads_like_a_word(word)


@pytest.mark.parametrize("word", ["qwertzuiop", "xkcdvbn", "hjklmnb", "zzzzzzz", "wqxofiv"])
def test_a_row_of_letters_does_not(plausible: Plausible, word: str) -> None:
    assert not plausible.reads_like_a_word(word)


def test_few_made_up_words_that_can_be_spoken_pass(plausible: Plausible) -> None:
    words = [word for word in made_up_words(400, seed=3) if len(word) > 4]
    assert sum(map(plausible.reads_like_a_word, words)) < 0.15 * len(words)


@pytest.mark.parametrize(
    "word", ["xqzw", "svg", "h264qzx", "c++", "qwzx-vb", "\u043a\u0432\u0437\u0449\u044a\u044b\u0436", "QWZXVB"]
)
def test_of_short_words_digits_signs_and_other_scripts_nothing_is_known(plausible: Plausible, word: str) -> None:
    assert plausible.reads_like_a_word(word)


def test_where_no_word_is_known_every_word_could_be_one() -> None:
    assert Plausible(lambda: []).reads_like_a_word("qwertzuiop")


def test_words_are_read_once_and_not_before_they_are_needed() -> None:
    n_read = 0

    def read() -> list[str]:
        nonlocal n_read
        n_read += 1
        return ["arrow", "arrows", "narrow"]

    plausible = Plausible(read)
    assert (plausible.reads_like_a_word("bow"), n_read) == (True, 0)
    assert plausible.reads_like_a_word("arrow") and not plausible.reads_like_a_word("wzorra")
    assert n_read == 1
