"""Source code as parsers read it: imports, members of modules, strings with what they are the value of, elements.

tree-sitter reads scripts and markup, tinycss2 reads style sheets. They are given a text of the same length in which
every character is ASCII, so that their offsets are those of the text.
"""

import re
import sys
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import Literal, NamedTuple

import tinycss2
import tree_sitter_html
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

Form = Literal["import", "export", "call", "mock"]
_BRACED = (".svelte", ".astro", ".mdx", ".marko")
"""Markup in which `{...}` is an expression."""
KINDS: Mapping[str, str] = {
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"), "script"),
    **dict.fromkeys((*_BRACED, ".html", ".htm", ".xhtml", ".vue", ".md"), "markup"),
    **dict.fromkeys((".php", ".twig", ".erb", ".ejs", ".hbs", ".njk", ".jinja", ".jinja2", ".j2"), "markup"),
    **dict.fromkeys((".liquid", ".cshtml", ".razor", ".heex"), "markup"),
    **dict.fromkeys((".css", ".scss", ".sass", ".less", ".styl", ".pcss"), "style"),
    ".json": "data",
}
"""By the end of a file's name."""
_SECONDS = 4.0
"""That the parsers may take for one text: what grows with the square of it is hostile."""
_DEEPEST = 3
"""Markup in strings of scripts in markup."""


class Element(NamedTuple):
    """An element of markup."""

    name: str
    span: tuple[int, int]
    """Of its first tag."""
    attributes: dict[str, "Text"]
    """As they stand, with their values; one that spreads an object, by all that it says."""
    is_child: bool = False
    """Whether it stands among what another element of JSX holds."""


_NONE = Element("", (0, 0), {})
CONTENT = ">"
"""Owner of strings that an element may hold as its text."""


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
    is_type: bool
    span: tuple[int, int]
    """With its alias, and the word `type`."""


class Import(NamedTuple):
    """What is taken from a module."""

    module: str
    start: int
    """Of the module's name."""
    form: Form
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

    @property
    def is_open(self) -> bool:
        """Whether the statement does not tell what is taken."""
        return self.whole not in ("", "*") or (self.form == "call" and all(one.name == "default" for one in self.names))


Span = tuple[int, int]


@dataclass
class Code:
    """What stands in one text, in no order."""

    imports: list[Import] = field(default_factory=list)
    members: list[tuple[str, str, Span]] = field(default_factory=list)
    """`Icons.Bell`, `Icons["Bell"]`, `Icons[name]` of `import * as Icons`: the module, the name, where it stands; ""
    is what only the running program knows."""
    texts: list[Text] = field(default_factory=list)
    """Strings, values of attributes, addresses of style sheets."""
    contents: list[Text] = field(default_factory=list)
    """Elements with nothing but text in them."""
    elements: list[Element] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    examples: list[Span] = field(default_factory=list)
    """Blocks of code of a document, and whole pages in strings: whose files lie elsewhere."""
    exports: set[str] = field(default_factory=set)
    """Names that are exported."""
    values: list[tuple[str, int]] = field(default_factory=list)
    """Imported names where they are values, and no elements: handed on, given on, asked for their types."""
    error: int | None = None
    """Offset of the first place that no parser understood, and in which a name may stand."""
    is_given_up: bool = False
    """Whether a parser took too long."""


def kind_of(path: str) -> str | None:
    """What a file is, by its name; None for what is not read."""
    return KINDS.get(PurePath(path).suffix.lower())


def parse(text: str, path: str) -> Code:
    """Read a text; the end of its path says what it is."""
    source = _IMPORTED_TYPE.sub(
        lambda found: "_" * len(found[0]),
        _FOREIGN.sub(lambda found: _STAND_INS.get(found[0]) or (" " if found[0].isspace() else "_"), text),
    )
    reader = _Reader(source, text, PurePath(path).suffix.lower())
    reader.part(kind_of(path), 0, len(source), is_whole=True)
    reader.find_uses()
    return reader.code


_FOREIGN = re.compile(r"[^\x00-\x7f]|(?<!&)&(?![&=])")
_STAND_INS = {"\ufeff": " ", "&": "|"}
"""The grammar takes no single & for text; where it joins numbers or types, | is read in the same way."""
_IMPORTED_TYPE = re.compile(
    r"(?<=\btypeof )import\([^()\n]*\)|\bimport\([^()\n]*\)(?=\.(?!(?:then|catch|finally)\b)\w)"
)
"""Which the grammar does not know everywhere, and which names no icon: what a program loads has no other methods."""
_LINE_COMMENTS = re.compile(
    r"\"(?>(?:[^\"\\\n]|\\.)*)\"|'(?>(?:[^'\\\n]|\\.)*)'|url\([^)\n]*+\)|/\*(?>(?:[^*]|\*(?!/))*)(?:\*/)?|(//[^\n]*+)"
)
_FRONT = re.compile(r"\A\s*+---[ \t\r]*+\n(.*?\n)---[ \t\r]*+$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[ \t]*(\w+)?[^\n]*\n(.*?)(?:^ {0,3}\1[ \t\r]*$|\Z)"
    r"|(?<!`)`[^`\n]+`(?!`)",
    re.DOTALL | re.MULTILINE,
)
"""Blocks of code, and code in a line, which is an example of something."""
_IN_DOCUMENT = re.compile(
    r"^[ \t-]{0,40}([\w-]{0,40}icon):[ \t]+[\"']?([^\s\"'#]+)|!\[[^\]\n]{0,200}\]\(<?([^()<>\s]{1,200})", re.MULTILINE
)
"""What YAML at the head of a document, or of a component in it, says; and a picture."""
_MODULE_CODE = re.compile(r"^(?:import|export)\s.*?(?:\n[ \t\r]*\n|\Z)", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(
    r"\{\{!?--()(?>(?:[^{-]|-(?!-\}\})|\{(?!\{!?--))*)--\}\}|\{#()(?>(?:[^{#]|#(?!\})|\{(?!#))*)#\}"  # comments
    r"|<%#()(?>(?:[^<%]|%(?!>)|<(?!%))*)%>"
    r"|\{\{((?>(?:[^{}]|\}(?!\})|\{(?!\{))*))\}\}"  # of Vue, Angular, Handlebars, Jinja
    r"|\{%((?>(?:[^{%]|%(?!\})|\{(?!%))*))%\}"  # of Jinja, Liquid
    r"|<\?((?>(?:[^?]|\?(?!>))*))(?:\?>|\Z)"  # of PHP
    r"|<%((?>(?:[^<%]|%(?!>)|<(?!%))*))%>"  # of ERB
    r"|(?<![\w.])@[A-Za-z][\w.]{0,80}\(((?:[^()\n]|\([^()\n]*\)){0,400})\)"  # of Razor, Blade
)
"""Code of templates, and what is an expression in it."""
_MARKS_IN_STRINGS = re.compile(r"\$\{()(?>(?:[^$}]|\$(?!\{))*)\}|\{\{((?>(?:[^{}]|\}(?!\})|\{(?!\{))*))\}\}")
"""Of markup in a string of a script, which has read its substitutions already."""
_RAW = r"(?P<raw><!--.*?(?:-->|\Z)|<(?P<tag>script|style)\b[^>]*+>.*?(?:</(?P=tag)|\Z))"
_TEXT = r"\"(?>(?:[^\"\\\n]|\\.)*)\"|'(?>(?:[^'\\\n]|\\.)*)'|`(?>(?:[^`\\]|\\.)*)`|/\*(?>(?:[^*]|\*(?!/))*)\*/"
_OPENING = re.compile(rf"{_RAW}|\{{", re.DOTALL | re.IGNORECASE)
_BRACE = re.compile(rf"{_RAW}|{_TEXT}|[{{}}]", re.DOTALL | re.IGNORECASE)
_SIGIL = re.compile(r"\s*(?:[#:/@]\w*+(?:\s+if\b)?|\.\.\.)")
"""What a block of Svelte begins with."""
_BOUND = re.compile(r"(?:bind)?:|[vx]-|[@\[(*]|on[a-z]+$")
"""How the name of an attribute begins whose value is an expression: of Vue, Alpine, Angular, HTML."""
_JSON = re.compile(r"\s*(?:\{|\[[\s\[{]*)\s*[\"']")
_MAY_NAME = re.compile(r"[\"'`]|\bfrom\b")
"""What stands in code that may name an icon."""
_ADDRESS = re.compile(r"(?i:url\(\s*|([\"']))((?:\\.|(?(1)(?!\1)[^\\]|[^\\)\s]))*)", re.DOTALL)
"""Of a style sheet, as it stands."""
_PAGE = re.compile(r"\s*<(?:!doctype|html)\b", re.IGNORECASE)
"""How a whole page begins; one in a string lies where only the program knows."""
_MOCKS = (".mock", ".doMock", ".unmock", ".requireActual", ".importActual", ".requireMock", ".importMock")
_SCRIPT = (
    "(string) @string (template_string) @string (array) @array (call_expression) @call (pair) @pair (comment) @comment"
    " (import_statement) @statement (export_statement source: (_)) @statement (variable_declarator) @variable"
    " (assignment_expression) @assignment (public_field_definition) @field"
    " (member_expression object: (identifier)) @member (subscript_expression object: (identifier)) @member"
    " (ERROR) @wrong (MISSING) @wrong (export_specifier name: (_) @exported !alias) (namespace_export (_) @exported)"
    " (export_specifier alias: (_) @exported)"
    " (export_statement declaration: (_ name: [(identifier) (type_identifier)] @exported))"
    " (export_statement declaration: (_ (variable_declarator name: (identifier) @exported)))"
    " (export_statement declaration: (ambient_declaration (_ name: [(identifier) (type_identifier)] @exported)))"
    " (export_statement declaration: (ambient_declaration (_ (variable_declarator name: (identifier) @exported))))"
    " (identifier) @name (shorthand_property_identifier) @name"
)
_VALUES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("object", "array", "arguments", "spread_element", "jsx_expression", "return_statement"), ()),
    **dict.fromkeys(("as_expression", "satisfies_expression", "non_null_expression", "type_query"), ()),
    **dict.fromkeys(("parenthesized_expression", "export_statement"), ()),
    **dict.fromkeys(("pair", "variable_declarator", "public_field_definition"), ("value",)),
    **dict.fromkeys(("required_parameter", "optional_parameter"), ("value",)),
    **dict.fromkeys(("assignment_expression", "assignment_pattern", "object_assignment_pattern"), ("right",)),
    **{"binary_expression": ("right",), "ternary_expression": ("consequence", "alternative")},
    **{"arrow_function": ("body",), "export_specifier": ("name",)},
}
"""In what a name is a value, and in which fields of it; none: in all."""
_QUERIES = {
    "typescript": _SCRIPT,
    "tsx": f"{_SCRIPT} (jsx_opening_element) @tag (jsx_self_closing_element) @tag (jsx_element) @element",
    "html": "(start_tag) @tag (self_closing_tag) @tag (element) @element (script_element (raw_text) @script)"
    " (style_element (raw_text) @style)",
}
"""What is looked for in a tree, by its grammar."""
Nodes = Mapping[str, Sequence[Node]]
"""By their types."""
_SETS = {
    "pair": ("key", "value"),
    "variable": ("name", "value"),
    "assignment": ("left", "right"),
    "field": ("name", "value"),
    "call": ("function", "arguments"),
}
"""What gives values to names: the fields of the name and of the value."""
_AROUND_VALUES = frozenset((
    "program", "expression_statement", "parenthesized_expression", "jsx_expression", "as_expression",
    "satisfies_expression", "non_null_expression", "array", "arguments",
))  # fmt: skip
_CHOSEN_VALUES = {
    **dict.fromkeys(("||", "??"), ("left", "right")),
    **{"&&": ("right",), "ternary_expression": ("consequence", "alternative")},
}
"""Fields of what an expression may be, by its type, or by its operator."""
_EVERYWHERE = (0, sys.maxsize)
Owned = dict[int, tuple[str, Element]]
"""The attribute or name, and the element, by where a string begins that is a value of it."""


@cache
def _grammar(name: str) -> tuple[Language, Query]:
    language = Language(
        tree_sitter_html.language() if name == "html" else getattr(tree_sitter_typescript, f"language_{name}")()
    )
    return language, Query(language, _QUERIES[name])


_MOST_LEVELS = (1 << 16) - 1
"""Of a tree: queries count no further, and over a deeper one they take hours, as over so many tokens in no order."""


def _is_too_deep(root: Node) -> bool:
    """Whether it has so many levels; a small tree has not, and is not gone through."""
    cursor, level = root.walk(), 0
    while level < _MOST_LEVELS < root.descendant_count:
        if cursor.goto_first_child():
            level += 1
        else:
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return False
                level -= 1
    return level >= _MOST_LEVELS


@dataclass
class _Reader:
    """One text on its way through the parsers; spans are offsets of it."""

    source: str
    """The text in ASCII."""
    text: str
    suffix: str
    code: Code = field(default_factory=Code)
    scripts: list["_Script"] = field(default_factory=list)
    until: float = field(default_factory=lambda: time.thread_time() + _SECONDS)

    def part(self, kind: str | None, start: int, end: int, *, is_whole: bool = False) -> None:
        """Read a part that is all of one kind."""
        match kind:
            case "script":
                self.program(start, end, is_whole=is_whole)
            case "data":
                self.expression((start, end))
            case "style":
                self.style(start, end)
            case "markup" if is_whole:
                self.page()
            case "markup":
                self.markup(self.source, start, end, depth=0)

    def page(self) -> None:
        """Read a file of markup, with the script at its head and the code in its fences."""
        front = _FRONT.match(self.source) if self.suffix == ".astro" else None
        if front:
            self.program(*front.span(1), is_whole=True)
        found = _FENCE.finditer(self.source) if self.suffix in (".md", ".mdx") else ()
        fences = [one for one in found if one[1] or self.suffix == ".md" or one[0].startswith("`<")]
        for fence in fences:
            self.part(KINDS.get(f".{fence[2]}") if fence[2] != "json" else None, *fence.span(3))
        self.code.examples += [fence.span() for fence in fences]
        source = _masked(self.source, [one.span() for one in (front, *fences) if one])
        for said in _IN_DOCUMENT.finditer(source) if self.suffix in (".md", ".mdx") else ():
            self.string(said.span(said.lastindex or 0), said[1] or "image", _NONE, "", depth=_DEEPEST)
        statements = [one.span() for one in _MODULE_CODE.finditer(source)] if self.suffix in (".mdx", ".marko") else []
        for span in statements:
            self.program(*span)
        self.markup(_masked(source, statements), 0, len(source), depth=0)

    def parse(self, name: str, source: str) -> tuple[Node, Nodes]:
        """Parse a text; what takes too long is given up, and nothing is found in it."""
        language, query = _grammar(name)
        content, parser = source.encode("ascii"), Parser(language)
        try:
            root = parser.parse(
                lambda offset, _: content[offset : offset + 65536],
                progress_callback=lambda *_: time.thread_time() > self.until,
            ).root_node
            is_read = not (_is_too_deep(root) or (root.type == "ERROR" and root.child_count > _MOST_LEVELS))
        except ValueError:
            is_read = False
        if not is_read:
            self.code.is_given_up = True
            root = Parser(language).parse(b"").root_node
        return root, QueryCursor(query).captures(root)

    def program(self, start: int, end: int, *, is_whole: bool = False) -> None:
        """Read a script; where it is whole, what no grammar understands is noted."""
        source = self.source[start:end]
        name = "typescript" if self.suffix in (".ts", ".mts", ".cts") else "tsx"  # there `<T>x` is a type
        root, nodes = self.parse(name, source)
        if root.has_error and name == "tsx":  # `<T>value`
            other, others = self.parse("typescript", source)
            nodes = nodes if other.has_error else others
        wrong = (one.byte_range for one in nodes.get("wrong", ()) if is_whole and self.code.error is None)
        self.code.error = min(
            (start + at for at, end in wrong if _MAY_NAME.search(source, at, end)), default=self.code.error
        )
        _Script(self, start, nodes).read({}, depth=0)

    def expression(self, span: Span, owner: str = "", element: Element = _NONE, *, depth: int = 0) -> None:
        """Read an expression, which may be the value of something."""
        root, nodes = self.parse("tsx", f"({self.source[slice(*span)]})")
        owned = {node.start_byte: (owner, element) for node in _values(root)} if owner else {}
        _Script(self, span[0] - 1, nodes).read(owned, depth)

    def string(self, span: Span, owner: str, element: Element, before: str, depth: int) -> None:
        """Take a string; where it holds elements, these are read."""
        text = self.text[slice(*span)]
        if depth < _DEEPEST and re.search("<[A-Za-z]", text):
            self.code.examples += [span] if _PAGE.match(text) else []
            self.markup(self.source, *span, depth=depth + 1)
        else:
            self.code.texts.append(Text(span[0], text, owner, element, before))
            if "url(" in text:
                self.style(*span)

    def content(self, start: int, end: int, element: Element) -> None:
        """Take the text that is all that an element holds."""
        text = self.text[start:end]
        self.code.contents.append(Text(start + len(text) - len(text.lstrip()), text.strip(), element=element))

    def attribute(self, name: Span, span: Span, element: Element) -> str:
        """Take the name of an attribute, which may be a class of UnoCSS: `<div i-ri:home-line />`."""
        said = self.text[slice(*name)]
        element.attributes[said] = Text(span[0], self.text[slice(*span)])
        if re.search("(?:^|[:!])i-", said):
            self.code.texts.append(Text(name[0], said, element=element))
        return said

    def markup(self, source: str, start: int, end: int, *, depth: int) -> None:
        """Read elements, with the scripts, styles and expressions in them."""
        if self.suffix in _BRACED:
            regions = _braced(source, start, end)
        else:
            marks = _MARKS_IN_STRINGS if KINDS.get(self.suffix) == "script" else _MARKS
            regions = [(one.span(), one.span(one.lastindex or 0)) for one in marks.finditer(source, start, end)]
        masked = _masked(source[start:end], [(first - start, last - start) for (first, last), _ in regions])
        _, nodes = self.parse("html", masked)
        starts, owned = [first for (first, _), _ in regions], Owned()
        elements = {tag.start_byte: self.tag(start, tag, starts, owned, depth) for tag in nodes.get("tag", ())}
        for node in nodes.get("element", ()):
            texts = [one for one in node.named_children[1:] if one.type not in ("end_tag", "comment")]
            if [one.type for one in texts] == ["text"]:
                (first, last), element = _span_of(texts[0], start), elements[node.start_byte]
                self.content(first, last, element)
                owned |= dict.fromkeys(_between(starts, first, last), (CONTENT, element))
        for kind in ("script", "style"):
            for raw in nodes.get(kind, ()):  # of what is built, all must be valid
                self.part(kind, *_span_of(raw, start), is_whole=self.suffix in (".vue", ".svelte"))
        for (at, _), inside in regions:
            self.expression(inside, *owned.get(at, ("", _NONE)), depth=depth)

    def tag(self, base: int, tag: Node, regions: Sequence[int], owned: Owned, depth: int) -> Element:
        """Take an element, with the values of its attributes: a string, an expression, or a string with some in it.

        `regions`: where expressions begin; those in a value become `owned`.
        """
        name, *others = [one for one in tag.named_children if one.type != "ERROR" and one.end_byte > one.start_byte]
        element = Element(self.text[slice(*_span_of(name, base))], _span_of(tag, base), {})
        self.code.elements.append(element)
        for one in (one for one in others if one.named_children):
            key, *values = one.named_children
            owner = self.attribute(_span_of(key, base), _span_of(one, base), element)
            while values and values[0].type != "attribute_value":
                values = values[0].named_children
            if not values:
                continue
            span, meant = _span_of(values[0], base), re.split(r"[^\w-]", owner.rstrip("])"))[-1] or owner
            if _BOUND.match(owner) or _JSON.match(self.source, *span):
                self.expression(span, meant, element, depth=depth)
            elif self.source[span[0] - 1] != "{":
                self.string(span, meant, element, "", depth=_DEEPEST)
            owned |= dict.fromkeys(_between(regions, span[0] - 1, span[1]), (meant, element))
        return element

    def style(self, start: int, end: int) -> None:
        """Read the addresses and strings of a style sheet."""
        sheet = _LINE_COMMENTS.sub(lambda found: " " * len(found[0]) if found[1] else found[0], self.source[start:end])
        lines = [0, *(found.end() for found in re.finditer(r"\r\n|[\n\r\f]", sheet))]
        tokens = tinycss2.parse_component_value_list(sheet, skip_comments=True)
        for token in tokens:
            tokens += getattr(token, "content", None) or getattr(token, "arguments", None) or ()
            at = lines[token.source_line - 1] + token.source_column - 1
            if token.type in ("string", "url") and (found := _ADDRESS.match(sheet, at)):
                text = self.text[start + found.start(2) : start + found.end(2)]
                self.code.texts.append(Text(start + found.start(2), text, "url"))

    def find_uses(self) -> None:
        """Find what of modules is used by the names that these have here, and which imported names are values."""
        imported = {name.local for one in self.code.imports for name in one.names}
        self.code.values += [value for script in self.scripts for value in script.values(imported)]
        wholes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for one in sorted((one for one in self.code.imports if one.whole), key=lambda one: one.scope or _EVERYWHERE):
            wholes[one.whole].append((*(one.scope or _EVERYWHERE), one.module))
        uses = [use for script in self.scripts for use in script.members(wholes)] if wholes else []
        tags = ((tag.name.partition(".")[0], tag.name, tag.span[0] + 1) for tag in self.code.elements)
        uses += [(of, True, (at + len(of) + 1, at + len(name))) for of, name, at in tags if of in wholes and of != name]
        for whole, is_named, span in uses:
            # the innermost block around it decides
            behind = bisect_right(wholes[whole], (span[0], sys.maxsize, ""))
            around = (one for one in reversed(wholes[whole][max(0, behind - 8) : behind]) if one[1] > span[0])
            module = next(around, wholes[whole][0])[2]
            self.code.members.append((module, self.text[slice(*span)] if is_named else "", span))


@dataclass
class _Script:
    """A parsed script in a text."""

    reader: _Reader
    base: int
    """Where it begins."""
    nodes: Nodes

    def span(self, node: Node) -> Span:
        """Where a node stands."""
        return _span_of(node, self.base)

    def said(self, node: Node | None) -> str:
        """What stands there; "" for nothing."""
        return self.reader.text[slice(*self.span(node))] if node else ""

    def read(self, owned: Owned, depth: int) -> None:
        """Take all that it says, but for members of modules."""
        nodes, code = self.nodes, self.reader.code
        self.reader.scripts.append(self)
        elements = {tag.start_byte: self._element(tag, owned) for tag in nodes.get("tag", ())}
        owned = {
            node.start_byte: (name, _NONE) for name, value in self._named_values() for node in _values(value)
        } | owned
        for node in nodes.get("element", ()):
            inner = [one for one in node.children[1:-1] if self.said(one).strip()]
            if [one.type for one in inner] in (["jsx_text"], ["jsx_expression"]):
                self.reader.content(*self.span(inner[0]), elements[node.start_byte])
                owned |= {one.start_byte: (CONTENT, elements[node.start_byte]) for one in _values(inner[0])}
        before = {
            second.start_byte: self.said(first)[1:-1]
            for first, second in (node.named_children for node in nodes.get("array", ()) if node.named_child_count == 2)
        }
        for at, node in ((node.start_byte, node) for node in nodes.get("string", ())):
            self.reader.string(
                (self.base + at + 1, self.base + node.end_byte - 1),
                *owned.get(at, ("", _NONE)),
                before.get(at, ""),
                depth,
            )
        code.comments += map(self.span, nodes.get("comment", ()))
        code.exports.update(map(self.said, nodes.get("exported", ())))
        statements = map(self._statement, nodes.get("statement", ()))
        code.imports += filter(None, (*statements, *map(self._call, nodes.get("call", ()))))

    def _element(self, tag: Node, owned: Owned) -> Element:
        """Take an element of JSX, and note which strings are values of its attributes."""
        around = tag.parent if tag.type == "jsx_self_closing_element" or not tag.parent else tag.parent.parent
        is_child = around is not None and around.type == "jsx_element"
        element = Element(self.said(tag.child_by_field_name("name")), self.span(tag), {}, is_child)
        self.reader.code.elements.append(element)
        for one in tag.children_by_field_name("attribute"):
            key, *values = one.named_children if one.type == "jsx_attribute" else [one]
            owner = self.reader.attribute(self.span(key), self.span(one), element)
            owned.update((node.start_byte, (owner, element)) for value in values for node in _values(value))
        return element

    def _named_values(self) -> Iterator[tuple[str, Node | None]]:
        """Names of properties, variables and functions, with what they are set to or called with."""
        for kind, (name_field, value_field) in _SETS.items():
            for node in self.nodes.get(kind, ()):
                name, value = node.child_by_field_name(name_field), node.child_by_field_name(value_field)
                yield self.said(name).rpartition(")")[2].strip("\"'"), value  # the last one of a chain of calls

    def members(self, wholes: Container[str]) -> Iterator[tuple[str, bool, Span]]:
        """Yield what is asked of some names: the name, whether the code says what, and where that stands."""
        for node in self.nodes.get("member", ()):
            whole, index = self.said(node.child_by_field_name("object")), node.child_by_field_name("index")
            start, end = self.span(node.child_by_field_name("property") or index or node)
            is_named = not index or index.type == "string"
            if whole in wholes:
                yield whole, is_named, (start + bool(index), end - bool(index)) if is_named else self.span(node)
        for node in self.nodes.get("variable", ()):
            whole = self.said(node.child_by_field_name("value"))
            for one in self._pattern(node.child_by_field_name("name"))[0] if whole in wholes else ():
                yield whole, True, (one.start, one.start + len(one.name))

    def values(self, names: Container[str]) -> Iterator[tuple[str, int]]:
        """Yield where some names are values."""
        for node in self.nodes.get("name", ()):
            if (name := self.said(node)) in names and (around := node.parent):  # which is looked for from the root on
                fields = _VALUES.get(around.type, ("",))
                if not fields or node in map(around.child_by_field_name, fields):
                    yield name, self.base + node.start_byte

    def _statement(self, node: Node) -> Import | None:
        """Read what an import or an export takes of a module."""
        names: list[Specifier] = []
        module, whole, pending = node.child_by_field_name("source"), "", [*node.children]
        for one in pending:
            match one.type:
                case "import_clause" | "named_imports" | "export_clause":
                    pending += one.named_children
                case "import_require_clause":
                    module, whole = one.child_by_field_name("source"), self.said(one.named_children[0])
                case "namespace_import":
                    whole = self.said(one.named_children[0])
                case "namespace_export" | "*":
                    whole = "*"
                case "identifier" | "import_specifier" | "export_specifier":
                    names.append(self._specifier(one))
        form: Form = "export" if node.type == "export_statement" else "import"
        is_type = any(one.type == "type" for one in node.children)
        return self._import(module, form, node, (names, whole), is_type=is_type) if module else None

    def _specifier(self, node: Node) -> Specifier:
        """Read `type Bell as Ring`, `Bell: Ring`, `Bell`; a name alone is that of the default."""
        name = node.child_by_field_name("name") or node.child_by_field_name("key") or node
        local = node.child_by_field_name("alias") or node.child_by_field_name("value") or name
        return Specifier(
            "default" if node.type == "identifier" else self.said(name),
            self.said(local),
            self.span(name)[0],
            any(one.type == "type" for one in node.children),
            self.span(node),
        )

    def _pattern(self, node: Node | None) -> tuple[Sequence[Specifier], str]:
        """What `const { Bell, X: Close } =` and `const icons =` take."""
        if node and node.type == "object_pattern":
            return [
                self._specifier(one) for one in node.named_children if one.type.startswith(("pair_", "shorthand_"))
            ], ""
        return (), self.said(node) if node and node.type == "identifier" else ""

    def _called(self, call: Node | None) -> tuple[str, Node | None]:
        """What is called, or which method of it, and the first argument."""
        function, arguments = (call and call.child_by_field_name(name) for name in ("function", "arguments"))
        method = function and function.child_by_field_name("property")
        name = self.said(function) if function and function.type in ("identifier", "import") else ""
        return f".{self.said(method)}" if method else name, next(
            (one for one in (arguments.named_children if arguments else ()) if one.type != "comment"), None
        )

    def _call(self, node: Node) -> Import | None:
        """Read what is taken of a module while it runs: `const { Bell } = require("x")`, `(await import("x")).Bell`,
        `import("x").then((m) => m.Bell)`.
        """
        name, module = self._called(node)
        if not module or not module.type.endswith("string") or name not in (*_MOCKS, "import", "require"):
            return None
        user, span, taken, scope = node.parent, node, self._pattern(None), None
        while user and re.match("(?:await|parenthesized|as|satisfies|non_null|ternary|binary)_", user.type):
            user = user.parent
        around = user.parent if user else None
        # `vi.mock(import("x"))`
        form: Form = "mock" if name in _MOCKS or self._called(around)[0] in _MOCKS else "call"
        match user.type if user and (form == "call" or "Actual" in name) else "":
            case "variable_declarator" if user and around and (block := around.parent):
                span, taken = user, self._pattern(user.child_by_field_name("name"))
                scope = self.span(block) if block.type != "program" else None
            case "member_expression" | "subscript_expression" if user:
                asked = user.child_by_field_name("property") or user.named_children[-1]
                then = self._called(around)[1] if self.said(asked) == "then" else None
                parameter = then and (then.child_by_field_name("parameter") or then.child_by_field_name("parameters"))
                while parameter and parameter.type in ("formal_parameters", "required_parameter"):
                    parameter = next(iter(parameter.named_children), None)
                said = [
                    one for one in (asked, *asked.named_children) if one.type.endswith(("_identifier", "_fragment"))
                ]
                span, taken = (node, self._pattern(parameter)) if then else (user, ([*map(self._specifier, said)], ""))
                scope = self.span(then) if then else None
        return self._import(module, form, span, taken, scope=scope)

    def _import(
        self,
        module: Node,
        form: Form,
        node: Node,
        taken: tuple[Sequence[Specifier], str],
        *,
        scope: Span | None = None,
        is_type: bool = False,
    ) -> Import:
        text, start = self.said(module)[1:-1], self.span(module)[0] + 1
        return Import(text, start, form, self.span(node), tuple(taken[0]), taken[1], scope, is_type)


def _span_of(node: Node, base: int) -> Span:
    """Where a node stands in a text, of a part that begins at `base`."""
    return base + node.start_byte, base + node.end_byte


def _between(starts: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Those of some places, which ascend, that lie between two."""
    return starts[bisect_left(starts, first) : bisect_left(starts, last)]


def _values(node: Node | None) -> Iterator[Node]:
    """The strings that an expression may have as its value."""
    pending = [node] if node else []
    for one in pending:
        operator = one.child_by_field_name("operator")
        if one.type.endswith("string"):
            yield one
        pending += one.named_children if one.type in _AROUND_VALUES else ()
        pending += filter(
            None, map(one.child_by_field_name, _CHOSEN_VALUES.get(operator.type if operator else one.type, ()))
        )


def _braced(source: str, start: int, end: int) -> Sequence[tuple[Span, Span]]:
    """Find `{...}` outside of scripts, styles and comments, each with all that it holds; and what is code of it."""
    opened, closed = list[int](), list[tuple[Span, Span]]()
    while found := (_BRACE if opened else _OPENING).search(source, start, end):
        start = found.end()
        if found["raw"]:
            opened.clear()
        elif found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}":
            begun = opened.pop()
            while closed and closed[-1][0][0] > begun:
                closed.pop()
            sigil = _SIGIL.match(source, begun + 1, start - 1)
            closed.append(((begun, start), (sigil.end() if sigil else begun + 1, start - 1)))
    return closed


def _masked(source: str, spans: Sequence[Span]) -> str:
    """Put a word in the place of expressions, and a value in quotes where they are one."""
    parts, place = [], 0
    for start, end in spans:
        word = re.sub(r"[^\n]", "_", source[start:end])
        parts += [
            source[place:start],
            f'"{word[1:-1]}"' if (source[max(0, start - 1) : start] == "=" and end - start > 1) else word,
        ]
        place = end
    return "".join((*parts, source[place:]))
