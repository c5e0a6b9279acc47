"""Are spellings that people type for each other one key?"""

import pytest

from indexer.languages.folding import fold


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
