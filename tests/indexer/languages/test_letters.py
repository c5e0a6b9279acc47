"""Locales and letters: spellings that people type for each other are one key."""

import pytest

from indexer.languages.letters import fold, is_locale, language_of, respelled


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
    ],
)
def test_a_locale_speaks_a_language(locale: str, language: str) -> None:
    assert is_locale(locale)
    assert language_of(locale) == language


@pytest.mark.parametrize(
    "text", ["", "C", "C.UTF-8", "POSIX", "german", "d", "de;q=0.5", "de,fr", "*", "de-", "d\u00e9", "de-" + "a" * 33]
)
def test_what_is_no_locale(text: str) -> None:
    assert not is_locale(text)
