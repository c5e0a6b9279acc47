"""Which texts are spelt as locales are, and which language do they speak?"""

import pytest

from indexer.languages.letters import is_locale, language_of


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
