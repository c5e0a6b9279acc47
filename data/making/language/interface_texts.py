"""What do interfaces say in other languages? Reads the texts of open programs, in English and in translations.

Two kinds of files: JSON by language with the same keys, and gettext's .mo files, whose keys are English. `PACKAGES`
says what is read and under which licence. Texts that `icons evaluate --languages` asks with are none of them.
"""

import gettext
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.errors import SourceError
from indexer.languages.codes import language_of
from indexer.languages.folding import fold

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%\([^)]*\)[sdif]|%\d*\$?[sdif]|<[^<>]*>|\$\w+|&\w+;|%%|__\w+__|[&_](?=\w+$)")
_LONGEST = 400
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
            raise SourceError(f'"{package.folder}" is in none of the folders; docs/languages.md says how to install it')
        read = _gettext_texts if package.english is None else _json_texts
        yield from dict.fromkeys(text for folder in found for text in read(folder, package))


def _json_texts(root: Path, package: Package) -> Iterator[Text]:
    for original in sorted(root.glob(f"**/{package.english}" if "**" in package.pattern else str(package.english))):
        if language_of(original.name) != "en" or original.name.startswith("en-GB"):
            continue
        english = dict(_leaves(json.loads(original.read_text("utf-8"))))
        for file in sorted(original.parent.glob(Path(package.pattern).name)):
            language = language_of(file.name)
            if language == "en" or ".min." in file.name or not language.isalpha():
                continue
            for key, text in _leaves(json.loads(file.read_text("utf-8"))):
                yield from _pair(language, english.get(key), text, package)


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a tree by their keys; a root that is a language's code counts for nothing."""
    if isinstance(tree, Mapping):
        is_root = not path and len(tree) == 1
        for key, below in tree.items():
            yield from _leaves(below, "/" if is_root else f"{path}/{key}")
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
    if len(text) > _LONGEST or "plural," in text or "select," in text:
        return ""
    return _PLACEHOLDER.sub(" ", text)
