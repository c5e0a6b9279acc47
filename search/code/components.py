"""Components of a set, for those of others, and for elements that draw what is imported: `<FontAwesomeIcon>`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from indexer.errors import IconsError
from search.code.map import Candidate
from search.code.packages import package_of
from search.code.places import CodeRead
from search.code.syntax import Element, Import, Span
from search.drawings.drawn import NamedIcon, named_icon
from search.drawings.frameworks import FRAMEWORKS, exported, free_name
from search.engine import SearchEngine

_KINDS = ("react", "vue", "svelte")
_OF_REACT = ("@mui/icons-material", "@material-ui/icons", "@ant-design/icons", "@tabler/icons")
_DRAWN = ("@fortawesome/", "@mdi/")
"""Scopes of packages that export drawings, which one component draws."""
_BETWEEN = re.compile(r"[-/@]")


class RefusedError(IconsError):
    """An icon has no such form; the message says why."""


def ecosystem(module: str) -> str | None:
    """What the components of a module are for: "react", "vue", "svelte"; None where it exports no such components."""
    package = package_of(module)
    words = _BETWEEN.split(package)
    if "native" in words or package.startswith(_DRAWN):
        return None
    return "react" if package in _OF_REACT else next((kind for kind in _KINDS if kind in words), None)


class Component(NamedTuple):
    """What is imported for an icon, and how its elements tell their size."""

    module: str
    name: str
    weight: str | None
    size: str
    """With "%s" for the size in quotes."""


class Targets:
    """Icons of the target set, as code writes them."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self._icons: dict[int, NamedIcon] = {}

    def icon(self, candidate: Candidate) -> NamedIcon:
        """What code needs of it."""
        if candidate.id not in self._icons:
            self._icons[candidate.id] = named_icon(self._engine.show(candidate.id).hit)
        return self._icons[candidate.id]

    def component(self, candidate: Candidate, kind: str | None) -> Component:
        """What is imported as a component for a kind of applications.

        Raises:
            RefusedError: no package has it so.
        """
        icon = self.icon(candidate)
        of_set = (one for one in FRAMEWORKS.values() if one.form == "component" and icon.set in one.sets)
        framework = next((one for one in of_set if ecosystem(one.packages[0]) == kind), None)
        if framework is None:
            raise RefusedError(f"no package is known that has {icon.set} as components for {kind or 'this'}")
        try:
            found = exported(icon, framework)
        except IconsError as error:
            raise RefusedError(f"{framework.packages[0]} does not export {icon.key}") from error
        names = re.findall(r"([\w-]+)=", framework.look["size"])
        return Component(found.module, found.name, found.weight, " ".join(f'{name}="%s"' for name in names))

    def in_place_of(self, candidate: Candidate, module: str) -> Component:
        """What is imported in place of a component of another package.

        Raises:
            RefusedError: no package has it as a component of that kind, which asks for nothing where it is used.
        """
        kind = ecosystem(module)
        if kind is None:
            raise RefusedError(f"what {module} exports is no component by itself")
        found = self.component(candidate, kind)
        if found.weight is not None:
            raise RefusedError(f'{found.name} of {found.module} takes weight="{found.weight}" where it is used')
        return found


class Drawer(NamedTuple):
    """A component that draws each icon of its family."""

    kind: str
    """What it is a component for."""
    attribute: str
    """Which icon."""
    sizes: Mapping[str, str]
    """CSS lengths of what the attribute `size` says; by "" where there is none."""


_AWESOME = {"": "1em", "2xs": ".625em", "xs": ".75em", "sm": ".875em", "lg": "1.25em", "xl": "1.5em", "2xl": "2em"}
_AWESOME |= {f"{n}x": f"{n}em" for n in range(1, 11)}
_OF_VUE = Drawer("vue", "icon", _AWESOME)
_DRAWERS: Mapping[str, Drawer] = {
    "@fortawesome/react-fontawesome": Drawer("react", "icon", _AWESOME),
    "@fortawesome/vue-fontawesome": _OF_VUE,
    "svelte-fa": Drawer("svelte", "icon", _AWESOME),
    "@mdi/react": Drawer("react", "path", {"": "100%"} | {f"{n / 10:g}": f"{n * 0.15:g}rem" for n in range(1, 101)}),
}
"""By their modules."""
_REGISTERED = {"font-awesome-icon": _OF_VUE, "FontAwesomeIcon": _OF_VUE}
"""As an application of Vue may call it everywhere."""
_LIBRARY = "@fortawesome/fontawesome-svg-core"
_ITEM = r"""([A-Za-z_$][\w$]*+|["'][\w -]+["']|\[\s*["']fa\w+["']\s*,\s*["'][\w-]+["']\s*\])(?:\s+as\s+\w+)?"""
_VALUE = re.compile(rf"\s*(?:(.+)\?\s*{_ITEM}\s*:\s*)?{_ITEM}\s*", re.DOTALL)
_BOUND = re.compile(r"^(?:v-bind)?:")
_KEPT = re.compile(
    r"(?:class(?:Name)?|style|color|id|key|ref|role|tab[iI]ndex|slot|aria-.+|data-.+|on[A-Z:]\w*|class:.+)$"
    r"|@|v-(?:if|else|else-if|for|show|on)\b"
)
"""Attributes that mean the same of every component."""
_DROPPED = ("fixedWidth", "fixed-width", "fw")
"""Icons of other sets are as wide as each other."""
_CONDITIONS = {"react": ("%s ? ", " : ", ""), "svelte": ("{#if %s}", "{:else}", "{/if}")}
ALL_NAMES = "*"
"""Where any registered icon may be looked up."""


class _Plan(NamedTuple):
    """An element, and what of it becomes a component."""

    element: Element
    drawer: Drawer
    icons: Mapping[int, tuple[Span, Component]]
    """One, or the two that a condition chooses between, by the starts of the references that name them."""
    condition: str
    closing: Span
    """Of its name in its second tag; nowhere where it has none."""
    why: str
    """Why it stays as it is; "" where it need not."""


class Drawings:
    """The elements of one file that draw what is imported or registered, and what becomes of them."""

    def __init__(self, file: CodeRead, wanted: Mapping[int, Candidate], targets: Targets) -> None:
        self._file, self._text, self._wanted, self._targets = file, file.text, wanted, targets
        imported = [(one, name) for one in file.code.imports if one.form == "import" for name in one.names]
        self._imports = {name.local: (one, name) for one, name in imported}
        of_drawers = [(_DRAWERS[one.module], name) for one, name in imported if one.module in _DRAWERS]
        drawers = {name.local: drawer for drawer, name in of_drawers if name.name in ("default", "FontAwesomeIcon")}
        self._layers = next((name.name for _, name in of_drawers if "Layers" in name.name), "")
        self._drawers = drawers if file.path.suffix != ".vue" else _REGISTERED | drawers
        ones = ((one, name) for one, name in imported if name.start in wanted)
        self._objects = {name.local: name.start for one, name in ones if package_of(one.module).startswith(_DRAWN)}
        self._libraries = [name.local for one, name in imported if (one.module, name.name) == (_LIBRARY, "library")]
        beside = [one for one, _ in imported if one.module in _DRAWERS or package_of(one.module).startswith(_DRAWN)]
        if not beside and "<script setup" in self._text:
            beside = [one for one, _ in imported]
        self.home: Import | None = min(beside, key=lambda one: one.span, default=None)
        """The statement beside which components are imported."""
        self.refused: dict[int, str] = {}
        """Why what is named stays, by where."""
        self.edits: dict[Span, str] = {}
        self.gone: set[int] = set()
        """Starts of the specifiers that nothing needs any more."""
        self.added: list[tuple[str, str]] = []
        """What is imported: the module, and what is written."""
        plans = [
            self._plan(one, self._drawers[one.name])
            for one in sorted(file.code.elements, key=lambda one: one.span)
            if one.name in self._drawers
        ]
        self.unknown = [one.element for one in plans if not one.icons]
        """Elements whose icon only the running program knows."""
        self._plans = [one for one in plans if one.icons]
        self._refuse()
        self.drawn = {start for one in self._plans for start in one.icons} | {*self._objects.values()}
        """Starts of all names that were looked at here."""

    def _plan(self, element: Element, drawer: Drawer) -> _Plan:
        """See which icons an element shows, and whether a component could show them."""
        icons: dict[int, tuple[Span, Component]] = {}
        why = "" if self.home else "there is no import to put another beside"
        why = f"{self._layers} puts icons upon each other" if self._layers else why
        condition, closing = "", (0, 0)
        for name, span in element.spans.items():
            plain = _BOUND.sub("", name)
            value = self._text[slice(*span)].partition("=")[2]
            if plain == drawer.attribute:
                is_bound = value[:1] == "{" or name != plain
                found = _VALUE.fullmatch(value[1:-1] if is_bound else value)
                at = span[1] - len(value) + is_bound
                condition = (found[1] or "").strip() if found else ""
                items = [(at + found.start(n), at + found.end(n)) for n in (2, 3) if found[n]] if found else []
                starts = [start for item in items if (start := self._start_of(item)) is not None]
                if len(starts) < len(items) or set(re.findall(r"[\w$]+", condition)) & self._objects.keys():
                    items = []
                for start, item in zip(starts, items, strict=False):
                    try:
                        icons[start] = item, self._targets.component(self._wanted[start], drawer.kind)
                    except RefusedError as error:
                        why = why or str(error)
                        self.refused[start] = str(error)
            elif plain == "size" and value.strip("\"'{} ") not in drawer.sizes:
                why = why or f"its size is {value}"
            elif plain not in (*_DROPPED, "size") and not _KEPT.match(plain):
                why = why or f'"{name}" is of {element.name} alone'
        if condition and len({component for _, component in icons.values()}) == 1:
            why = why or "both of its icons would be one"
        if not self._text.endswith("/>", *element.span):
            closed = re.compile(rf"\s*</({re.escape(element.name)})\s*>").match(self._text, element.span[1])
            closing = closed.span(1) if closed else closing
            why = why if closed else why or "it holds something"
        return _Plan(element, drawer, icons, condition, closing, why)

    def _start_of(self, item: Span) -> int | None:
        """Where what an item means was found to be named: in its import, or in it."""
        said = self._text[slice(*item)]
        if said[0] in "[\"'":
            return next((start for start in self._wanted if item[0] <= start < item[1]), None)
        return self._objects.get(said)

    def _uses(self, name: str, *, but: Iterable[int]) -> list[int]:
        """Where a name stands, outside of comments and its import, but at some places."""
        places = (found.start() for found in re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", self._text))
        left = [*self._file.code.comments, *(self._imports[name][0].span for _ in range(name in self._imports))]
        apart = set(but)
        return [at for at in places if at not in apart and not any(start <= at < end for start, end in left)]

    def _adds(self) -> Iterator[re.Match[str]]:
        """Find the calls that register icons."""
        for name in self._libraries:
            for at in self._uses(name, but=()):
                if found := re.compile(rf"{re.escape(name)}\.add\(([\w$,\s]*)\)[ \t]*;?").match(self._text, at):
                    yield found

    def _refuse(self) -> None:
        """Refuse what is used in another way, then all that elements show together with what is refused."""
        registered = {
            found.start(1) + one.start(): one[0] for found in self._adds() for one in re.finditer(r"[\w$]+", found[1])
        }
        self._registered = {self._objects[name] for name in registered.values() if name in self._objects}
        shown = [item[0] for one in self._plans for item, _ in one.icons.values()]
        for name, start in self._objects.items():
            others, named = self._uses(name, but=(*registered, *shown)), self._uses(name, but=())
            if others or not named:
                line = self._text.count("\n", 0, others[0]) + 1 if others else 0
                self.refused[start] = f"line {line} uses it as a value" if line else "no element shows it"
        n_before = -1
        while n_before != len(self.refused):
            n_before = len(self.refused)
            for one in self._plans:
                whys = [one.why, *(self.refused.get(start, "") for start in one.icons)]
                if why := next(filter(None, whys), ""):
                    self.refused.update({start: why for start in one.icons if start not in self.refused})

    def rewrite(self, still: Mapping[int, str]) -> None:
        """Write components in the place of elements, but for what is refused.

        `still`: why what is registered must stay so, by the starts of the names.
        """
        changed = [one for one in self._plans if not self.refused.keys() & one.icons.keys()]
        for one in changed:
            self._write(one)
        self.refused = {start: why for start, why in still.items() if start in self._registered} | self.refused
        gone = {name for name, start in self._objects.items() if start not in self.refused}
        self.gone |= {self._objects[name] for name in gone}
        needless: list[int] = []
        for found in self._adds():
            parts = found[1].split(",")
            kept = [part for part in parts if part.strip() not in gone]
            if len(kept) == len(parts):
                continue
            if "".join(kept).strip():
                self.edits[found.span(1)] = ",".join(kept) if found[1][:1].isspace() else ",".join(kept).lstrip()
            else:
                needless.append(found.start())
                self.edits[whole_line(self._text, found.span())] = ""
        tags = [at for one in changed for at in (one.element.span[0] + 1, one.closing[0])]
        for name in (*self._drawers, *self._libraries):
            if name in self._imports and self.edits and not self._uses(name, but=(*tags, *needless)):
                self.gone.add(self._imports[name][1].start)

    def _write(self, one: _Plan) -> None:
        first, *others = (self._bound(component) for _, component in one.icons.values())
        start, end = one.element.span
        if one.closing[1]:
            end = self._text.index(">", one.closing[1]) + 1
        if not others or one.drawer.kind == "vue":
            is_chosen = f"{one.condition} ? {first} : {others[0]}" if others else ""
            self.edits |= self._changes(one, "component" if others else first, is_chosen)
            return
        before, between, behind = _CONDITIONS[one.drawer.kind]
        if one.drawer.kind == "react":
            before, behind = ("{" + before, "}") if one.element.is_child else ("(" + before, ")")
        shown = edited(self._text, self._changes(one, first, ""), start, end)
        self.edits[start, start] = f"{before.replace('%s', one.condition)}{shown}{between}"
        self.edits |= self._changes(one, others[0], "")
        self.edits[end - 1, end] = f">{behind}"

    def _changes(self, one: _Plan, name: str, chosen: str) -> dict[Span, str]:
        """What changes in an element that becomes a component of a name."""
        start = one.element.span[0] + 1
        changes = {(start, start + len(one.element.name)): name}
        if one.closing[1]:
            changes[one.closing] = name
        component = next(iter(one.icons.values()))[1]
        sizes = {_BOUND.sub("", key): span for key, span in one.element.spans.items()}
        said = self._text[slice(*sizes["size"])].partition("=")[2].strip("\"'{} ") if "size" in sizes else ""
        size = component.size.replace("%s", one.drawer.sizes[said])
        for plain, span in sizes.items():
            if plain == one.drawer.attribute:
                chosen_by = [f':is="{chosen}"'] if chosen else []
                own_size = [] if "size" in sizes else [size]
                weight = [f'weight="{component.weight}"'] if component.weight else []
                written = " ".join([*chosen_by, *own_size, *weight])
            elif plain in ("size", *_DROPPED):
                written = size if plain == "size" else ""
            else:
                continue
            blank = len(self._text[: span[0]]) - len(self._text[: span[0]].rstrip())
            changes[span[0] if written else span[0] - blank, span[1]] = written
        return changes

    def _bound(self, component: Component) -> str:
        """What a component is called here; it is imported."""
        for one in self._file.code.imports:
            for name in one.names if (one.module, one.form) == (component.module, "import") else ():
                if name.name == component.name and not (name.is_type or one.is_type):
                    return name.local
        local = free_name(component.name)
        while self._uses(local, but=()):
            local += "Icon"
        spelt = component.name if local == component.name else f"{component.name} as {local}"
        self.added.append((component.module, spelt))
        return local


def edited(text: str, edits: Mapping[Span, str], start: int = 0, end: int | None = None) -> str:
    """A text, or a part of it, with all that is changed there."""
    parts = []
    for (first, last), written in sorted(edits.items()):
        assert first >= start, "edits overlap"
        parts += [text[start:first], written]
        start = last
    return "".join((*parts, text[start:end]))


def whole_line(text: str, span: Span) -> Span:
    """What goes with a statement that goes: its line, where it fills one, else the blanks beside it."""
    start, end = span
    line = text.rfind("\n", 0, start) + 1
    behind = re.compile(r"[ \t]*(\r?\n|\Z)?").match(text, end)
    if not text[line:start].strip() and behind:
        return line, behind.end()
    return line + len(text[line:start].rstrip()), end
