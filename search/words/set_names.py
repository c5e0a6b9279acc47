"""Which sets are meant? By key, by title, or by what people and code call them: "Font Awesome", "material", "fas"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

IN_CLASSES = {
    "fa": "font awesome", "fas": "font awesome solid", "fa-solid": "font awesome solid", "far": "font awesome regular",
    "fa-regular": "font awesome regular", "fab": "font awesome brands", "fa-brands": "font awesome brands",
    "ti": "tabler", "la": "line awesome", "material-icons": "google material",
    "material-symbols-outlined": "material symbols", "material-symbols-rounded": "material symbols",
    "material-symbols-sharp": "material symbols",
}  # fmt: skip
"""What CSS classes of icon fonts are called where that is not a set's key: words of titles."""
IN_COMPONENTS = {
    "fa": "font awesome", "ti": "tabler", "tb": "tabler", "lu": "lucide", "md": "google material", "bs": "bootstrap",
    "hi": "heroicons", "io": "ionicons", "fi": "feather", "pi": "phosphor", "vsc": "codicons", "cg": "css gg",
    "ai": "ant design", "rx": "radix", "lia": "line awesome", "la": "line awesome", "fc": "flat color",
    "sl": "simple line", "oct": "octicons",
}  # fmt: skip
"""The same of components (react-icons): no class begins so, and words do, as "ai-robot"."""
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
        self._named = [(key.lower(), title.lower()) for key, title in zip(keys, titles, strict=True)]

    def meant(self, name: str) -> Meant:
        """Sets that people mean: those of this key, else all whose key or title says it, spaces and hyphens aside."""
        folded = " ".join(name.lower().split())
        if folded in self._by_key:
            return self._by_key[folded]
        squashed = "".join(_WORD.findall(folded))
        return tuple(code for code, runs in enumerate(self._runs) if squashed in runs)

    def with_key(self, key: str) -> Meant | None:
        """Sets that a qualified name means: those of this key; None where it is no set's that is known."""
        folded = key.lower()
        if folded in self._by_key:
            return self._by_key[folded]
        return self._saying(folded) if folded in WELL_KNOWN else None

    def in_class(self, name: str) -> Meant | None:
        """Sets that a CSS class means; None where it means none that is known."""
        return self._in(IN_CLASSES, name.lower())

    def in_component(self, name: str) -> Meant | None:
        """Sets that the beginning of a component means; None where it means none that is known."""
        return self._in(IN_COMPONENTS, name.lower())

    def _in(self, code: Mapping[str, str], name: str) -> Meant | None:
        """What a beginning stands for, and a library's own set of that key."""
        if name not in code:
            return self.with_key(name)
        return tuple(dict.fromkeys((*self._by_key.get(name, ()), *self._saying(code[name]))))

    def _saying(self, words: str) -> Meant:
        wanted = set(_WORD.findall(words))
        return tuple(code for code, said in enumerate(self._words) if wanted <= said)

    @cached_property
    def _by_key(self) -> dict[str, Meant]:
        """Sets by key; keys may differ in case alone."""
        codes: dict[str, Meant] = {}
        for code, (key, _) in enumerate(self._named):
            codes[key] = (*codes.get(key, ()), code)
        return codes

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [frozenset(_WORD.findall(f"{key} {title}")) for key, title in self._named]

    @cached_property
    def _runs(self) -> list[frozenset[str]]:
        """All runs of words of key and of title, each as one word: of Font Awesome 6 Solid also "fontawesome"."""
        return [frozenset((*_runs(_WORD.findall(key)), *_runs(_WORD.findall(title)))) for key, title in self._named]


def _runs(words: Sequence[str]) -> Iterator[str]:
    for start in range(len(words)):
        for stop in range(start + 1, len(words) + 1):
            yield "".join(words[start:stop])
