"""Words of other languages are read in English, and English stays English."""

import pytest

from indexer.languages.dictionary import Dictionary
from indexer.languages.reading import read, read_in

BUNDLED = Dictionary.bundled()
DELETE, PRINTER = ("loeschen", "LOESCHEN", "löschen"), ("l'imprimante", "l\u2019imprimante", "L'IMPRIMANTE")


@pytest.mark.parametrize(
    ("text", "preferred", "language", "english"),
    [
        *(("Einstellungen", "", "de", "settings"), ("EINSTELLUNGEN", "", "de", "settings")),
        *(("corazón", "", "es", "heart"), ("настройки", "", "ru", "settings")),
        *(("إعدادات", "", "ar", "settings"), ("الإعدادات", "", "ar", "settings"), ("खोज", "", "hi", "search")),
        *(
            ("삭제", "", "ko", "delete"),
            ("ショッピングカート", "", "ja", "shopping cart"),
            ("モニター", "", "ja", "monitor"),
        ),
        *(("ausgefüllter Stern", "", "de", "filled star"), ("étoile remplie", "", "fr", "star filled")),
        *(("Pfeil links", "", "de", "arrow left"), ("Pfeil left", "", "de", "arrow left")),
        *((text, "", "de", "delete") for text in DELETE),
        *((text, "", "fr", "printer") for text in PRINTER),
        # Accents tell a word from an English one, whoever asks, and are left out of what English writes without.
        *((text, own, "de", english) for text, english in (("Bär", "bear"), ("Öl", "oil")) for own in ("", "en")),
        *((text, own, "fr", "tea") for text, own in (("thé", ""), ("thé", "en"))),
        *(("menú", "es", "es", "menu"), ("télévision", "fr", "fr", "television"), ("arrów", "", "mul", "arrow")),
        # What is read first decides.
        *(
            ("chat", "fr", "fr", "cat"),
            ("星", "ja", "ja", "star"),
            ("星", "zh", "zh", "star"),
            ("本", "ja", "ja", "book"),
        ),
        ("three small grey circles around one Pfeil", "de", "de", "three small grey circles around arrow"),
        # Loanwords go by their sound, compounds by their parts, of which one may be a form, forms by their stem.
        *(("キャンバス", "ja", "ja", "canvas"), ("サーバーダウン", "ja", "ja", "server down")),
        *(("Kameraeinstellungen", "de", "de", "camera settings"), ("Preispläne", "de", "de", "price plan")),
        *(("Einstellungs", "de", "de", "settings"), ("Besprechungsnotizen", "de", "de", "meeting notes")),
        # Words that no icon differs by, in their languages.
        *(
            ("dossier de photos", "fr", "fr", "folder photo"),
            ("lits", "fr", "fr", "bed"),
            ("кровати", "ru", "ru", "bed"),
        ),
        ("no molestar", "es", "es", "do not disturb"),
        # Forms and compounds, whoever asks.
        *(
            (text, own, code, "cloud")
            for text, code in (("nuages", "fr"), ("bulutlar", "tr"))
            for own in ("", "en", code)
        ),
        *(
            (text, "", code, english)
            for text, code, english in (("koulut", "fi", "school"), ("선물상자", "ko", "gift box"))
        ),
        *((text, "", code, english) for text, code, english in (("gyárak", "hu", "factory"), ("ключей", "ru", "keys"))),
    ],
)
def test_a_text_is_read_in_the_language_that_knows_it_or_that_the_user_reads(
    text: str, preferred: str, language: str, english: str
) -> None:
    found = read(BUNDLED, text, preferred=[preferred] if preferred else [])
    assert found is not None
    assert (found.language, found.english) == (language, english)
    assert found.is_english_too == (text == "chat")


@pytest.mark.parametrize(
    ("text", "preferred"),
    [
        # No forms of English words, nor compounds of them, nor slips of the pen.
        *((text, "") for text in ("americanexpress", "serach", "playstation", "gateways", "prawn")),
        *(
            (text, "")
            for text in ("arrow", "shopping cart", "gift", "chat", "die", "x", "", "   ", "📷", "tin", "till")
        ),
        *(
            (text, "")
            for text in ("fa-solid fa-user", "vet", "bent", "iced bun", "two circles joined by two bent arrows")
        ),
        ("three small grey circles around one Pfeil", ""),
        ("chat", "en fr"),
        # What English uses as much as others.
        *((text, own) for text in ("morning", "dream", "quiet", "professor", "autumn") for own in ("", "en fr de")),
        *((text, own) for text in ("planning", "don\u2019t", "the cat\u2019s bed") for own in ("", "en fr de")),
        ("haus" * 240 + "oe" * 4, "de"),  # and takes no time
    ],
)
def test_english_and_what_nobody_knows_stay_as_they_are(text: str, preferred: str) -> None:
    assert read(BUNDLED, text, preferred=preferred.split()) is None


def test_a_form_that_is_rather_a_slip_in_english_is_of_no_other_language() -> None:
    assert read(BUNDLED, "floder key") is not None
    assert read(BUNDLED, "floder key", is_slip="floder".__eq__) is None


def test_what_was_typed_is_told_word_by_word() -> None:
    found = read(BUNDLED, "Größe ändern: Schrift", preferred=["de"])
    assert found is not None and [piece.text for piece in found.pieces][-1] == "Schrift"
    assert all(piece.terms for piece in found.pieces)


@pytest.mark.parametrize(
    ("text", "languages", "english"),
    [
        ("corazón", "es", "heart"),
        ("corazón", "de", None),
        ("corazón", "de es", "heart"),
        ("corazón", "", None),
        ("celestron", "es", None),  # a brand, though it begins like "celeste"
        ("flagge", "de", "flag"),
    ],
)
def test_a_text_of_a_known_language_is_read_in_no_other_and_a_brand_in_none(
    text: str, languages: str, english: str | None
) -> None:
    found = read_in(BUNDLED, text, languages.split(), are_first=False)
    assert (found and found.english) == english
