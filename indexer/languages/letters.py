"""May a word be of a language, by its letters? Those beyond ASCII that each language in Latin script writes.

After the exemplar characters of Unicode's CLDR, letters of loanwords left out.
"""

_LETTERS = {
    "az": "çəğıöşü",
    "bs": "čćđšž",
    "ca": "àçèéíïòóúü",
    "cs": "áčďéěíňóřšťúůýž",
    "cy": "âêîôûŵŷ",
    "da": "åæø",
    "de": "äöüß",
    "es": "áéíñóúü",
    "et": "äõöüšž",
    "eu": "çñ",
    "fi": "åäö",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "ga": "áéíóú",
    "gl": "áéíñóú",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áéíóúýðþæö",
    "it": "àèéìíîòóùú",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "nl": "áéëíïóöúü",
    "no": "åæøéò",
    "pl": "ąćęłńóśźż",
    "pt": "àáâãçéêíóôõú",
    "ro": "ăâîșşțţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sq": "çë",
    "sr": "čćđšž",
    "sv": "åäöé",
    "tr": "âçğıîöşüû",
    "vi": "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}


def may_be_of(language: str, word: str) -> bool:
    """Tell whether a language in Latin script writes all letters of a word."""
    return all(letter in _LETTERS.get(language, "") for letter in word.casefold() if is_accented(letter))


def is_accented(letter: str) -> bool:
    """Tell whether a letter is one beyond ASCII; a typographic apostrophe is none."""
    return letter.isalpha() and not letter.isascii()
