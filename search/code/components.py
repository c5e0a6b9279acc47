"""Components of a set, for those of others, and for elements that draw what is imported: `<FontAwesomeIcon>`."""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from indexer.errors import IconsError
from search.code.files import installed_exports, package_of, tables, words
from search.code.map import Candidate
from search.code.names import Scanned
from search.code.syntax import Element, Import, Span
from search.drawings.frameworks import FRAMEWORKS, Export, exported, free_name, named_icon
from search.engine import SearchEngine


def ecosystem(module: str) -> str | None:
    """What the components of a module are for: "react", "vue", "svelte"; None where it exports no such components."""
    package, parts = package_of(module), re.split("[-/@]", package_of(module))
    kinds = ["react"] if package in words("of_react") else [one for one in ("react", "vue", "svelte") if one in parts]
    return next(iter(kinds), None) if "native" not in parts and not package.startswith(words("drawn")) else None


class Targets:
    """Icons of the target set, as code writes them."""

    def __init__(self, engine: SearchEngine, to: str) -> None:
        self._to = to
        self._frameworks = {
            ecosystem(one.packages[0]): one for one in FRAMEWORKS.values() if one.form == "component" and to in one.sets
        }
        self.icon = cache(lambda candidate: named_icon(engine.show(candidate.id).hit))
        """What code needs of a candidate."""

    def component(self, candidate: Candidate, kind: str, path: str) -> Export | str:
        """What is imported as a component for a kind of applications, in a file; or why nothing is."""
        if kind not in self._frameworks:
            return f"no package is known that has {self._to} as components for {kind}"
        try:
            export = exported(self.icon(candidate), self._frameworks[kind])
        except IconsError:
            return f"{self._frameworks[kind].packages[0]} does not export {candidate.name.key}"
        module = tables()["newer"].get(export.module, export.module)
        names = installed_exports(os.path.realpath(os.path.dirname(path)), module)  # noqa: PTH120
        is_there = not names or export.name in names
        return replace(export, module=module) if is_there else f"{module} as it is installed has no {export.name}"

    def in_place_of(self, candidate: Candidate, module: str, path: str, shown: Container[str]) -> Export | str:
        """What is imported in a file in place of a component of another package that elements show with some
        attributes; or why nothing is.
        """
        kind = ecosystem(module)
        if not kind:
            return f"no components of React, Vue or Svelte are known of {module}"
        found = self.component(candidate, kind, path)
        if isinstance(found, str):
            return found
        if found.weight is not None:
            return f'{found.name} of {found.module} takes weight="{found.weight}" where it is used'
        alone = [
            *words("alone_in_material" if package_of(module) in words("material") else "alone"),
            *(words("alone_in_svelte") if kind == "svelte" else ()),
        ]
        alone += [] if "size=" in self._frameworks[kind].look["size"] else ["size"]
        return next((f'"{one}" is of the old component alone' for one in alone if one in shown), found)

    def sized(self, kind: str, size: str) -> str:
        """How a component is told its size, a CSS length."""
        # Packages for Vue pass these on, and not all take a length as their size.
        look = self._frameworks[kind].look["size"] if kind in self._frameworks else ""
        look = "width= height=" if kind == "vue" else look
        return " ".join(f'{name}="{size}"' for name in re.findall(r"([\w-]+)=", look))


_SIZES = {
    "icon": {"": "1em", "2xs": ".625em", "xs": ".75em", "sm": ".875em", "lg": "1.25em", "xl": "1.5em", "2xl": "2em"}
    | {f"{n}x": f"{n}em" for n in range(1, 11)},
    "path": {"": "100%"} | {f"{n / 10:g}": f"{n * 0.15:g}rem" for n in range(1, 101)},
}
"""CSS lengths of what the attribute `size` says, by "" where there is none: by the attribute that says which icon."""
_ITEM = r"""([A-Za-z_$][\w$]*|["'][\w -]+["']|\[\s*["']fa\w+["']\s*,\s*["'][\w-]+["']\s*\])(?:\s+as\s+\w+)?"""
_VALUE = re.compile(rf"\s*(?:(.+)\?\s*{_ITEM}\s*:\s*)?{_ITEM}\s*", re.DOTALL)
bare = partial(re.compile(r"^(?:v-bind)?:").sub, "")
"""The name of an attribute, bound or not."""
_KEPT = re.compile(
    r"(?:class(?:Name)?|style|color|id|key|ref|role|tab[iI]ndex|slot|aria-.+|data-.+|on[A-Z:]\w*|class:.+)$"
    r"|@|v-(?:if|else|else-if|for|show|on)\b"
)
"""Attributes that mean the same of every component."""
_CHOSEN = "\0"
"""Stands for the expression that chooses a component of Vue."""
_WORD = re.compile(r"[\w$]+")
_ADD = re.compile(r"[\w$]+\.add\(([\w$,\s]*)\)[ \t]*;?")
ALL_NAMES = "*"
"""Where any registered icon may be looked up."""


class _Plan(NamedTuple):
    """An element, and what of it becomes a component."""

    span: Span
    kind: str
    is_child: bool
    icons: Mapping[int, tuple[Span, Export | str]]
    """One, or the two that a condition chooses between, by the starts of the references that name them: where these
    are meant in the element, and as what."""
    condition: str
    tags: Sequence[Span]
    """Of its name, in its first tag, and in its second if it has one."""
    edits: Mapping[Span, str]
    """Of its attributes."""
    why: str
    """Why it stays as it is; "" where it need not."""


class Drawings:
    """The elements of one file that draw what is imported or registered, and what becomes of them."""

    def __init__(self, file: Scanned, candidates: Mapping[int, Candidate], targets: Targets) -> None:
        self._text, self._code, self._path = file.text, file.code, file.path
        self._candidates, self._targets = candidates, targets
        is_vue, drawers = file.path.endswith(".vue"), tables()["drawers"]
        imported = [
            (one, name) for one in self._code.imports for name in one.names if one.form == "import" and not one.is_type
        ]
        self._imports = {name.local: (one, name) for one, name in imported}
        drawn = [(one, name) for one, name in imported if one.module.startswith((*drawers, *words("drawn")))]
        called = ((one, name) for one, name in drawn if one.module in drawers and name.name in words("drawers"))
        # An application of Vue may call the component everywhere.
        self._drawers = dict.fromkeys(("font-awesome-icon", "FontAwesomeIcon") if is_vue else (), "vue icon")
        self._drawers |= {name.local: drawers[one.module] for one, name in called}
        self._objects = {name.local: name.start for _, name in drawn if name.start in candidates}
        self._libraries = [name.local for _, name in drawn if name.name == "library"]
        beside = drawn if not is_vue else (drawn or imported) if "<script setup" in self._text else []
        self.home: Import | None = min((one for one, _ in beside), key=lambda one: one.span, default=None)
        """The statement beside which components are imported."""
        layers = next((f"{name.name} puts icons upon each other" for _, name in drawn if "Layers" in name.name), "")
        self._why = layers if self.home else "no import here can take another"
        self._plans = [
            self._plan(one, *self._drawers[one.name].split())
            for one in sorted(self._code.elements, key=lambda one: one.span)
            if one.name in self._drawers
        ]
        self.unknown = [one.span for one in self._plans if not one.icons]
        """Elements whose icon only the running program knows."""
        self.drawn = {start for one in self._plans for start in one.icons} | {*self._objects.values()}
        """Starts of all names that were looked at here."""
        added = (word for found in self._adds() for word in _WORD.finditer(self._text, *found.span(1)))
        self._registered = {word.start(): word[0] for word in added}
        self.refused = self._refuse()
        """Why what is named stays, by where."""
        self.edits, self.gone, self.added = dict[Span, str](), set[int](), list[tuple[str, str]]()
        """What is written; starts of the specifiers that nothing needs any more; what is imported: from which module,
        and how it is written.
        """

    def _plan(self, element: Element, kind: str, attribute: str) -> _Plan:
        """See which icons an element shows, and whether a component could show them."""
        text, (start, end), why, condition, sizes = self._text, element.span, self._why, "", _SIZES[attribute]
        tags, edits = [(start + 1, start + 1 + len(element.name))], dict[Span, str]()
        icons: dict[int, tuple[Span, Export | str]] = {}
        spans = {bare(name): (one.start, one.end) for name, one in element.attributes.items()}
        for name, (first, last) in spans.items():
            value = text[first:last].partition("=")[2]
            size, is_icon = value.strip("\"'{} ") if name == "size" else "", name == attribute
            if is_icon:
                is_bound = value[:1] == "{" or not text.startswith(name, first)
                condition, items = self._items(last - len(value) + is_bound, last - is_bound)
                icons = {
                    at: (item, self._targets.component(self._candidates[at], kind, self._path))
                    for at, item in items.items()
                }
            elif name not in ("size", *words("dropped")):
                why = why or ("" if _KEPT.match(name) else f'"{name}" is of {element.name} alone')
                continue
            why = why or ("" if size in sizes else f"its size is {value}")
            is_sized = name == "size" or (is_icon and "size" not in spans)
            written = [_CHOSEN] if condition and is_icon and kind == "vue" else []
            written += [self._targets.sized(kind, sizes.get(size, ""))] if is_sized else []
            edits[first if any(written) else len(text[:first].rstrip()), last] = " ".join(filter(None, written))
        if not text.endswith("/>", start, end):
            closed = re.compile(rf"\s*</({re.escape(element.name)})\s*>").match(text, end)
            tags, end = ([*tags, closed.span(1)], closed.end()) if closed else (tags, end)
            why = why if closed else why or "it holds something"
        exports = {one for _, one in icons.values()}
        both = "both of its icons would be one" if condition and len(exports) == 1 else ""
        why = why or next((one for one in exports if isinstance(one, str)), both)
        return _Plan((start, end), kind, element.is_child, icons, condition, tags, edits, why)

    def _items(self, start: int, end: int) -> tuple[str, Mapping[int, Span]]:
        """The condition of an expression, and the icons that it may be, by the starts of what names them."""
        found = _VALUE.fullmatch(self._text, start, end)
        spans = [found.span(n) for n in (2, 3) if found[n]] if found else []
        condition, items = (found[1] or "").strip() if found else "", dict[int, Span]()
        is_plain = self._objects.keys().isdisjoint(_WORD.findall(condition))
        for first, last in spans:
            said, within = self._text[first:last], (at for at in self._candidates if first <= at < last)
            at = next(within, -1) if said[0] in "[\"'" else self._objects.get(said, -1)
            items |= {at: (first, last)} if at >= 0 else {}
        return condition, items if len(items) == len(spans) and is_plain else {}

    def _uses(self, name: str) -> list[int]:
        """Where a name stands, outside of comments and of its import."""
        left = [*self._code.comments, *([self._imports[name][0].span] if name in self._imports else [])]
        found = [one.start() for one in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self._text)]
        return [at for at in found if not any(start <= at < end for start, end in left)]

    def _adds(self) -> Iterator[re.Match[str]]:
        """Find the calls that register icons."""
        return filter(None, (_ADD.match(self._text, at) for name in self._libraries for at in self._uses(name)))

    def _refuse(self) -> dict[int, str]:
        """Find what is used in another way, then all that elements show together with what is refused."""
        refused: dict[int, str] = {}
        shown = {item[0] for one in self._plans for item, _ in one.icons.values()}
        for name, start in self._objects.items():
            uses = self._uses(name)
            others = [at for at in uses if at not in shown and at not in self._registered]
            if others or not uses:
                line = self._text.count("\n", 0, others[0] if others else 0) + 1
                refused[start] = f"line {line} uses it as a value" if others else "no element shows it"
        n_before = -1
        while n_before != len(refused):
            n_before = len(refused)
            for one in self._plans:
                why = one.why or next((refused[start] for start in one.icons if start in refused), "")
                refused = dict.fromkeys(one.icons, why) | refused if why else refused
        return refused

    def rewrite(self, still: Mapping[int, str]) -> None:
        """Write components in the place of elements, but for what is refused.

        `still`: why what is registered must stay so, by the starts of the names.
        """
        changed = [one for one in self._plans if self.refused.keys().isdisjoint(one.icons) and one.icons]
        for one in changed:
            self._write(one)
        names = {self._objects.get(name) for name in self._registered.values()}
        self.refused = {start: why for start, why in still.items() if start in names} | self.refused
        gone = {name: start for name, start in self._objects.items() if start not in self.refused}
        needless = {span[0] for one in changed for span in one.tags}
        for found in self._adds():
            kept = [part for part in found[1].split(",") if part.strip() not in gone]
            if not "".join(kept).strip():
                needless.add(found.start())
                self.edits[whole_line(self._text, found.span())] = ""
            elif len(kept) <= found[1].count(","):
                self.edits[found.span(1)] = ",".join(kept) if found[1][:1].isspace() else ",".join(kept).lstrip()
        for name in (*self._drawers, *self._libraries) if self.edits else ():
            if name in self._imports and needless.issuperset(self._uses(name)):
                gone[name] = self._imports[name][1].start
        self.gone = {*gone.values()}

    def _write(self, one: _Plan) -> None:
        """Write the component that an element becomes, or both of them with the condition."""
        names = [self._bound(export) for _, export in one.icons.values() if isinstance(export, Export)]
        changes = [dict(one.edits) | dict.fromkeys(one.tags, name.split()[0]) | {one.tags[0]: name} for name in names]
        if len(names) == 1:
            self.edits |= changes[0]
        elif one.kind == "vue":
            chosen = f':is="{one.condition} ? {names[0]} : {names[1]}"'
            self.edits |= {span: text.replace(_CHOSEN, chosen) for span, text in one.edits.items()}
            self.edits |= dict.fromkeys(one.tags, "component")
        else:
            start, end = one.span
            before, between, behind = tables()["conditions"][one.kind + "-child" * one.is_child]
            shown = edited(self._text, changes[0], start, end)
            self.edits |= {(start, start): f"{before.replace('%s', one.condition)}{shown}{between}", **changes[1]}
            self.edits[end - 1, end] = f">{behind}"

    def _bound(self, export: Export) -> str:
        """What a component is called here, with the weight that it takes; it is imported."""
        weight = f' weight="{export.weight}"' if export.weight else ""
        asked = (export.module, export.name)
        values = (name for one, name in self._imports.values() if (one.module, name.name) == asked)
        if here := next((name.local for name in values if not name.is_type), ""):
            return f"{here}{weight}"
        local = free_name(export.name)
        while self._uses(local):
            local += "Icon"
        self.added.append((export.module, export.called(local)))
        return f"{local}{weight}"


def edited(text: str, edits: Mapping[Span, str], start: int = 0, end: int | None = None) -> str:
    """A text, or a part of it, with all that is changed there."""
    parts = []
    for (first, last), written in sorted(edits.items()):
        assert first >= start or not written, "edits overlap"
        parts += [text[start:first], written]
        start = max(start, last)
    return "".join((*parts, text[start:end]))


def whole_line(text: str, span: Span) -> Span:
    """What goes with a statement that goes: its line, where it fills one, else the blanks beside it."""
    start, end = span
    line, behind = text.rfind("\n", 0, start) + 1, re.compile(r"[ \t]*(\r?\n|\Z)?").match(text, end)
    is_all = behind and not text[line:start].strip()
    return (line, behind.end()) if behind and is_all else (line + len(text[line:start].rstrip()), end)
