"""What of an SVG may become markup: its drawing, as a tree, without scripts and handlers.

`svg-hush` (Cloudflare's, in Rust, behind py-svg-hush) does the cleaning, by lists of what is allowed: 0.02 ms an icon.
It knows SVG and CSS: url() in styles, links of any scheme, animations that set a link. `nh3` (Ammonia) is as fast and
better known, but cleans HTML: lists of elements and attributes would be ours, and styles go through it unread.
"""

import io
import re
from xml.etree import ElementTree

from py_svg_hush import filter_svg

from indexer.errors import IconsError, RenderError
from indexer.rendering.render import svg_document
from search.drawings.drawn import Look, NamedIcon, coloured, with_attribute
from search.drawings.shapes import DECLARATION, reshape

SVG = "http://www.w3.org/2000/svg"
_SVG_NAME = f"{{{SVG}}}"
_XML_NAME = "{http://www.w3.org/XML/1998/namespace}"
_XLINK_NAME = "{http://www.w3.org/1999/xlink}"
_PICTURES = {"image": ["png", "jpeg", "gif", "webp"]}
"""What may be held inside, as data: a bitmap runs nothing."""
_WITH_TEXT = frozenset(("text", "tspan", "textPath", "title", "desc", "style"))
"""Elements whose characters are drawn or read; between others they are indentation."""
_DEEPEST = 200
"""Elements in each other; svg-hush indents, so that 100,000 empty groups would take it 20 GB."""
_NAMESPACE = re.compile(rb"\sxmlns\s*=")
_SPACES = re.compile(r"[ \t\r\n]+")
_UNDRAWN = frozenset(("enable-background", "solid-color", "line-height", "hidden", "tabindex", "title"))
"""Attributes that editors leave behind, and that no browser draws anything by."""
_OBSOLETE = re.compile(r"\s*(?:enable-background|-inkscape-[\w-]+|solid-(?:color|opacity))\s*:")
_WITH_ANY_TEXT = ("aria-", "data-")
"""Attributes that hold any text."""
_LINK = re.compile(r"\s*(?:#|data:image/(?!svg))")
_REACHING = re.compile(
    r"\\|@import|(?:url|src|image|image-set|cross-fade|element|paint)\s*\((?!\s*[\"']?#)", re.IGNORECASE
)
"""In styles and paints: what lies elsewhere. svg-hush takes out addresses with a host, and leaves those of a path."""
_BLOCK, _QUOTES = re.compile(r"\{[^{}]*\}"), re.compile("[\"']")
_SET_LINK = re.compile(r"(?:xlink:)?href", re.IGNORECASE)


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
        # svg-hush refuses what states no namespace, as SVG inside HTML may.
        document = with_attribute(document, b' xmlns="%b"' % SVG.encode(), unless=_NAMESPACE)
        _refuse_deep(document)
        root = _plain(ElementTree.fromstring(filter_svg(document, _PICTURES)))
    except (ValueError, LookupError, ElementTree.ParseError) as error:  # LookupError: of encodings
        raise IconsError(f'"{icon.key}" can\'t be written as code: it is no well-formed SVG ({error})') from error
    reshape(root, look)
    return root


def _refuse_deep(document: bytes) -> None:
    """Refuse what is nested deeper than a drawing is.

    Raises:
        ValueError: it is.
        ParseError: it is not well-formed.
    """
    depth = 0
    for event, _ in ElementTree.iterparse(io.BytesIO(document), ("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            raise ValueError(f"elements nested more than {_DEEPEST} deep")


def _plain(root: ElementTree.Element) -> ElementTree.Element:
    """Take namespaces out of names, and what draws nothing out of the tree.

    Raises:
        ValueError: it is no svg.
    """
    if not _rename(root) or root.tag != "svg":
        raise ValueError("its root is not svg")
    for parent in root.iter():
        parent.text = _characters(parent, parent.text)
        for child in list(parent):
            child.tail = _characters(parent, child.tail)
            if not _rename(child):
                parent.remove(child)
    return root


def _characters(parent: ElementTree.Element, text: str | None) -> str | None:
    """What of an element's characters is drawn or read."""
    if not text or parent.tag not in _WITH_TEXT:
        return None
    return text.strip() if parent.tag == "style" else _SPACES.sub(" ", text)


def _rename(element: ElementTree.Element) -> bool:
    """Name an element and its attributes without namespaces; tell whether it belongs to a drawing."""
    if not isinstance(element.tag, str) or not element.tag.startswith(_SVG_NAME):
        return False
    element.tag = element.tag.removeprefix(_SVG_NAME)
    attributes = dict(element.attrib)
    element.attrib.clear()
    for name, value in attributes.items():
        plain = name.removeprefix(_XLINK_NAME).replace(_XML_NAME, "xml:")
        held = _held(plain, value)
        if held and not plain.startswith("{") and plain not in _UNDRAWN:
            element.set(plain, held)
    rules = (element.text or "") if element.tag == "style" else ""
    if _REACHING.search(rules) or _QUOTES.search(_BLOCK.sub("", rules)):
        return False  # it is not rules that hold all they need: svg-hush cuts an @import out
    return not _SET_LINK.fullmatch(element.get("attributeName", ""))


def _held(name: str, value: str) -> str:
    """What of an attribute is held by the drawing itself; "" for none of it."""
    if name == "href":
        return value if _LINK.match(value) else ""
    if name == "style":
        kept = [
            part.strip()
            for part in DECLARATION.findall(value)
            if not _REACHING.search(part) and not _OBSOLETE.match(part)
        ]
        return ";".join(filter(None, kept))
    return "" if _REACHING.search(value) and not name.startswith(_WITH_ANY_TEXT) else value


_RULE = re.compile(r"\s*([^{}@]+)\{([^{}]*)\}\s*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"\.(-?[A-Za-z_][\w-]*)|([A-Za-z]+)|#([A-Za-z_][\w-]*)")
_WITH_URL = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")
_TIMING = ("begin", "end")
_LABELS = ("aria-labelledby", "aria-describedby")
_NOT_NAME = re.compile(r"[^\w]+")


def set_apart(root: ElementTree.Element, *, name: str) -> None:
    """Let a cleaned drawing stand beside others in one document: its ids bear its name, its rules lie on its shapes.

    An SVG file is a world of its own; inside a page its ids and the rules of its <style> meet those of every other one.
    """
    _lay_rules(root)
    _name_ids(root, _NOT_NAME.sub("-", name).strip("-") or "icon")


def _lay_rules(root: ElementTree.Element) -> None:
    """Write the rules of <style> into the elements that they choose; sheets stay where a rule does more than that.

    A rule chooses by one class, id or name.
    """
    sheets = [(parent, child) for parent in root.iter() for child in parent if child.tag == "style"]
    rules = _rules("".join(sheet.text or "" for _, sheet in sheets))
    if not sheets or rules is None:
        return
    classes = {selector[1:] for selector, _ in rules if selector.startswith(".")}
    rules.sort(key=lambda rule: {"#": 2, ".": 1}.get(rule[0][0], 0))
    for element in root.iter():
        own = {element.tag, f"#{element.get('id', '')}", *(f".{one}" for one in element.get("class", "").split())}
        declared = [body for selector, body in rules if body and selector in own]
        if declared:
            element.set("style", ";".join([*declared, *filter(None, [element.get("style")])]))
    for element in root.iter():
        rest = [one for one in element.attrib.pop("class", "").split() if one not in classes]
        if rest:
            element.set("class", " ".join(rest))
    for parent, sheet in sheets:
        parent.remove(sheet)


def _rules(sheet: str) -> list[tuple[str, str]] | None:
    """Selector and declarations of each rule; None where one is more than that."""
    rules: list[tuple[str, str]] = []
    rest = _COMMENT.sub("", sheet)
    while rest.strip():
        rule = _RULE.match(rest)
        selectors = [selector.strip() for selector in rule[1].split(",")] if rule else []
        if rule is None or "!" in rule[2] or not all(map(_SELECTOR.fullmatch, selectors)):
            return None
        rules += [(selector, rule[2].strip().strip(";")) for selector in selectors]
        rest = rest[rule.end() :]
    return rules


def _name_ids(root: ElementTree.Element, name: str) -> None:
    """Put the icon's name before each id and before what refers to one."""
    ids = {element.get("id") for element in root.iter()} - {None}
    if not ids or any(element.tag == "style" for element in root.iter()):
        return

    def renamed(reference: str) -> str:
        return f"{name}-{reference}" if reference in ids else reference

    for element in root.iter():
        for attribute, value in element.items():
            if attribute == "id":
                element.set(attribute, renamed(value))
            elif attribute == "href" and value.startswith("#"):
                element.set(attribute, f"#{renamed(value[1:])}")
            elif attribute in _LABELS:
                element.set(attribute, " ".join(map(renamed, value.split())))
            elif "url(" in value:
                element.set(attribute, _WITH_URL.sub(lambda link: f"url(#{renamed(link[1])})", value))
            elif attribute in _TIMING and any(f"{one}." in value for one in ids):
                element.set(attribute, re.sub(r"[^\s;.+]+(?=\.)", lambda one: renamed(one[0]), value))
