"""What interfaces say in other languages: the texts of open programs, in English and in translations.

Most are what the dictionary is made of: JSON by language with the same keys, and gettext's .mo files, whose keys are
English; `PACKAGES` says what is read and under which licence. Those of `@excalidraw/excalidraw` and `@uppy/locales`
(npm, both MIT) are left out of it: `python -m data.making.language evaluate` asks for some. They lie in literals of
JavaScript, which are read as trees; nothing is run.
"""

import gettext
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.languages.dictionary import ENGLISH
from indexer.languages.letters import fold, language_of

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%\([^)]*\)[sdif]|%\d*\$?[sdif]|<[^<>]*>|\$\w+|&\w+;|%%|__\w+__|[&_](?=\w+$)")
_LONGEST_TEXT = 400
"""Characters of a text; longer ones are pages."""


@dataclass(frozen=True, slots=True)
class Text:
    """The same in English and in another language, both folded."""

    language: str
    english: str
    foreign: str
    source: str
    """The package that says so."""


@dataclass(frozen=True, slots=True)
class Package:
    """Where the texts of a program lie in what npm or pip installs."""

    folder: str
    """Below `node_modules` or the folder that pip installs into."""
    licence: str
    pattern: str
    """Of its files."""
    english: str | None
    """The English file beside them, by a pattern; None for gettext, whose keys are English."""


PACKAGES: Sequence[Package] = (
    Package("hass_frontend/static/translations", "Apache-2.0", "**/*.json", "en-[0-9a-f]*.json"),
    Package("matrix-react-sdk/src/i18n/strings", "Apache-2.0", "*.json", "en_EN.json"),
    Package("@openstreetmap/id-tagging-schema/dist/translations", "ISC", "*.json", "en.json"),
    Package("video.js/dist/lang", "Apache-2.0", "*.json", "en.json"),
    Package("lighthouse/shared/localization/locales", "Apache-2.0", "*.json", "en-US.json"),
    Package("primelocale", "MIT", "*.json", "en.json"),
    Package("wagtail", "BSD-3-Clause", "**/*.mo", None),
    Package("superset", "Apache-2.0", "**/*.mo", None),
    Package("django", "BSD-3-Clause", "**/*.mo", None),
    Package("filer", "BSD-3-Clause", "**/*.mo", None),
    Package("cms", "BSD-3-Clause", "**/*.mo", None),
    Package("oscar", "BSD-3-Clause", "**/*.mo", None),
    Package("allauth", "MIT", "**/*.mo", None),
    Package("spyder", "MIT", "**/*.mo", None),
)


def interface_texts(folders: Sequence[Path]) -> Iterator[Text]:
    """Read all packages that lie in some folders, each pair of texts of a source once.

    Raises:
        SourceError: one is in none of them.
    """
    for package in PACKAGES:
        found = [folder / package.folder for folder in folders if (folder / package.folder).is_dir()]
        if not found:
            raise SourceError(
                f'"{package.folder}" is in none of the folders; data/making/README.md says what brings it'
            )
        read = _gettext_texts if package.english is None else _json_texts
        yield from dict.fromkeys(text for folder in found for text in read(folder, package))


def _json_texts(root: Path, package: Package) -> Iterator[Text]:
    for original in sorted(root.glob(f"**/{package.english}" if "**" in package.pattern else str(package.english))):
        if language_of(original.name) != "en" or original.name.startswith("en-GB"):
            continue
        english = dict(_json_leaves(json.loads(original.read_text("utf-8"))))
        for file in sorted(original.parent.glob(Path(package.pattern).name)):
            language = language_of(file.name)
            if language == "en" or ".min." in file.name or not language.isalpha():
                continue
            for key, text in _json_leaves(json.loads(file.read_text("utf-8"))):
                yield from _pair(language, english.get(key), text, package)


def _json_leaves(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a tree by their keys; a root that is a language's code counts for nothing."""
    if isinstance(tree, Mapping):
        is_root = not path and len(tree) == 1
        for key, below in tree.items():
            yield from _json_leaves(below, "/" if is_root else f"{path}/{key}")
    elif isinstance(tree, str) and not path.endswith(("/terms", "/aliases")):
        yield path, tree


def _gettext_texts(root: Path, package: Package) -> Iterator[Text]:
    for file in sorted(root.glob(package.pattern)):
        language = language_of(file.parent.parent.name)
        if language == "en":
            continue
        with file.open("rb") as opened:
            held: Mapping[Any, Any] = vars(gettext.GNUTranslations(opened))["_catalog"]
        for key, text in held.items():
            original = key[0] if isinstance(key, tuple) else key
            yield from _pair(language, original.rpartition("\x04")[2], text, package)


def _pair(language: str, english: str | None, foreign: str, package: Package) -> Iterator[Text]:
    original, translation = (fold(_plain(text)) for text in (english or "", foreign))
    is_untranslated = original == translation and " " in original
    if original and translation and not is_untranslated:
        yield Text(language, original, translation, package.folder.partition("/")[0])


def _plain(text: str) -> str:
    """Leave out placeholders and marks of keys; nothing is left of a text with forms for numbers."""
    if len(text) > _LONGEST_TEXT or "plural," in text or "select," in text:
        return ""
    return _PLACEHOLDER.sub(" ", text)


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


_EXCALIDRAW, _UPPY = "@excalidraw/excalidraw/dist/prod/locales", "@uppy/locales/lib"
_PERCENTAGES = "percentages"
"""A file beside the locales that holds no texts."""
_CHUNK = re.compile(r"""from\s*["'](\.\./[\w.-]+\.js)["']""")
_TELLING = "labels"
"""A section that every locale of Excalidraw has."""
_UNTIDY = re.compile(r"[{}<>%()\[\]/|\\\"*:@#&+=\n\d]")
"""Placeholders, shortcuts and remarks: nobody types these."""
_ENDS = " .…!?,\u3002"
MOST_WORDS, MOST_LETTERS = 4, 30


@dataclass(frozen=True, slots=True)
class Translation:
    """A short text in English, folded, and as another language has it."""

    english: str
    language: str
    foreign: str


def left_out_texts(modules: Path) -> Iterator[Translation]:
    """Read all short texts of both packages below `node_modules`, locale by locale, in the order of their names.

    A text that reads as the English one does is left out: nobody may have translated it.

    Raises:
        SourceError: a package is not there, or not as it was when this was written.
    """
    for read, folder in ((_read_excalidraw, modules / _EXCALIDRAW), (_read_uppy, modules / _UPPY)):
        files = sorted(folder.glob("*.js"))
        if not files:
            raise SourceError(f'"{folder}" holds no locales; data/making/README.md says how to install them')
        locales = {language: texts for file in files for language, texts in read(file)}
        english = next((texts for locale, texts in locales.items() if language_of(locale) == ENGLISH), None)
        if english is None:
            raise SourceError(f'"{folder}" holds no English texts; data/making/README.md says which version has them')
        for locale, texts in locales.items():
            yield from _translations(language_of(locale), english, texts)


def _translations(language: str, english: Mapping[str, str], texts: Mapping[str, str]) -> Iterator[Translation]:
    for key, text in texts.items():
        original, foreign = fold(_tidy(english.get(key, ""))), _tidy(text)
        if original and fold(foreign) not in ("", original):
            yield Translation(original, language, foreign)


def _tidy(text: str) -> str:
    """A short text without the marks at its end; "" for one that nobody would type."""
    text = " ".join(text.split()).strip(_ENDS)
    is_short = len(text) <= MOST_LETTERS and len(text.split()) <= MOST_WORDS
    return text if is_short and not _UNTIDY.search(text) else ""


def _read_excalidraw(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Texts of a chunk, by locale: one of its objects says which of the others is which section."""
    locale = file.stem.rpartition("-")[0]
    if locale == _PERCENTAGES:
        return
    content = _content(file)
    chunks = (file.parent / chunk for chunk in _CHUNK.findall(content))
    found = objects(content) or objects("\n".join(map(_content, chunks)))  # English is passed on from a chunk
    roots = [tree for tree in found.values() if isinstance(tree.get(_TELLING), Reference)]
    if len(roots) != 1:
        raise SourceError(f'"{file}" is no locale as Excalidraw 0.18.1 has them')
    yield locale, dict(leaves(_sections(roots[0], found)))


def _sections(root: Tree, found: Mapping[str, Tree]) -> Tree:
    return {section: found[name] for section, name in root.items() if isinstance(name, str) and name in found}


def _read_uppy(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Texts of a locale: `de_DE.strings = {...}`; other files are passed over."""
    strings = objects(_content(file)).get("strings")
    if strings:
        yield file.stem, dict(leaves(strings))


def _content(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SourceError(f'"{path}" can\'t be read ({error.strerror}); install the whole package') from error
