"""What do two open programs say, in English and in translations, that the dictionary is not built from?

The texts of `@excalidraw/excalidraw` and `@uppy/locales` (npm, both MIT): `icons evaluate --languages` asks for some.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.making.language.script_texts import Reference, Tree, leaves, objects
from indexer.errors import SourceError
from indexer.languages.codes import language_of
from indexer.languages.dictionary import ENGLISH
from indexer.languages.folding import fold

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
            raise SourceError(f'"{folder}" holds no locales; data/eval/README.md says how to install them')
        locales = {language: texts for file in files for language, texts in read(file)}
        english = next((texts for locale, texts in locales.items() if language_of(locale) == ENGLISH), None)
        if english is None:
            raise SourceError(f'"{folder}" holds no English texts; data/eval/README.md says which version has them')
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
