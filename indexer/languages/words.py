"""Texts cut into words, one way for names, tags and queries; and how text of unknown origin is printed."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

import click

Tokens = tuple[str, ...]

UNITS = frozenset(("px", "pt", "dp"))
USUAL_SIZES = frozenset((12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 44, 48, 56, 64, 72, 96, 128, 256, 512))
"""Sizes in pixels that icons are drawn at."""

_WHOLE = frozenset(("utf", "win", "int", "arm", "amd", "base", "sha"))
"""Words whose number is part of them, although it could be a size: utf16, win32, sha256."""

_PLAIN = re.compile(r"[a-z]+(?:[-_ .:/][a-z]+)*")
_SEPARATOR = re.compile(r"[-_ .:/]")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_CHUNK = re.compile(r"[^\s+#]+(?:[+#]+(?![^\s+#]))?")
"""Signs at the end of a word are part of it: c++, c#, google+."""
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9+#]")
_CAMEL = re.compile(
    r"(?<=[a-z])(?<!\b[ie])(?=[A-Z])"  # arrow|Left, but i-Phone stays whole
    r"|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])"  # PDF|File, but PDFs stays whole
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 24|Filled, but 2FA stays whole
)
_BRANDS = re.compile(
    "GitHub|GitLab|YouTube|LinkedIn|JavaScript|TypeScript|CoffeeScript|PayPal|WhatsApp|TikTok|WordPress|DropBox|OneDrive|"
    "OneNote|PowerPoint|MacBook|WiFi|AirPods|AirDrop|ChatGPT|OpenAI|MySQL|GraphQL|NodeJS|DevOps|SoundCloud|DeviantArt|"
    "PlayStation|FaceTime|PyTorch|TensorFlow|FedEx|MasterCard|StackOverflow|BitBucket|LaTeX|QuickTime|SnapChat|WeChat"
)
"""One word in every icon set, two humps in writing."""
_NUMBERED = re.compile(r"([a-z]*+)([0-9]++)([a-z0-9]*+)")


def split(text: str) -> list[str]:
    """Cut a text into lower-case tokens: at separators, at the humps of camelCase, before a lone number."""
    if _PLAIN.fullmatch(text):
        return _SEPARATOR.split(text)
    text = _APOSTROPHE.sub("", text)
    if not text.islower():
        text = _BRANDS.sub(lambda match: match.group().capitalize(), text)
    if text.isascii():
        chunks = _CHUNK.findall(_NOT_A_WORD.sub(" ", text))
        pieces = [piece for chunk in chunks for piece in ((chunk,) if chunk.islower() else _CAMEL.split(chunk))]
        return [token for piece in pieces for token in _numbers_apart(piece)]
    chunks = _CHUNK.findall(_words_only(unicodedata.normalize("NFKC", text)))
    pieces = [piece for chunk in chunks for piece in _humps_apart(chunk)]
    return [unicodedata.normalize("NFKC", token) for piece in pieces for token in _numbers_apart(piece)]


def normalise(text: str) -> str:
    """Spell a query or a name the one way in which both are compared; text of nothing but signs stays as it is."""
    return " ".join(split(text)) or "".join(unicodedata.normalize("NFKC", text).lower().split())


@lru_cache(maxsize=1 << 16)
def normalise_tag(tag: str) -> str:
    """Spell a tag as `normalise` does; remembered, since icons of a set share most of their tags."""
    return normalise(tag)


def _numbers_apart(piece: str) -> Tokens:
    """ArrowRight18 is "right 18", python3 "python 3", 24px "24 px"; but mp3, h1, 2fa and a11y are one word each."""
    word = piece.lower()
    match = _NUMBERED.fullmatch(word)
    if match is None:
        return (word,)
    letters, number, rest = match.groups()
    if rest in UNITS:
        return (letters, number, rest) if letters else (number, rest)
    is_capitalised = piece[:1].isupper() and piece[1:2].islower()
    is_sized = not rest and len(number) <= 3 and int(number) in USUAL_SIZES and letters not in _WHOLE
    if len(letters) >= 5 or (is_sized and len(letters) >= (2 if is_capitalised else 4)):
        return (letters, number + rest)
    return (word,)


def _words_only(text: str) -> str:
    """Blank what is neither letter, digit nor + or #; marks belong to the letter before them."""
    kept = []
    for sign in text:
        kind = unicodedata.category(sign)
        is_word = kind[0] in "LN" or sign in "+#" or (kind in ("Mn", "Mc") and not "\ufe00" <= sign <= "\ufe0f")
        kept.append(sign if is_word else " ")
    return "".join(kept)


def _humps_apart(chunk: str) -> list[str]:
    """Cut camelCase in any script that has cases, by the humps of its ASCII shadow."""
    shadow = "".join(
        "A" if sign.isupper() else "a" if sign.islower() else "0" if sign.isdigit() else "~" for sign in chunk
    )
    cuts = [0, *(match.start() for match in _CAMEL.finditer(shadow)), len(chunk)]
    return [chunk[start:end] for start, end in pairwise(cuts)]


_ESCAPED = re.compile(r"\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4})")
_HARMLESS = frozenset("\u00a0\u2009\u202f\u3000\u200c\u200d")
"""Spaces, and what joins emoji and Persian letters or keeps them apart."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Spell control signs, marks of direction, line ends and lone surrogates as `\x1b`, `\u202e`, `\n`.

    What is in `keep` stays as it is.
    """
    if text.isprintable():
        return text
    harmless = _HARMLESS | {*keep}
    return "".join(
        sign if sign.isprintable() or sign in harmless else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def unprinted(text: str) -> str:
    """Give back what `printable` spelled; a text that it never spells so stays as it is."""
    return _ESCAPED.sub(lambda escape: escape[0].encode("ascii").decode("unicode_escape", errors="replace"), text)


def say(line: str, *, err: bool = False) -> None:
    """Print one line for people."""
    click.echo(printable(line), err=err)
