"""What of an SVG may become markup: its drawing, as a tree, without scripts and handlers; and its style sheets.

Elements and attributes are those of the lists below, as svg-hush (Cloudflare's) has them, with what it lacks:
paint-order, paths that are followed, colours that move. It strips ids of letters that are not ASCII, too. What is read
by expat and tinycss2 is written anew, so that no sign means more to a browser than it did here.
"""

import base64
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes
from xml.etree import ElementTree

import tinycss2

from indexer.errors import IconsError, RenderError
from indexer.rendering.render import svg_document
from indexer.rendering.styles import (
    XLINK_HREF,
    Declaration,
    Rule,
    declarations,
    names_of,
    selectors_of,
    selects,
    tokens,
    weight,
)
from search.drawings.frameworks import Look, NamedIcon, coloured, with_attribute
from search.drawings.licences import unique
from search.drawings.shapes import reshape

REACHING = re.compile(
    r"\\|@import|url\s*\((?!\s*[\"']?#)|(?:src|image|image-set|cross-fade|element|paint)\s*\(|(?<![\w-])position(?![\w-])",
    re.IGNORECASE,
)
"""In styles and paints: what lies elsewhere, and signs that could hide it; what would lay a drawing over the page."""
_GROUPS = frozenset(("media", "supports", "layer", "container"))
_ON_SCREENS = frozenset(("", "all", "screen", "only screen"))
_FRAMES_NAME = re.compile(r"[\"']?([\w-]+)[\"']?")
_ELSEWHERE = frozenset(("print", "speech", "tty", "tv", "projection", "handheld", "braille", "embossed", "aural"))


def rules_of(sheet: str | Sequence[Any], *, media: str = "") -> Iterator[Rule]:
    """Rules of a style sheet that a screen takes; what is no rule of selectors has its keyword as one: "@keyframes"."""
    kinds = {kind.strip().lower() for kind in media.split(",")}
    if kinds <= _ELSEWHERE:
        return
    for rule in tinycss2.parse_stylesheet(tokens(sheet), skip_comments=True, skip_whitespace=True):
        is_plain = rule.type == "qualified-rule" and all(one.type != "{} block" for one in rule.content)
        if is_plain and kinds & _ON_SCREENS:
            prelude = " ".join(tinycss2.serialize(rule.prelude).split())
            yield selectors_of(re.sub(r" ?([,>]) ?", r"\1", prelude)), declarations(rule.content)
        elif rule.type == "at-rule" and rule.lower_at_keyword == "media" and kinds & _ON_SCREENS:
            yield from rules_of(rule.content or (), media=tinycss2.serialize(rule.prelude))
        elif rule.type != "error":
            yield [f"@{getattr(rule, 'lower_at_keyword', media)}"], []


def safe_text(sheet: str) -> str:
    """A style sheet as it is, where it holds all that it needs; else its plain rules without what lies elsewhere."""
    if not REACHING.search(sheet):
        return sheet
    rules = ((",".join(selectors), [one.text for one in declared]) for selectors, declared in rules_of(sheet))
    kept = ((chosen, [text for text in texts if not REACHING.search(text)]) for chosen, texts in rules)
    return "".join(f"{chosen}{{{';'.join(texts)}}}" for chosen, texts in kept if not re.search(r"[@\\]", chosen))


def scoped(sheet: str | Sequence[Any], *, own: str, renamed: Callable[[str], str]) -> str:
    """A style sheet that holds for what lies in the class `own` alone; `renamed`: what its ids are called now.

    Rules inside rules and at-rules that would hold for the page, as @font-face and @scope, are left out.
    """
    parts, scope, in_scope = [], f".{own}", f":is(svg,:where(.{own}))"  # a symbol is no svg
    for rule in tinycss2.parse_stylesheet(tokens(sheet), skip_comments=True, skip_whitespace=True):
        if rule.type == "error" or rule.content is None:
            continue
        prelude = tinycss2.serialize([one for one in rule.prelude if one.type != "comment"])
        if rule.type == "qualified-rule":
            named = re.sub(
                r"#([\w-]+)|:root|(?<![\w.#:-])svg(?![\w-])",
                lambda one: f"#{renamed(one[1])}" if one[1] else scope if one[0] == ":root" else in_scope,
                prelude,
            )
            head = ",".join(f"{one.strip()}:where({scope},{scope} *)" for one in selectors_of(named))
            parts.append(f"{head}{{{';'.join(one.text for one in declarations(rule.content))}}}")
        elif rule.lower_at_keyword in _GROUPS:
            parts.append(f"@{rule.lower_at_keyword}{prelude}{{{scoped(rule.content, own=own, renamed=renamed)}}}")
        elif rule.lower_at_keyword.endswith("keyframes") and (name := _FRAMES_NAME.fullmatch(prelude.strip())):
            parts.append(f"@{rule.lower_at_keyword} {own}__{name[1]}{{{tinycss2.serialize(rule.content)}}}")
    return "".join(parts)


SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = """
a animate animateColor animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix
feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow
feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight
feSpecularLighting feSpotLight feTile feTurbulence filter g image line linearGradient marker mask mpath path pattern
polygon polyline radialGradient rect set stop style svg switch symbol text textPath title tspan use view
"""
_ATTRIBUTES = """
accumulate additive alignment-baseline amplitude attributeName attributeType azimuth baseFrequency baseProfile
baseline-shift begin bias by calcMode class clip clip-path clip-rule clipPathUnits color color-interpolation
color-interpolation-filters color-rendering cursor cx cy d diffuseConstant direction display divisor dominant-baseline
dur dx dy edgeMode elevation end exponent externalResourcesRequired fill fill-opacity fill-rule filter
filterPrimitiveUnits filterRes filterUnits flood-color flood-opacity font-family font-size font-size-adjust
font-stretch font-style font-variant font-weight fr from fx fy glyph-orientation-horizontal glyph-orientation-vertical
gradientTransform gradientUnits height href id image-rendering in in2 intercept k1 k2 k3 k4 kernelMatrix
kernelUnitLength kerning keyPoints keySplines keyTimes lang lengthAdjust letter-spacing lighting-color
limitingConeAngle marker-end marker-mid marker-start markerHeight markerUnits markerWidth mask mask-type
maskContentUnits maskUnits max media method min mode numOctaves offset opacity operator order orient origin overflow
paint-order path pathLength patternContentUnits patternTransform patternUnits pointer-events points pointsAtX
pointsAtY pointsAtZ preserveAlpha preserveAspectRatio primitiveUnits r radius refX refY repeatCount repeatDur
requiredExtensions requiredFeatures restart result role rotate rx ry scale seed shape-rendering side slope spacing
specularConstant specularExponent spreadMethod startOffset stdDeviation stitchTiles stop-color stop-opacity stroke
stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style
surfaceScale systemLanguage tableValues targetX targetY text-anchor text-decoration text-overflow text-rendering
textLength to transform transform-box transform-origin type unicode-bidi values vector-effect version viewBox
visibility white-space width word-spacing writing-mode x x1 x2 xChannelSelector y y1 y2 yChannelSelector z zoomAndPan
"""
_ELEMENTS_KEPT, _ATTRIBUTES_KEPT = frozenset(_ELEMENTS.split()), frozenset(_ATTRIBUTES.split())
_NOT_MOVED = frozenset(("href", "style", "id"))
"""Attributes that no animation may set."""
_MOVING = ("attributeName", "by", "from", "to", "values")
_WITH_ANY_TEXT = re.compile("aria-[a-z]+")
"""Attributes that hold any text. Those of data- could be orders to scripts of the page."""
_WITH_TEXT = frozenset(("text", "tspan", "textPath", "title", "desc", "style"))
"""Elements whose characters are drawn or read; between others they are indentation."""
_OF_TEXT_ALONE = frozenset(("title", "desc", "style"))
"""HTML reads elements in these as its own: a <rect/> in a <desc> would never end there."""
_DEEPEST = 200
"""Elements in each other."""
_NAMESPACE = re.compile(rb"\sxmlns\s*=")
_SPACES = re.compile(r"[ \t\r\n]+")
_OBSOLETE = re.compile(r"enable-background|-inkscape-|solid-(?:color|opacity)")
_BITMAP = re.compile(r"data:image/(?:png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
"""What may be held inside, as data: a bitmap runs nothing."""
_INNER = re.compile(r"data:image/svg\+xml((?:;[^;,]*)*),(.*)", re.IGNORECASE | re.DOTALL)
_MOST_CSS, _MOST_SELECTORS, _MOST_LAID = 100_000, 2_000, 5_000_000
_DEEPEST_INNER = 3
"""Pictures in each other."""


def clean_tree(icon: NamedIcon, look: Look) -> ElementTree.Element:
    """Read an icon's drawing into a tree, cleaned and in its look, with names as SVG inside HTML has them.

    Raises:
        IconsError: it is a bitmap, is not at hand, or is no SVG that can be read.
    """
    if icon.svg is None:
        raise IconsError(f'the drawing of "{icon.key}" is not at hand; --format name writes its name')
    try:
        document = svg_document(icon.svg)
    except RenderError as error:
        raise IconsError(f'"{icon.key}" can\'t be written as code: {error}') from error
    if document is None:
        raise IconsError(
            f'"{icon.key}" is a bitmap and no SVG; `icons export` into a zip or a folder copies it as it is'
        )
    try:
        document = document if look.colour is None else coloured(document, look.colour)
        root = _cleaned(document, depth=0)
    except (ValueError, LookupError, ElementTree.ParseError) as error:  # LookupError: of encodings
        raise IconsError(f'"{icon.key}" can\'t be written as code: it is no well-formed SVG ({error})') from error
    reshape(root, look)
    return root


def _cleaned(document: bytes, *, depth: int) -> ElementTree.Element:
    """Parse an SVG, and take out what is not of the lists; `depth`: in how many others it stands as a picture.

    Raises:
        ValueError: it is no svg, or is nested deeper than a drawing is.
        ParseError: it is not well-formed.
    """
    # SVG inside HTML may state no namespace.
    root = parsed_tree(with_attribute(document, b' xmlns="%b"' % SVG.encode(), unless=_NAMESPACE))
    if not _is_kept(root, depth) or root.tag != "svg":
        raise ValueError("its root is not svg")
    for parent in root.iter():
        parent.text = _characters(parent, parent.text)
        parent[:] = [child for child in parent if parent.tag not in _OF_TEXT_ALONE and _is_kept(child, depth)]
        for child in parent:
            child.tail = _characters(parent, child.tail)
    return root


def parsed_tree(document: bytes) -> ElementTree.Element:
    """Parse XML.

    Raises:
        ValueError: it is nested deeper than a drawing is.
        ParseError: it is not well-formed.
    """
    level, root = 0, ElementTree.Element("")
    for event, root in ElementTree.iterparse(io.BytesIO(document), ("start", "end")):  # noqa: B007 - the last that ends
        level += 1 if event == "start" else -1
        if level > _DEEPEST:
            raise ValueError(f"elements nested more than {_DEEPEST} deep")
    return root


def _characters(parent: ElementTree.Element, text: str | None) -> str | None:
    """What of an element's characters is drawn or read."""
    if not text or parent.tag not in _WITH_TEXT:
        return None
    return text.strip() if parent.tag == "style" else _SPACES.sub(" ", text)


def _is_kept(element: ElementTree.Element, depth: int) -> bool:
    """Name an element and its attributes without namespaces; tell whether it belongs to a drawing."""
    namespace, _, tag = str(element.tag).rpartition("}")
    if namespace != f"{{{SVG}" or tag not in _ELEMENTS_KEPT:
        return False
    attributes = sorted(element.attrib.items())
    element.tag = tag
    element.attrib.clear()
    for name, value in attributes:
        plain = "href" if name == XLINK_HREF else name
        if plain in _ATTRIBUTES_KEPT or _WITH_ANY_TEXT.fullmatch(plain):
            held = _held(tag, plain, value.strip(), depth)
            if held and plain not in element.attrib:  # of two links the one without a namespace counts
                element.set(plain, held)
    if element.get("attributeName", "d") not in _ATTRIBUTES_KEPT - _NOT_MOVED:
        for name in _MOVING:  # others may begin when it ends
            element.attrib.pop(name, None)
    if tag == "style":
        element.text = safe_text(element.text or "")
    return True


def _held(tag: str, name: str, value: str, depth: int) -> str:
    """What of an attribute is held by the drawing itself; "" for none of it."""
    if name == "href":
        if value.startswith("#"):
            return value if tag != "a" else ""
        return _picture(value, depth) if tag in ("image", "feImage") else ""
    if name == "style":
        own = (one for one in declarations(value) if not REACHING.search(one.text) and not _OBSOLETE.match(one.name))
        return ";".join(one.text for one in own)
    return value if name in _TIMING or _WITH_ANY_TEXT.fullmatch(name) or not REACHING.search(value) else ""


def _picture(address: str, depth: int) -> str:
    """A picture that is held as data; one that is an SVG is cleaned as well."""
    if _BITMAP.match(address):
        return address
    inner = _INNER.fullmatch(address)
    if inner is None or depth == _DEEPEST_INNER:
        return ""
    try:
        content = unquote_to_bytes(inner[2])
        document = svg_document(base64.b64decode(content) if ";base64" in inner[1].lower() else content)
        root = _cleaned(document or b"<svg/>", depth=depth + 1)
    except (ValueError, LookupError, RenderError, ElementTree.ParseError):
        return ""
    root.set("xmlns", SVG)
    return f"data:image/svg+xml,{quote(ElementTree.tostring(root))}"


_TIMING = ("begin", "end")
_LABELS = ("aria-labelledby", "aria-describedby")
_FRAMES = re.compile(r"keyframes\s+[\"']?([\w-]+)", re.IGNORECASE)
_WITH_FRAMES = re.compile(r"\banimation(?:-name)?\s*:[^;}]*", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")
_STARTED_BY = re.compile(r"((?:^|;)\s*+)((?>(?:\\.|[^;.+\\-])+)(?=\.[a-z])|[^;.+\\]+(?=\.[a-z]+\s*\+))", re.IGNORECASE)
"""What an animation waits for. A hyphen is a minus there, unless there is a plus."""
_WITH_URL = re.compile(r"url\(\s*(?:([\"'])#((?:(?!\1).)+)\1|#([^\"'()\s]+))\s*\)", re.IGNORECASE)


def set_apart(root: ElementTree.Element, *, name: str, is_alone: bool = False) -> None:
    """Let a cleaned drawing stand beside others in one document: its ids bear its name, its rules lie on its shapes.

    An SVG file is a world of its own; inside a page its ids and the rules of its <style> meet those of every other one.
    Where rules do more than that, they come to hold for this drawing only; they stay as they are if it `is_alone`.
    """
    lay_rules(root)
    if any("mix-blend-mode" in element.get("style", "") for element in root.iter()):  # with the page behind it, else
        root.set("style", ";".join(filter(None, ("isolation:isolate", root.get("style")))))
    if not is_alone or root.find(".//style") is None:
        _name_parts(root, f"i{name}" if name[0].isdigit() else name)


_NAMES = r"(?>(?::root|[.#]?-?[^\W\d][\w-]*+|\*)+)"
_SELECTOR = re.compile(rf"{_NAMES}(?:[> ]{_NAMES}){{0,5}}+")


def lay_rules(root: ElementTree.Element, *, partly: bool = False) -> None:
    """Write the rules of <style> into the elements that they choose; sheets stay where a rule does more than that.

    A rule chooses by classes, ids and names of an element, and of those that it lies in. Sheets stay as well where many
    rules for many elements would take long, or become long. `partly`: rules are written where sheets stay, too.
    """
    sheets = [(parent, child) for parent in root.iter() for child in parent if child.tag == "style"]
    shown = [sheet for _, sheet in sheets if sheet.get("type", "text/css").lower() == "text/css"]
    if sum(len(sheet.text or "") for sheet in shown) > _MOST_CSS:
        return
    rules = [rule for sheet in shown for rule in rules_of(sheet.text or "", media=sheet.get("media", ""))]
    pairs = [(selector, declared) for selectors, declared in rules for selector in selectors]
    plain = [pair for pair in pairs if _SELECTOR.fullmatch(pair[0])]
    is_whole = len(plain) == len(pairs) and all(one.get("attributeName") != "class" for one in root.iter())
    if len(pairs) > _MOST_SELECTORS or not (is_whole or partly):
        return
    choices = sorted(plain, key=lambda pair: weight(pair[0]))
    laid, room = [], _MOST_LAID
    for element, declared, n_around in _chosen(root, [], choices):
        room -= len(choices) * (1 + n_around) + sum(len(one.text) for one in declared)
        if room < 0:
            return
        laid.append((element, declared))
    for element, declared in ((one, own) for one, own in laid if own):
        in_order = sorted([*declared, *declarations(element.get("style", ""))], key=lambda one: one.is_important)
        element.set("style", ";".join(one.text for one in in_order))
    if not is_whole:
        return
    for parent in dict.fromkeys(parent for parent, _ in sheets):
        parent[:] = [child for child in parent if child.tag != "style"]
    for element in root.iter() if sheets else ():
        element.attrib.pop("class", None)


def _chosen(
    element: ElementTree.Element, around: list[set[str]], choices: Sequence[tuple[str, Sequence[Declaration]]]
) -> Iterator[tuple[ElementTree.Element, list[Declaration], int]]:
    """What is declared for an element and all in it; `around`: names of those that it lies in, which are counted."""
    path = [*around, names_of(element, is_root=not around)]
    yield element, [one for selector, declared in choices if selects(selector, path) for one in declared], len(around)
    for child in element:
        yield from _chosen(child, path, choices)


_SIGNS = {"-": "_", ":": "__"}
"""Of a key: no two keys are spelt alike."""


def _name_parts(root: ElementTree.Element, name: str) -> None:
    """Put the icon's name before each id and what refers to one, and before what its sheets name."""
    own = "".join(sign if sign.isascii() and sign.isalnum() else _SIGNS.get(sign, f"_{ord(sign):x}") for sign in name)
    sheets = list(root.iter("style"))
    ids = list(dict.fromkeys(filter(None, (element.get("id") for element in root.iter()))))
    letters = ("".join(sign if sign.isascii() else f"{ord(sign):x}" for sign in old) for old in ids)
    names = dict(
        zip(ids, unique([f"{own}__{re.sub('[^A-Za-z0-9_]+', '_', one)}" for one in letters], between="_"), strict=True)
    )
    frames = {frame for sheet in sheets for frame in _FRAMES.findall(sheet.text or "")}

    def renamed(reference: str) -> str:
        """What is not in the drawing is nothing: it may be there in the page."""
        return names.get(unquote(reference), f"{own}__")

    def in_style(text: str) -> str:
        text = _WITH_URL.sub(lambda link: f"url(#{renamed(link[2] or link[3])})", text)
        return _WITH_FRAMES.sub(lambda part: _WORD.sub(framed, part[0]), text)

    def framed(word: re.Match[str]) -> str:
        return f"{own}__{word[0]}" if word[0] in frames else word[0]

    for element in root.iter():
        for attribute, value in element.items():
            if attribute == "id" or (attribute == "href" and value.startswith("#")):
                element.set(attribute, names[value] if attribute == "id" else f"#{renamed(value[1:])}")
            elif attribute in _LABELS:
                element.set(attribute, " ".join(map(renamed, value.split())))
            elif attribute in _TIMING:
                element.set(
                    attribute, _STARTED_BY.sub(lambda one: one[1] + renamed(re.sub(r"\\(?=.)", "", one[2])), value)
                )
            else:
                element.set(attribute, in_style(value))
    for sheet in sheets:
        sheet.text = scoped(in_style(sheet.text or ""), own=own, renamed=renamed)
        root.set("class", " ".join(filter(None, (root.get("class"), own))))
