"""Which texts does a script hold? Object literals of JavaScript, minified or not, as trees. Nothing is run."""

import re
from collections.abc import Iterator, Mapping, Sequence

Token = re.Match[str]
_TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"|(?P<name>[\w$]+)|(?P<sign>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


class Reference(str):
    """A name that stands where a value should: of another object, or a number."""

    __slots__ = ()


Tree = Mapping[str, "str | Tree"]
"""Texts, references and trees by their keys."""


def objects(source: str) -> dict[str, Tree]:
    """Read the object literals of a script that are assigned to a name, by its last part: `de.strings = {...}`.

    One that holds functions, lists or sums is left out. Of several by one name the last counts, as in a script.
    """
    tokens = [token for token in _TOKEN.finditer(source) if token["gap"] is None]
    found: dict[str, Tree] = {}
    at = 0
    while at < len(tokens):
        name, *assigned = [token[0] for token in tokens[at : at + 3]]
        read = _tree(tokens, at + 3) if tokens[at]["name"] and assigned == ["=", "{"] else None
        if read is None:
            at += 1
        else:
            found[name], at = read
    return found


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a tree by their keys: "/labels/copy"."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}/{key}")
        elif not isinstance(value, Reference):
            yield f"{path}/{key}", value


def _tree(tokens: Sequence[Token], at: int) -> tuple[Tree, int] | None:
    """Read what stands behind a "{", and tell the place behind its "}"; None where it is no tree of texts."""
    found: dict[str, str | Tree] = {}
    while at < len(tokens) and tokens[at][0] != "}":
        key, *colon = tokens[at : at + 2]
        if key[0] == ",":
            at += 1
            continue
        is_key = not key["sign"] and [sign[0] for sign in colon] == [":"]
        read = _value(tokens, at + 2) if is_key else None
        if read is None:
            return None
        found[_unquoted(key[0]) if key["text"] else key[0]], at = read
    return (found, at + 1) if at < len(tokens) else None


def _value(tokens: Sequence[Token], at: int) -> "tuple[str | Tree, int] | None":
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token["text"]:
        return _unquoted(token[0]), at + 1
    if token["name"]:
        return Reference(token[0]), at + 1
    return _tree(tokens, at + 1) if token[0] == "{" else None


def _unquoted(literal: str) -> str:
    """Text of a literal; two escapes of a pair of surrogates are one character."""
    text = _ESCAPE.sub(lambda found: _unescaped(found.groups()), literal[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(parts: Sequence[str | None]) -> str:
    *codes, char = parts
    code = next(filter(None, codes), None)
    if code is not None:
        return chr(int(code, 16))
    return _CONTROLS.get(char or "", char or "")
