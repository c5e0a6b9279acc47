"""How a drawing stands beside others in one document: its ids bear its name, its rules lie on its shapes.

An SVG file is a world of its own; inside a page its ids and the rules of its <style> meet those of every other icon.
"""

import re
from xml.etree import ElementTree

_RULE = re.compile(r"\s*([^{}@]+)\{([^{}]*)\}\s*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"\.(-?[A-Za-z_][\w-]*)|([A-Za-z]+)|#([A-Za-z_][\w-]*)")
_WITH_URL = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")
_TIMING = ("begin", "end")
_LABELS = ("aria-labelledby", "aria-describedby")
_NOT_NAME = re.compile(r"[^\w]+")


def set_apart(root: ElementTree.Element, *, name: str) -> None:
    """Change a cleaned drawing in place."""
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
        declared = [body for selector, body in rules if body and _fits(selector, element)]
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


def _fits(selector: str, element: ElementTree.Element) -> bool:
    if selector.startswith("."):
        return selector[1:] in element.get("class", "").split()
    return element.get("id") == selector[1:] if selector.startswith("#") else element.tag == selector


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
