"""How is a text of unknown origin shown to a person? As it is, but for what a terminal would obey, hide or turn around.

Names, reasons, paths and tags come from strangers' files. Whatever is printed of them for people goes through here;
JSON escapes by itself.
"""

import re

import click

_ESCAPED = re.compile(r"\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4})")
_HARMLESS = frozenset("\u00a0\u2009\u202f\u3000\u200c\u200d")
"""Spaces, and what joins emoji and Persian letters or keeps them apart."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Spell control signs, marks of direction, line ends and lone surrogates as `\x1b`, `\u202e`, `\n`.

    What is in `keep` stays as it is.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in _HARMLESS or sign in keep else _escaped(sign) for sign in text)


def unprinted(text: str) -> str:
    """Give back what `printable` spelled; a text that it never spells so stays as it is."""
    return _ESCAPED.sub(lambda escape: escape[0].encode("ascii").decode("unicode_escape", errors="replace"), text)


def say(line: str, *, err: bool = False) -> None:
    """Print one line for people."""
    click.echo(printable(line), err=err)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
