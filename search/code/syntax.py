"""Source code as parsers read it: imports, members of modules, strings with what they are the value of, elements.

tree-sitter reads scripts and markup, tinycss2 reads style sheets. They are given a text of the same length in which
every character is ASCII, so that their offsets are those of the text.
"""

import re
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import Literal, NamedTuple

import tinycss2
import tree_sitter_html
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

Kind = Literal["script", "markup", "style", "data"]
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_BRACED = (".svelte", ".astro", ".mdx", ".marko")
"""Markup in which `{...}` is an expression."""
_PAGES = (".html", ".htm", ".xhtml", ".vue", ".md")
_TEMPLATES = (
    *(".php", ".twig", ".erb", ".ejs", ".hbs", ".njk", ".jinja", ".jinja2", ".j2", ".liquid", ".cshtml", ".razor"),
    ".heex",
)
"""Markup around code of another language."""
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(_SCRIPTS, "script"),
    **dict.fromkeys((*_BRACED, *_PAGES, *_TEMPLATES), "markup"),
    **dict.fromkeys((".css", ".scss", ".sass", ".less", ".styl", ".pcss"), "style"),
    ".json": "data",
}
"""By the end of a file's name."""
_TYPED = (".ts", ".mts", ".cts")
"""Where `<T>x` is a type, and no element."""
_SECONDS = 4.0
"""That the parsers may take for one text: what grows with the square of it is hostile."""
_DEEPEST = 3
"""Markup in strings of scripts in markup."""


class Element(NamedTuple):
    """An element of markup."""

    name: str
    attributes: dict[str, str]
    span: tuple[int, int]
    """Of its first tag."""
    spans: dict[str, tuple[int, int]]
    """Of its attributes; of one that spreads an object, by all that it says."""
    is_child: bool = False
    """Whether it stands among what another element of JSX holds."""


_NONE = Element("", {}, (0, 0), {})


class Text(NamedTuple):
    """A string, without its quotes, or the text of an element."""

    start: int
    text: str
    owner: str = ""
    """The attribute, property, variable or function that it is a value of."""
    element: Element = _NONE
    """Whose attribute, or whose text it is."""
    before: str = ""
    """The string that stands before it in a list of two."""
    is_example: bool = False
    """Whether it stands in a block of code of a document."""

    @property
    def end(self) -> int:
        """Offset behind it."""
        return self.start + len(self.text)


class Specifier(NamedTuple):
    """One name that is imported or exported."""

    name: str
    """In its module; "default"."""
    local: str
    """Here."""
    start: int
    end: int
    is_type: bool
    span: tuple[int, int]
    """With its alias, and the word `type`."""


class Import(NamedTuple):
    """What is taken from a module."""

    module: str
    start: int
    """Of the module's name."""
    form: Literal["import", "export", "call", "mock"]
    span: tuple[int, int]
    """Of the whole statement, or of the call."""
    names: tuple[Specifier, ...] = ()
    whole: str = ""
    """What all of it is called here; "*" where all of it is exported on."""
    scope: tuple[int, int] | None = None
    """Where the whole has that name; None for the file."""
    is_type: bool = False

    @property
    def end(self) -> int:
        """Offset behind the module's name."""
        return self.start + len(self.module)


class Member(NamedTuple):
    """`Icons.Bell`, `Icons["Bell"]`, `Icons[name]` of `import * as Icons`."""

    module: str
    name: str
    """ "" where only the running program knows it."""
    start: int
    end: int


@dataclass
class Code:
    """What stands in one text, in no order."""

    imports: list[Import] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    """Strings, values of attributes, addresses of style sheets."""
    contents: list[Text] = field(default_factory=list)
    """Elements with nothing but text in them."""
    elements: list[Element] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    exports: set[str] = field(default_factory=set)
    """Names that are exported."""
    error: int | None = None
    """Offset of the first place that no parser understood, and in which a name may stand."""
    is_given_up: bool = False
    """Whether a parser took too long."""


def kind_of(path: str) -> Kind | None:
    """What a file is, by its name; None for what is not read."""
    return KINDS.get(PurePath(path).suffix.lower())


def parse(text: str, path: str) -> Code:
    """Read a text; the end of its path says what it is."""
    ascii_text = _FOREIGN.sub(lambda found: _STAND_INS.get(found[0]) or (" " if found[0].isspace() else "_"), text)
    ascii_text = _IMPORTED_TYPE.sub(lambda found: "_" * len(found[0]), ascii_text)
    reader = _Reader(ascii_text, text, PurePath(path).suffix.lower())
    try:
        reader.read()
    except _TooLongError:
        reader.code.is_given_up = True
    return reader.code


_FOREIGN = re.compile(r"[^\x00-\x7f]|(?<!&)&(?![&=])")
_STAND_INS = {"\ufeff": " ", "&": "|"}
"""The grammar takes no single & for text; where it joins numbers or types, | is read in the same way."""
_IMPORTED_TYPE = re.compile(r"(?<=\btypeof )import\([^()\n]*\)|\bimport\([^()\n]*\)(?=(?:\.\w+)+\[)")
"""Which the grammar does not know everywhere, and which names no icon."""
_LINE_COMMENTS = re.compile(
    r"\"(?>(?:[^\"\\\n]|\\.)*)\"|'(?>(?:[^'\\\n]|\\.)*)'|url\([^)\n]*+\)|/\*(?>(?:[^*]|\*(?!/))*)(?:\*/)?|(//[^\n]*+)"
)
_LINE_ENDS = re.compile(r"\r\n|[\n\r\f]")
_FRONT = re.compile(r"\A\s*+---[ \t]*+\n(.*?\n)---[ \t]*+$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*(\w+)?[^\n]*\n(.*?)(?:^ {0,3}\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MODULE_CODE = re.compile(r"^(?:import|export)\s.*?(?:\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE)
_ENDS = {"{{": "}}", "{%": "%}", "<?": "?>", "<%": "%>", "${": "}"}
_MARKS = re.compile(r"\{\{|\{%|<\?|<%|(?<![\w.])@[A-Za-z][\w.]{0,80}\(((?:[^()\n]|\([^()\n]*\)){0,400})\)")
"""What code of templates begins with: of Vue, Angular, Handlebars, Jinja, PHP, ERB, Razor, Blade."""
_MARKS_IN_STRINGS = re.compile(r"\$\{|\{\{")
"""Of markup in a string of a script, which has read its substitutions already."""
_RAW = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b[^>]*+>.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE)
_BRACE = re.compile(
    r"(?P<text>\"(?>(?:[^\"\\\n]|\\.)*)\"|'(?>(?:[^'\\\n]|\\.)*)'|`(?>(?:[^`\\]|\\.)*)`|/\*(?>(?:[^*]|\*(?!/))*)\*/)"
    r"|[{}]",
    re.DOTALL,
)
_OPENING = re.compile(r"\{")
_SIGIL = re.compile(r"\s*(?:[#:/@]\w*+(?:\s+if\b)?|\.\.\.)")
"""What a block of Svelte begins with."""
_BOUND = re.compile(r"(?:v-bind|x-bind|bind)?:|v-(?!bind|on)|x-|[\[(*]")
"""How the name of an attribute begins whose value is an expression: of Vue, Alpine, Angular."""
_BARE_NAME = re.compile(r"[\w-]+(?=[\])]*$)")
_UTILITY = re.compile(r"(?:^|[:!])i-")
_TAG = re.compile(r"<[A-Za-z]")
_QUOTE = re.compile("[\"'`]")
_MOCKS = frozenset(("mock", "doMock", "unmock", "requireActual", "importActual", "requireMock", "importMock"))
_SCRIPT_NODES = (
    *("string", "template_string", "array", "import_statement", "export_statement", "call_expression", "pair"),
    *("variable_declarator", "assignment_expression", "public_field_definition", "member_expression"),
    *("subscript_expression", "jsx_opening_element", "jsx_self_closing_element", "jsx_element", "ERROR", "comment"),
)
_MARKUP_NODES = ("start_tag", "self_closing_tag", "element", "script_element", "style_element")
Grammar = Literal["tsx", "typescript", "html"]
Nodes = Mapping[str, Sequence[Node]]
"""By their types."""
_SETS = {
    "pair": ("key", "value"),
    "variable_declarator": ("name", "value"),
    "assignment_expression": ("left", "right"),
    "public_field_definition": ("name", "value"),
    "call_expression": ("function", "arguments"),
}
"""What gives values to names: the fields of the name and of the value."""
_AROUND_VALUES = frozenset((
    "program", "expression_statement", "parenthesized_expression", "jsx_expression", "as_expression",
    "satisfies_expression", "non_null_expression", "array", "arguments",
))  # fmt: skip
_NO_LINE_END = re.compile(r"[^\n]")
Span = tuple[int, int]
Owned = dict[int, tuple[str, Element]]
"""The attribute or name, and the element, by where a string begins that is a value of it."""


@cache
def _grammar(name: Grammar) -> tuple[Language, Query]:
    nodes: tuple[str, ...] = _MARKUP_NODES
    if name == "html":
        language = Language(tree_sitter_html.language())
    else:
        language = Language(getattr(tree_sitter_typescript, f"language_{name}")())
        nodes = tuple(one for one in _SCRIPT_NODES if name == "tsx" or not one.startswith("jsx"))
    patterns = [f"({one}) @{one}" for one in nodes] + ["(MISSING) @ERROR"]
    return language, Query(language, " ".join(patterns))


class _TooLongError(Exception):
    """A parser takes longer than it may."""


@dataclass
class _Reader:
    """One text on its way through the parsers; spans are offsets of it."""

    source: str
    """The text in ASCII."""
    text: str
    suffix: str
    code: Code = field(default_factory=Code)
    scripts: list[tuple[int, Nodes]] = field(default_factory=list)
    """With the offsets that they begin at."""
    tags: list[tuple[int, str]] = field(default_factory=list)
    """Names of elements of markup."""
    until: float = field(default_factory=lambda: time.thread_time() + _SECONDS)

    def read(self) -> None:
        """Read all of it."""
        match KINDS.get(self.suffix):
            case "script":
                self.program(0, len(self.source), is_whole=True)
            case "data":
                self.expression((0, len(self.source)))
            case "style":
                self.style(0, len(self.source))
            case _:
                self.page()
        self.find_members()

    def page(self) -> None:
        """Read a file of markup, with the script at its head and the code in its fences."""
        read: list[Span] = []
        if self.suffix == ".astro" and (front := _FRONT.match(self.source)):
            self.program(*front.span(1), is_whole=True)
            read.append(front.span())
        for fence in _FENCE.finditer(self.source) if self.suffix in (".md", ".mdx") else ():
            self.fence(fence[2] or "", *fence.span(3))
            read.append(fence.span())
        source = _masked(self.source, read)
        if self.suffix in (".mdx", ".marko"):
            statements = [found.span() for found in _MODULE_CODE.finditer(source)]
            for span in statements:
                self.program(*span)
            source = _masked(source, statements)
        self.markup(source, 0, len(source), depth=0)

    def fence(self, language: str, start: int, end: int) -> None:
        """Read a block of code in a document."""
        n_before = len(self.code.texts)
        match KINDS.get(f".{language}"):
            case "script":
                self.program(start, end)
            case "style":
                self.style(start, end)
            case "markup":
                self.markup(self.source, start, end, depth=0)
        self.code.texts[n_before:] = [one._replace(is_example=True) for one in self.code.texts[n_before:]]

    def parse(self, name: Grammar, source: str) -> tuple[Tree, Nodes]:
        """Parse a text; raises _TooLongError."""
        language, query = _grammar(name)
        content = source.encode("ascii")

        def part(offset: int, _: object) -> bytes:
            return content[offset : offset + 65536]

        try:
            tree = Parser(language).parse(part, progress_callback=lambda *_: time.thread_time() > self.until)
        except ValueError as error:
            raise _TooLongError from error
        return tree, QueryCursor(query).captures(tree.root_node)

    def program(self, start: int, end: int, *, is_whole: bool = False) -> None:
        """Read a script; where it is whole, what no grammar understands is noted."""
        source = self.source[start:end]
        name: Grammar = "typescript" if self.suffix in _TYPED else "tsx"
        tree, nodes = self.parse(name, source)
        if tree.root_node.has_error and name == "tsx":  # `<T>value`
            other, others = self.parse("typescript", source)
            nodes = nodes if other.root_node.has_error else others
        wrong = [node.start_byte for node in nodes.get("ERROR", ()) if _QUOTE.search(source, *node.byte_range)]
        if is_whole and wrong and self.code.error is None:
            self.code.error = start + min(wrong)
        self.script(start, nodes, owned={}, depth=0)

    def expression(self, span: Span, *, owner: str = "", element: Element = _NONE, depth: int = 0) -> None:
        """Read an expression, which may be the value of something."""
        tree, nodes = self.parse("tsx", f"({self.source[slice(*span)]})")
        owned = {node.start_byte: (owner, element) for node in _values(tree.root_node)} if owner else {}
        self.script(span[0] - 1, nodes, owned=owned, depth=depth)

    def script(self, base: int, nodes: Nodes, *, owned: Owned, depth: int) -> None:
        """Take what a parsed script says; its text begins at `base`."""
        self.scripts.append((base, nodes))
        elements = {}
        for tag in (*nodes.get("jsx_opening_element", ()), *nodes.get("jsx_self_closing_element", ())):
            elements[tag.start_byte] = self.element(base, tag, owned)
        for name, value in self.named_values(base, nodes):
            for node in _values(value):
                owned.setdefault(node.start_byte, (name, _NONE))
        pairs = [node.named_children for node in nodes.get("array", ()) if node.named_child_count == 2]
        before = {second.start_byte: self.written(base, first)[1:-1] for first, second in pairs}
        for node in (*nodes.get("string", ()), *nodes.get("template_string", ())):
            owner, element = owned.get(node.start_byte, ("", _NONE))
            span = base + node.start_byte + 1, base + node.end_byte - 1
            self.string(span, owner, element, before.get(node.start_byte, ""), depth)
        for node in nodes.get("jsx_element", ()):
            inner = [one for one in node.children[1:-1] if self.written(base, one).strip()]
            if len(inner) == 1 and inner[0].type in ("jsx_text", "jsx_expression"):
                self.content(base + inner[0].start_byte, base + inner[0].end_byte, elements[node.start_byte])
        self.code.comments += [(base + one.start_byte, base + one.end_byte) for one in nodes.get("comment", ())]
        self.code.imports += _Imports(self, base, nodes).found()

    def written(self, base: int, node: Node) -> str:
        """What a node says."""
        return self.text[base + node.start_byte : base + node.end_byte]

    def element(self, base: int, tag: Node, owned: Owned) -> Element:
        """Take an element of JSX, and note which strings are values of its attributes."""
        name = tag.child_by_field_name("name")
        around = tag.parent if tag.type == "jsx_self_closing_element" or not tag.parent else tag.parent.parent
        is_child = around is not None and around.type == "jsx_element"
        span = base + tag.start_byte, base + tag.end_byte
        element = Element(self.written(base, name) if name else "", {}, span, {}, is_child)
        self.code.elements.append(element)
        for one in tag.children_by_field_name("attribute"):
            said = one.named_children[0] if one.type == "jsx_attribute" else one
            element.spans[self.written(base, said)] = base + one.start_byte, base + one.end_byte
            if one.type == "jsx_attribute":
                key, *values = one.named_children
                owner = self.written(base, key)
                self.utility(base + key.start_byte, owner, element)
                element.attributes[owner] = self.written(base, values[0])[1:-1] if values else ""
                owned.update((node.start_byte, (owner, element)) for value in values for node in _values(value))
        return element

    def named_values(self, base: int, nodes: Nodes) -> Iterator[tuple[str, Node]]:
        """Names of properties, variables and functions, with what they are set to or called with."""
        for kind, (name_field, value_field) in _SETS.items():
            for node in nodes.get(kind, ()):
                name, value = node.child_by_field_name(name_field), node.child_by_field_name(value_field)
                if name and value:
                    yield self.written(base, name).strip("\"'"), value

    def string(self, span: Span, owner: str, element: Element, before: str, depth: int) -> None:
        """Take a string; where it holds elements, these are read."""
        text = self.text[slice(*span)]
        if depth < _DEEPEST and _TAG.search(text):
            self.markup(self.source, *span, depth=depth + 1)
            return
        self.code.texts.append(Text(span[0], text, owner, element, before))
        if "url(" in text:
            self.style(*span)

    def content(self, start: int, end: int, element: Element) -> None:
        """Take the text that is all that an element holds."""
        text = self.text[start:end]
        self.code.contents.append(Text(start + len(text) - len(text.lstrip()), text.strip(), element=element))

    def markup(self, source: str, start: int, end: int, *, depth: int) -> None:
        """Read elements, with the scripts, styles and expressions in them."""
        regions = list(self.regions(source, start, end))
        masked = _masked(source[start:end], [(region[0] - start, region[1] - start) for region, _ in regions])
        _, nodes = self.parse("html", masked)
        inner = _Regions(dict(regions))
        elements = {}
        for tag in (*nodes.get("start_tag", ()), *nodes.get("self_closing_tag", ())):
            elements[tag.start_byte] = self.tag(start, tag, inner, depth)
        for node in nodes.get("element", ()):
            texts = [one for one in node.named_children[1:] if one.type not in ("end_tag", "comment")]
            if [one.type for one in texts] == ["text"]:
                self.content(start + texts[0].start_byte, start + texts[0].end_byte, elements[node.start_byte])
        for node in nodes.get("script_element", ()):
            for raw in (one for one in node.named_children if one.type == "raw_text"):
                self.program(start + raw.start_byte, start + raw.end_byte, is_whole=self.suffix in (".vue", ".svelte"))
        for node in nodes.get("style_element", ()):
            for raw in (one for one in node.named_children if one.type == "raw_text"):
                self.style(start + raw.start_byte, start + raw.end_byte)
        for inside in inner.left():
            self.expression(inside, depth=depth)

    def tag(self, base: int, tag: Node, inner: "_Regions", depth: int) -> Element:
        """Take an element, with the values of its attributes."""
        name, *attributes = [one for one in tag.named_children if one.type != "ERROR" and one.end_byte > one.start_byte]
        element = Element(self.written(base, name), {}, (base + tag.start_byte, base + tag.end_byte), {})
        self.code.elements.append(element)
        self.tags.append((base + name.start_byte, element.name))
        for one in attributes:
            if not one.named_children:
                continue
            key, *values = one.named_children
            owner = self.written(base, key)
            self.utility(base + key.start_byte, owner, element)
            element.spans[owner] = base + one.start_byte, base + one.end_byte
            value = values[0].named_children[0] if values and values[0].named_children else None
            if values and values[0].type == "attribute_value":
                value = values[0]
            if value is not None:
                element.attributes[owner] = self.written(base, value)
                self.value((base + value.start_byte, base + value.end_byte), owner, element, inner, depth)
        return element

    def utility(self, start: int, name: str, element: Element) -> None:
        """Take the name of an attribute that is a class of UnoCSS: `<div i-ri:home-line />`."""
        if _UTILITY.search(name):
            self.code.texts.append(Text(start, name, element=element))

    def value(self, span: Span, owner: str, element: Element, inner: "_Regions", depth: int) -> None:
        """Take the value of an attribute: a string, an expression, or a string with expressions in it."""
        bare = _BARE_NAME.search(owner)
        name = bare[0] if bare else owner
        if _BOUND.match(owner):
            self.expression(span, owner=name, element=element, depth=depth)
            return
        for inside in inner.taken(span[0] - 1, span[1]):
            self.expression(inside, owner=name, element=element, depth=depth)
        if self.source[span[0] - 1] != "{":
            self.string(span, name, element, "", depth=_DEEPEST)

    def regions(self, source: str, start: int, end: int) -> Iterator[tuple[Span, Span]]:
        """Find expressions in markup: each with its marks, and without."""
        if self.suffix in _BRACED:
            for at, behind in _braced(source, start, end):
                sigil = _SIGIL.match(source, at + 1, behind - 1)
                yield (at, behind), (sigil.end() if sigil else at + 1, behind - 1)
            return
        marks = _MARKS_IN_STRINGS if KINDS.get(self.suffix) == "script" else _MARKS
        unended: set[str] = set()
        while found := marks.search(source, start, end):
            start, mark = found.end(), found[0]
            if mark not in _ENDS:
                yield found.span(), found.span(1)
            elif mark not in unended:
                inner, behind = found.end(), source.find(_ENDS[mark], found.end(), end)
                if behind == -1 and mark == "<?":
                    behind = end
                if behind == -1:
                    unended.add(mark)
                    continue
                start = min(end, behind + len(_ENDS[mark]))
                yield (found.start(), start), (inner, inner if mark == "${" else behind)

    def style(self, start: int, end: int) -> None:
        """Read the addresses and strings of a style sheet."""
        sheet = _LINE_COMMENTS.sub(lambda found: " " * len(found[0]) if found[1] else found[0], self.source[start:end])
        lines = [0, *(found.end() for found in _LINE_ENDS.finditer(sheet))]
        pending = tinycss2.parse_component_value_list(sheet, skip_comments=True)
        while pending:
            token = pending.pop()
            pending += getattr(token, "content", None) or getattr(token, "arguments", None) or ()
            if token.type in ("string", "url"):
                at = sheet.find(token.value, lines[token.source_line - 1] + token.source_column - 1)
                if at != -1:
                    text = self.text[start + at : start + at + len(token.value)]
                    self.code.texts.append(Text(start + at, text, "url"))

    def find_members(self) -> None:
        """Find what of modules is used by the names that the modules have here."""
        wholes: dict[str, list[tuple[int, int, str]]] = {}
        for one in sorted(self.code.imports, key=lambda one: one.scope or _EVERYWHERE):
            if one.whole:
                wholes.setdefault(one.whole, []).append((*(one.scope or _EVERYWHERE), one.module))
        for base, nodes in self.scripts if wholes else ():
            for node in (*nodes.get("member_expression", ()), *nodes.get("subscript_expression", ())):
                whole = node.child_by_field_name("object")
                at = base + node.start_byte
                if whole and whole.type == "identifier" and (known := wholes.get(self.written(base, whole))):
                    self.member(base, node, _module_at(known, at))
        for at, name in self.tags if wholes else ():
            whole_name, dot, member = name.partition(".")
            if dot and whole_name in wholes:
                start = at + len(whole_name) + 1
                module = _module_at(wholes[whole_name], at)
                self.code.members.append(Member(module, member, start, start + len(member)))

    def member(self, base: int, node: Node, module: str) -> None:
        """Take what is asked of a module."""
        name, index = node.child_by_field_name("property"), node.child_by_field_name("index")
        if name:
            span = base + name.start_byte, base + name.end_byte
        elif index and index.type == "string":
            span = base + index.start_byte + 1, base + index.end_byte - 1
        else:
            self.code.members.append(Member(module, "", base + node.start_byte, base + node.end_byte))
            return
        self.code.members.append(Member(module, self.text[slice(*span)], *span))


_EVERYWHERE = (0, sys.maxsize)
_NESTED = 8
"""Blocks in which one name stands for a module each."""


def _module_at(known: Sequence[tuple[int, int, str]], at: int) -> str:
    """The module that a name stands for at a place: the innermost block around it decides."""
    behind = bisect_right(known, (at, sys.maxsize, ""))
    around = (one for one in reversed(known[max(0, behind - _NESTED) : behind]) if one[1] > at)
    return next(around, known[0])[2]


class _Regions:
    """Expressions in markup, each taken once."""

    def __init__(self, found: Mapping[Span, Span]) -> None:
        self._inside = {span[0]: inside for span, inside in found.items()}
        self._starts = sorted(self._inside)

    def taken(self, start: int, end: int) -> Iterator[Span]:
        """Take those that begin between two offsets."""
        for at in self._starts[bisect_left(self._starts, start) : bisect_left(self._starts, end)]:
            if at in self._inside:
                yield self._inside.pop(at)

    def left(self) -> Sequence[Span]:
        """What nothing has taken."""
        return list(self._inside.values())


@dataclass
class _Imports:
    """Imports and exports among the nodes of a script."""

    reader: _Reader
    base: int
    nodes: Nodes

    def found(self) -> Iterator[Import]:
        """Read all forms of them."""
        for node in (*self.nodes.get("import_statement", ()), *self.nodes.get("export_statement", ())):
            yield from self._statement(node)
        for node in self.nodes.get("call_expression", ()):
            function, module = node.child_by_field_name("function"), self._argument(node)
            name = function.child_by_field_name("property") if function else None
            if module and function and self._text(function) in ("import", "require"):
                yield self._loaded(node, module)
            elif module and name and self._text(name) in _MOCKS:
                yield self._import(module, "mock", node)

    def _text(self, node: Node) -> str:
        return self.reader.written(self.base, node)

    def _statement(self, node: Node) -> Iterator[Import]:
        module, form = node.child_by_field_name("source"), node.type.removesuffix("_statement")
        children = node.named_children
        required = next((one for one in children if one.type == "import_require_clause"), None)
        if required and (module := required.child_by_field_name("source")):
            yield self._import(module, "import", node, ([], self._text(required.named_children[0])))
            return
        names: list[Specifier] = []
        whole = "*" if any(one.type == "*" for one in node.children) else ""
        for clause in children:
            if clause.type == "namespace_export":
                whole = "*"
                self.reader.code.exports.update(self._text(one) for one in clause.named_children)
            elif clause.type == "export_clause":
                names += map(self._named, clause.named_children)
            elif clause.type == "import_clause":
                for one in clause.named_children:
                    if one.type == "identifier":
                        names.append(Specifier("default", self._text(one), *self._span(one), False, self._span(one)))
                    elif one.type == "namespace_import":
                        whole = self._text(one.named_children[0])
                    else:
                        names += map(self._named, one.named_children)
        if form == "export":
            self.reader.code.exports.update(one.local for one in names)
            self.reader.code.exports.update(self._declared(node))
        if module:
            is_type = any(one.type == "type" for one in node.children)
            yield self._import(
                module, "export" if form == "export" else "import", node, (names, whole), is_type=is_type
            )

    def _declared(self, node: Node) -> Iterator[str]:
        """Names of what is exported where it is declared."""
        pending = [node.child_by_field_name("declaration")]
        while pending:
            declared = pending.pop()
            if declared is None:
                continue
            name = declared.child_by_field_name("name")
            if name and name.type in ("identifier", "type_identifier"):
                yield self._text(name)
            elif declared.type in ("ambient_declaration", "lexical_declaration", "variable_declaration"):
                pending += declared.named_children

    def _named(self, node: Node) -> Specifier:
        """Read `type Bell as Ring`."""
        name = node.child_by_field_name("name") or node
        return self._specifier(node, name, node.child_by_field_name("alias") or name)

    def _specifier(self, node: Node, name: Node, local: Node) -> Specifier:
        is_type = any(one.type == "type" for one in node.children)
        return Specifier(self._text(name), self._text(local), *self._span(name), is_type, self._span(node))

    def _pattern(self, name: Node) -> tuple[list[Specifier], str]:
        """What `const { Bell, X: Close } =` and `const icons =` take."""
        if name.type != "object_pattern":
            return [], self._text(name) if name.type == "identifier" else ""
        names = []
        for one in name.named_children:
            key, local = one.child_by_field_name("key"), one.child_by_field_name("value")
            if key and local:
                names.append(self._specifier(one, key, local))
            elif one.type == "shorthand_property_identifier_pattern":
                names.append(self._specifier(one, one, one))
        return names, ""

    def _argument(self, node: Node) -> Node | None:
        """The first argument of a call, where it is a string."""
        arguments = node.child_by_field_name("arguments")
        first = arguments.named_children[0] if arguments and arguments.named_children else None
        return first if first and first.type == "string" else None

    def _loaded(self, node: Node, module: Node) -> Import:
        """Read what is taken of a module: `const { Bell } = `, `(await import("x")).Bell`, `.then((m) => m.Bell)`."""
        user = node.parent
        while user and user.type in ("await_expression", "parenthesized_expression", "as_expression"):
            user = user.parent
        call = user.parent if user and user.type == "arguments" else None
        asked = call.child_by_field_name("function") if call else None
        mock = asked.child_by_field_name("property") if asked else None
        if mock and self._text(mock) in _MOCKS:  # `vi.mock(import("x"))`
            return self._import(module, "mock", node)
        name = user.child_by_field_name("property" if user.type == "member_expression" else "name") if user else None
        if not user or not name or user.type not in ("variable_declarator", "member_expression"):
            return self._import(module, "call", node)
        if user.type == "variable_declarator":
            block = user.parent.parent if user.parent else None
            scope = self._span(block) if block and block.type != "program" else None
            return self._import(module, "call", user, self._pattern(name), scope=scope)
        if self._text(name) != "then":
            return self._import(module, "call", user, ([self._specifier(name, name, name)], ""))
        arguments = user.parent.child_by_field_name("arguments") if user.parent else None
        then = arguments.named_children[0] if arguments and arguments.named_children else node
        parameter = then.child_by_field_name("parameter") or then.child_by_field_name("parameters")
        while parameter and parameter.type in ("formal_parameters", "required_parameter"):
            parameter = parameter.named_children[0] if parameter.named_children else None
        return self._import(
            module, "call", node, self._pattern(parameter) if parameter else ((), ""), scope=self._span(then)
        )

    def _span(self, node: Node) -> Span:
        return self.base + node.start_byte, self.base + node.end_byte

    def _import(
        self,
        module: Node,
        form: Literal["import", "export", "call", "mock"],
        node: Node,
        taken: tuple[Sequence[Specifier], str] = ((), ""),
        *,
        scope: Span | None = None,
        is_type: bool = False,
    ) -> Import:
        start = self.base + module.start_byte + 1
        return Import(
            self._text(module)[1:-1], start, form, self._span(node), tuple(taken[0]), taken[1], scope, is_type
        )


def _values(node: Node) -> Iterator[Node]:
    """The strings that an expression may have as its value."""
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type in ("string", "template_string"):
            yield one
        elif one.type == "ternary_expression":
            pending += filter(None, (one.child_by_field_name(name) for name in ("consequence", "alternative")))
        elif one.type == "binary_expression" and (operator := one.child_by_field_name("operator")):
            sides = {"||": ("left", "right"), "??": ("left", "right"), "&&": ("right",)}.get(operator.type, ())
            pending += filter(None, (one.child_by_field_name(name) for name in sides))
        elif one.type in _AROUND_VALUES:
            pending += one.named_children


def _braced(source: str, start: int, end: int) -> Iterator[Span]:
    """Find `{...}` outside of scripts, styles and comments, each with all that it holds."""
    place = start
    while place < end:
        raw = _RAW.search(source, place, end)
        yield from _braced_between(source, place, raw.start() if raw else end)
        place = raw.end() if raw else end


def _braced_between(source: str, place: int, end: int) -> Sequence[Span]:
    opened: list[int] = []
    closed: list[Span] = []
    while place < end:
        found = (_BRACE if opened else _OPENING).search(source, place, end)
        if found is None:
            break
        place = found.end()
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}":
            start = opened.pop()
            while closed and closed[-1][0] > start:
                closed.pop()
            closed.append((start, place))
    return closed


def _masked(source: str, spans: Sequence[Span]) -> str:
    """Put a word in the place of expressions, and a value in quotes where they are one."""
    parts, place = [], 0
    for start, end in spans:
        word = _NO_LINE_END.sub("_", source[start:end])
        is_value = source[max(0, start - 1) : start] == "=" and end - start > 1
        parts += [source[place:start], f'"{word[1:-1]}"' if is_value else word]
        place = end
    return "".join((*parts, source[place:]))
