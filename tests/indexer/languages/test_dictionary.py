"""A dictionary gives back what was written into it; spellings that people type for each other are one key."""

from pathlib import Path

import pytest

from data.making.language.writing import SOUNDS, group_by_sound, keys_of_english, write_dictionary
from indexer.errors import LibraryError
from indexer.languages.dictionary import ANY, ENGLISH, Dictionary, Meaning
from indexer.languages.letters import fold, is_locale, key_of, language_of, letters, respelled
from indexer.languages.reading import read

NAMES = {"de": "German", "fr": "French", ENGLISH: "English", ANY: "another language"}


def meaning(languages: str, **terms: float) -> Meaning:
    return Meaning(frozenset(languages.split()), tuple((term.replace("_", " "), terms[term]) for term in terms))


def written(folder: Path, keys: dict[str, list[Meaning]]) -> Dictionary:
    write_dictionary(folder / "dictionary.bin", keys, names=NAMES)
    return Dictionary(folder / "dictionary.bin")


def test_every_key_is_found_with_its_meanings_and_nothing_else_is(tmp_path: Path) -> None:
    keys = {f"wort {number}": [meaning("de fr", settings=1.0, go_back=7 / 15)] for number in range(5_000)}
    keys |= {"設定": [meaning("fr", gear=1.0)], "die": [meaning("de", the=1.0), meaning("en")]}
    dictionary = written(tmp_path, keys)
    for key, meanings in keys.items():
        assert list(dictionary.meanings(key)) == meanings
    for key in ("", "wort", "wort 1 ", "wort 5000", "設", "zzz", "\U0010ffff"):
        assert dictionary.meanings(key) == ()
    assert dictionary.languages == NAMES


def test_keys_that_begin_alike_are_found_in_their_order_across_blocks(tmp_path: Path) -> None:
    keys = [f"{number:05}" for number in range(20_000)]
    dictionary = written(tmp_path, {key: [meaning("de", arrow=1.0)] for key in keys})
    for start in ("", "0", "00", "07", "123", "1999", "19999", "2", "x"):
        assert list(dictionary.beginning(start)) == [key for key in keys if key.startswith(start)]


@pytest.mark.parametrize("length", [0, 5, 9, 40, 400, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.bin"
    write_dictionary(path, {f"{at:05}": [meaning("de", settings=1.0)] for at in range(3_000)}, names=NAMES)
    path.write_bytes(path.read_bytes()[:length] or b"something else")
    with pytest.raises(LibraryError, match=r'cut\.bin" is (no dictionary|damaged)'):
        Dictionary(path)


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
        *((word, None) for word in ("single", "गो", "設定", "5")),
    ],
)
def test_a_loanword_is_among_the_words_of_its_consonants_unless_it_is_latin_short_or_has_no_sound(
    word: str, english: str | None
) -> None:
    key = key_of(fold(word))
    assert (key in keys_of_english(english or "")) == (key is not None) == (english is not None)
    assert english in group_by_sound(WORDS).get(key or "", [None])


@pytest.fixture
def sounding(tmp_path: Path) -> Dictionary:
    """Some words of Hindi and Japanese, English words, and how they sound."""
    keys = {"पेज": [meaning("hi", page=1.0)], "新しい": [meaning("ja", new=1.0)]}
    keys |= {word: [meaning(ENGLISH)] for word in WORDS}
    keys |= {key: [meaning(SOUNDS, **dict.fromkeys(words, 1.0))] for key, words in group_by_sound(WORDS).items()}
    names = {"hi": "Hindi", "ja": "Japanese", ENGLISH: "English", SOUNDS: "by its sound"}
    write_dictionary(tmp_path / "some.bin", keys, names=names)
    return Dictionary(tmp_path / "some.bin")


@pytest.mark.parametrize(
    ("text", "english"), [("सिंगल पेज", "single page"), ("新しいサーバー", "new server"), ("ट्रायल", "trial")]
)
def test_a_word_that_no_source_translates_is_read_by_its_sound(sounding: Dictionary, text: str, english: str) -> None:
    found = read(sounding, text)
    assert found is not None
    assert found.english == english


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("Löschen", "loschen"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("corazón", "corazon"),
        ("ещё", "еще"),
        ("Işık", "isik"),
        ("إعدادات", "اعدادات"),
        ("مكتبة", "مكتبه"),
        ("फ़ोटो", "फोटो"),
        ("フォルダー", "フォルダ"),
        ("ビール", "ビール"),
        ("ガ", "ガ"),
        ("한국어", "한국어"),
        ("ｗｉｆｉ　設定", "wifi 設定"),
        ("log-out, bitte!", "log out bitte"),
        ("📷 +", ""),
    ],
)
def test_what_people_leave_out_is_folded_and_what_makes_another_letter_is_not(typed: str, key: str) -> None:
    assert fold(typed) == key
    assert fold(key) == key


def test_a_word_with_two_letters_for_one_is_spelt_in_all_ways_that_it_may_mean() -> None:
    assert list(respelled("loeschen")) == ["loschen"]
    assert list(respelled("haeuserbloecke")) == ["haeuserblocke", "hauserbloecke", "hauserblocke"]
    assert [list(respelled(word)) for word in ("pfeil", "doe", "ueueueueue")] == [[], [], []]


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("pt_BR.UTF-8", "pt"),
        ("ca_ES.utf8@valencia", "ca"),
        ("ZH-Hant-TW", "zh"),
        ("nb-NO", "no"),
        ("gsw", "gsw"),
        *((text, None) for text in ("", "C", "C.UTF-8", "POSIX", "german", "d", "de;q=0.5", "de,fr", "*", "de-")),
        *((text, None) for text in ("d\u00e9", "de-" + "a" * 33)),
    ],
)
def test_a_locale_speaks_a_language_and_what_is_none_is_told(locale: str, language: str | None) -> None:
    assert (language_of(locale) if is_locale(locale) else None) == language
