"""Are words of other scripts told by their sound?"""

from pathlib import Path

import pytest

from indexer.languages.dictionary import ENGLISH, Dictionary, Meaning, write_dictionary
from indexer.languages.forms import SOUNDS, group_by_sound, key_of, keys_of_english, letters, sounding_like
from indexer.languages.letters import fold
from indexer.languages.reading import read

WORDS = ("single", "signal", "server", "scroll", "trial", "cache", "cash", "download", "environment", "page")


@pytest.mark.parametrize(
    ("word", "spelled"),
    [
        ("सिंगल", "singl"),
        ("サーバ", "saba"),
        ("스크롤", "seukeurol"),
        ("скролл", "skroll"),
        ("كاش", "kash"),
        ("設定", ""),
    ],
)
def test_letters_sound_as_they_are_named(word: str, spelled: str) -> None:
    assert letters(fold(word)) == spelled


@pytest.mark.parametrize(
    ("word", "english"),
    [
        ("सिंगल", "single"),
        ("स्क्रॉल", "scroll"),
        ("एनवायरनमेंट", "environment"),
        ("サーバー", "server"),
        ("ダウンロード", "download"),
        ("페이지", "page"),
        ("서버", "server"),
        ("скролл", "scroll"),
        ("кэш", "cache"),
        ("سيرفر", "server"),
    ],
)
def test_a_loanword_is_among_the_words_of_its_consonants(word: str, english: str) -> None:
    key = key_of(fold(word))
    assert key in keys_of_english(english)
    assert english in group_by_sound(WORDS)[key]


def test_the_spelling_decides_among_words_of_the_same_consonants() -> None:
    assert next(sounding_like("सिंगल", ["signal", "single"]))[0] == "single"


@pytest.mark.parametrize("word", ["single", "गो", "設定", "5"])
def test_latin_words_short_ones_and_signs_without_sound_have_no_key(word: str) -> None:
    assert key_of(word) is None


@pytest.fixture
def dictionary(tmp_path: Path) -> Dictionary:
    """Some words of Hindi and Japanese, English words, and how they sound."""
    keys = {
        "पेज": (Meaning(frozenset(("hi",)), (("page", 1.0),)),),
        "新しい": (Meaning(frozenset(("ja",)), (("new", 1.0),)),),
    }
    for word in WORDS:
        keys[word] = (Meaning(frozenset((ENGLISH,)), ()),)
    for key, words in group_by_sound(WORDS).items():
        keys[key] = (Meaning(frozenset((SOUNDS,)), tuple((word, 1.0) for word in words)),)
    names = {"hi": "Hindi", "ja": "Japanese", ENGLISH: "English", SOUNDS: "by its sound"}
    write_dictionary(tmp_path / "some.bin", keys, names=names)
    return Dictionary(tmp_path / "some.bin")


@pytest.mark.parametrize(
    ("text", "english"), [("सिंगल पेज", "single page"), ("新しいサーバー", "new server"), ("ट्रायल", "trial")]
)
def test_a_word_that_no_source_translates_is_read_by_its_sound(dictionary: Dictionary, text: str, english: str) -> None:
    found = read(dictionary, text)
    assert found is not None
    assert found.english == english


def test_a_word_that_sounds_like_nothing_stays_as_it_is(dictionary: Dictionary) -> None:
    found = read(dictionary, "पेज मछलियाँ")
    assert found is not None
    assert found.pieces[-1].terms == ()
