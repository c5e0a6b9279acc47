"""How do icons stand in one document without reaching each other? Each with ids, classes and animations of its own."""

import re
from xml.etree.ElementTree import Element

from search.exporting.drawing import Drawing

_URL = re.compile(r"""url\(\s*(["']?)#([^"')\s]{1,1000})\1\s*\)""")
_EVENT = re.compile(r"([\w-]{1,1000})(?=\.[A-Za-z])")
"""In begin and end of an animation: the element whose event it waits for."""
_TIMES = ("begin", "end")
_LISTS = ("aria-labelledby", "aria-describedby")


def give_own_ids(drawing: Drawing, prefix: str) -> None:
    """Begin every id of a drawing that something refers to with `prefix`, and take off the others."""
    defined = {element.attrib["id"] for element in drawing.elements() if "id" in element.attrib}
    used = _used(drawing) & defined
    own = {name: f"{prefix}-{number}" for number, name in enumerate(sorted(used), start=1)}
    seen: set[str] = set()
    for element in drawing.elements():
        _rename(element.attrib, own)
        name = element.attrib.pop("id", None)
        if name in own and name not in seen:  # of two elements with one id the first is meant
            element.attrib["id"] = own[name]
            seen.add(name)
    _rename(drawing.attributes, own)


def _used(drawing: Drawing) -> set[str]:
    """What looks like a reference to an id."""
    found: set[str] = set()
    for attributes in (drawing.attributes, *(element.attrib for element in drawing.elements())):
        for name, value in attributes.items():
            found.update(reference[2] for reference in _URL.finditer(value))
            if name == "href" and value.startswith("#"):
                found.add(value[1:])
            elif name in _TIMES:
                found.update(_EVENT.findall(value))
            elif name in _LISTS:
                found.update(value.split())
    return found


def _rename(attributes: dict[str, str], own: dict[str, str]) -> None:
    for name, value in attributes.items():
        if name == "href" and value.startswith("#"):
            attributes[name] = f"#{own.get(value[1:], value[1:])}"
        elif name in _TIMES:
            attributes[name] = _EVENT.sub(lambda event: own.get(event[1], event[1]), value)
        elif name in _LISTS:
            attributes[name] = " ".join(own.get(one, one) for one in value.split())
        elif "url(" in value:
            attributes[name] = _URL.sub(lambda url: f"url(#{own.get(url[2], url[2])})", value)


def ids_of(elements: list[Element]) -> list[str]:
    """Ids that stand in some elements."""
    return [one.attrib["id"] for element in elements for one in element.iter() if "id" in one.attrib]
