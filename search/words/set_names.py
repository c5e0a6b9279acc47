"""Which sets are meant? By key, by title, or by what people and code call them: "Font Awesome", "material", "fas"."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

IN_CODE = {
    "fa": "font awesome", "fas": "font awesome solid", "fa-solid": "font awesome solid", "far": "font awesome regular",
    "fa-regular": "font awesome regular", "fab": "font awesome brands", "fa-brands": "font awesome brands",
    "ti": "tabler", "tb": "tabler", "lu": "lucide", "md": "google material", "material-icons": "google material",
    "material-symbols-outlined": "material symbols", "material-symbols-rounded": "material symbols",
    "material-symbols-sharp": "material symbols", "bs": "bootstrap", "hi": "heroicons", "io": "ionicons",
    "fi": "feather", "pi": "phosphor", "vsc": "codicons", "cg": "css gg", "ai": "ant design", "rx": "radix",
    "lia": "line awesome", "la": "line awesome", "fc": "flat color", "sl": "simple line", "oct": "octicons",
}  # fmt: skip
"""What classes and components are called where that is not a set's key: words of titles (react-icons, icon fonts)."""
WELL_KNOWN = frozenset((
    "ant-design", "bi", "bx", "bxl", "bxs", "carbon", "ci", "codicon", "dashicons", "eva", "feather", "fluent", "gg",
    "heroicons", "ic", "iconoir", "ion", "logos", "lucide", "material-symbols", "mdi", "octicon", "ph", "radix-icons",
    "ri", "simple-icons", "solar", "tabler", "uil", "vscode-icons",
))  # fmt: skip
"""Keys that code may tell although a library lacks the set, or calls it otherwise: lucide-static, @mdi/svg."""
_WORD = re.compile(r"[a-z0-9]+")
Meant = tuple[int, ...]
"""Codes of sets."""


class SetNames:
    """Names of a library's sets; a set is told by its code, its place in both lists."""

    def __init__(self, keys: Sequence[str], titles: Sequence[str]) -> None:
        self._keys = {key.lower(): code for code, key in enumerate(keys)}
        self._titles = [title.lower() for title in titles]

    def meant(self, name: str) -> Meant:
        """Sets that people mean: the one of this key, else all whose key or title says it, spaces and hyphens aside."""
        folded = " ".join(name.lower().split())
        if folded in self._keys:
            return (self._keys[folded],)
        squashed = "".join(_WORD.findall(folded))
        return tuple(code for code, runs in enumerate(self._runs) if squashed in runs)

    def with_key(self, key: str) -> Meant | None:
        """Sets that a qualified name means: those of this key; None where it is no set's that is known."""
        folded = key.lower()
        if folded in self._keys:
            return (self._keys[folded],)
        return self._saying(folded) if folded in WELL_KNOWN else None

    def in_code(self, name: str) -> Meant | None:
        """Sets that a class or a component means; None where it means none that is known."""
        folded = name.lower()
        return self._saying(IN_CODE[folded]) if folded in IN_CODE else self.with_key(folded)

    def _saying(self, words: str) -> Meant:
        wanted = set(_WORD.findall(words))
        return tuple(code for code, said in enumerate(self._words) if wanted <= said)

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        named = zip(self._keys, self._titles, strict=True)
        return [frozenset(_WORD.findall(f"{key} {title}")) for key, title in named]

    @cached_property
    def _runs(self) -> list[frozenset[str]]:
        """All runs of words of key and of title, each as one word: of Font Awesome 6 Solid also "fontawesome"."""
        named = zip(self._keys, self._titles, strict=True)
        return [frozenset((*_runs(_WORD.findall(key)), *_runs(_WORD.findall(title)))) for key, title in named]


def _runs(words: Sequence[str]) -> Iterator[str]:
    for start in range(len(words)):
        for stop in range(start + 1, len(words) + 1):
            yield "".join(words[start:stop])
