"""Words of other languages are read in English, and English stays English."""

import pytest

from indexer.languages.dictionary import Dictionary
from indexer.languages.reading import Reading, read, read_in

BUNDLED = Dictionary.bundled()


def reading(text: str, *preferred: str) -> Reading:
    found = read(BUNDLED, text, preferred=preferred)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("Einstellungen", "de", "settings"),
        ("EINSTELLUNGEN", "de", "settings"),
        ("corazón", "es", "heart"),
        ("настройки", "ru", "settings"),
        ("إعدادات", "ar", "settings"),
        ("الإعدادات", "ar", "settings"),
        ("खोज", "hi", "search"),
        ("삭제", "ko", "delete"),
        ("ショッピングカート", "ja", "shopping cart"),
        ("Pfeil links", "de", "arrow left"),
        ("Pfeil left", "de", "arrow left"),
        *((text, "de", "delete") for text in ("loeschen", "LOESCHEN", "löschen")),
        *((text, "fr", "printer") for text in ("l'imprimante", "l\u2019imprimante", "L'IMPRIMANTE")),
        ("モニター", "mul", "monitor"),
    ],
)
def test_a_text_is_read_in_the_language_that_knows_it(text: str, language: str, english: str) -> None:
    found = reading(text)
    assert (found.language, found.english) == (language, english)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "arrow",
            "shopping cart",
            "gift",
            "chat",
            "die",
            "x",
            "",
            "   ",
            "📷",
            "fa-solid fa-user",
            "tin",
            "till",
            "vet",
        ),
        *("bent", "iced bun", "two circles joined by two bent arrows", "three small grey circles around one Pfeil"),
    ],
)
def test_english_stays_as_it_is(text: str) -> None:
    assert read(BUNDLED, text) is None


def test_a_word_of_two_languages_is_read_in_the_one_that_the_user_reads() -> None:
    assert reading("chat", "fr").english == "cat"
    assert reading("chat", "fr").is_english_too
    assert read(BUNDLED, "chat", preferred=["en", "fr"]) is None


def test_a_form_that_nobody_has_listed_is_read_by_its_stem() -> None:
    assert "setting" in reading("Einstellungs", "de").english


def test_what_was_typed_is_told_word_by_word() -> None:
    found = reading("Größe ändern: Schrift", "de")
    assert [piece.text for piece in found.pieces][-1] == "Schrift"
    assert all(piece.terms for piece in found.pieces)


def named(text: str, *languages: str, are_first: bool = False) -> str | None:
    found = read_in(BUNDLED, text, languages, are_first=are_first)
    return found and found.english


def test_a_text_of_a_known_language_is_read_in_no_other() -> None:
    assert named("corazón", "es") == "heart"
    assert named("corazón", "de") is None
    assert named("corazón", "de", "es") == "heart"
    assert named("corazón") is None


def test_a_brand_is_not_taken_for_a_word_that_begins_like_it() -> None:
    assert read(BUNDLED, "celeste", preferred=["es"]) is not None
    assert named("celestron", "es") is None
    assert named("flagge", "de") == "flag"


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [("Bär", "de", "bear"), ("Öl", "de", "oil"), ("thé", "fr", "tea"), ("corazón", "es", "heart")],
)
def test_accents_tell_a_word_from_an_english_one(text: str, language: str, english: str) -> None:
    assert (reading(text).language, reading(text).english) == (language, english)
    assert reading(text, "en").english == english


@pytest.mark.parametrize(
    "text", ["morning", "dream", "quiet", "professor", "autumn", "planning", "don\u2019t", "the cat\u2019s bed"]
)
def test_what_english_uses_as_much_as_others_is_english(text: str) -> None:
    assert read(BUNDLED, text) is None
    assert read(BUNDLED, text, preferred=["en", "fr", "de"]) is None


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("星", "ja", "star"),
        ("星", "zh", "star"),
        ("本", "ja", "book"),
        ("キャンバス", "ja", "canvas"),
        ("サーバーダウン", "ja", "server down"),
        ("Kameraeinstellungen", "de", "camera settings"),
    ],
)
def test_what_the_user_reads_decides_loanwords_go_by_their_sound_and_compounds_by_their_parts(
    text: str, language: str, english: str
) -> None:
    found = reading(text, language)
    assert (found.language, found.english) == (language, english)


def test_a_word_of_a_thousand_letters_takes_no_time() -> None:
    assert read(BUNDLED, "haus" * 240 + "oe" * 4, preferred=["de"]) is None


def test_one_odd_word_is_read_by_who_reads_that_language() -> None:
    assert "arrow" in reading("three small grey circles around one Pfeil", "de").english
