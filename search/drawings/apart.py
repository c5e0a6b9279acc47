"""How a drawing stands beside others in one document: its ids bear its name, its rules lie on its shapes.

An SVG file is a world of its own; inside a page its ids and the rules of its <style> meet those of every other icon.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

_RULE = re.compile(r"\s*([^{}@]+)\{([^{}]*)\}\s*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"\.(-?[A-Za-z_][\w-]*)|([A-Za-z]+)|#([A-Za-z_][\w-]*)")
_WITH_URL = re.compile(r"url\(\s*[\"']?#([^\"')]+)[\"']?\s*\)")
_TIMING = ("begin", "end")
_TELLING = ("aria-labelledby", "aria-describedby")
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
    rules = [rule for _, sheet in sheets for rule in _rules(sheet.text or "")]
    if not sheets or None in rules:
        return
    for element in root.iter():
        said = [declared for rule in sorted(filter(None, rules), key=_weight) for declared in _chosen(rule, element)]
        if said:
            element.set("style", ";".join([*said, *filter(None, [element.get("style")])]))
    chosen = {name[1:] for rule in filter(None, rules) for name in [rule[0]] if name.startswith(".")}
    for element in root.iter():
        left = [one for one in element.get("class", "").split() if one not in chosen]
        if left:
            element.set("class", " ".join(left))
        else:
            element.attrib.pop("class", None)
    for parent, sheet in sheets:
        parent.remove(sheet)


def _rules(sheet: str) -> Iterator[tuple[str, str] | None]:
    """Selector and declarations of each rule; None where one is more than that."""
    left = _COMMENT.sub("", sheet)
    while left.strip():
        rule = _RULE.match(left)
        if rule is None or "!" in rule[2]:
            yield None
            return
        for selector in rule[1].split(","):
            yield (selector.strip(), rule[2].strip().strip(";")) if _SELECTOR.fullmatch(selector.strip()) else None
        left = left[rule.end() :]


def _weight(rule: tuple[str, str]) -> int:
    """How much a selector weighs: id, class, name."""
    return {"#": 2, ".": 1}.get(rule[0][0], 0)


def _chosen(rule: tuple[str, str], element: ElementTree.Element) -> list[str]:
    selector, declared = rule
    is_meant = (
        selector[1:] in element.get("class", "").split()
        if selector[0] == "."
        else element.get("id") == selector[1:]
        if selector[0] == "#"
        else element.tag == selector
    )
    return [declared] if is_meant and declared else []


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
            elif attribute in _TELLING:
                element.set(attribute, " ".join(map(renamed, value.split())))
            elif "url(" in value:
                element.set(attribute, _WITH_URL.sub(lambda link: f"url(#{renamed(link[1])})", value))
            elif attribute in _TIMING and any(f"{one}." in value for one in ids):
                element.set(attribute, re.sub(r"[^\s;.+]+(?=\.)", lambda one: renamed(one[0]), value))
