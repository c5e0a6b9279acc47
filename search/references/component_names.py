"""Which icon does a component stand for? `ArrowLeft`, `IconBrandX`, `HiOutlineBell`, `faHouse`: both ways.

A package writes an icon's name as a component by rules of its own: a `Look` for each style that the rules tell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])"  # arrow|Left, trash|2
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # A|Arrow
    r"|(?<=[A-Z])(?=[0-9])"  # H|1
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 3|Bars
)
_AFTER_NUMBER = re.compile(r"(?<=[0-9])[A-Za-z]")
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_PART = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Look:
    """One way to write a set's names: `begins` + Name + `ends` is the icon `before` + name + `after` of `set`."""

    set: str
    begins: str = ""
    ends: str = ""
    before: str = ""
    after: str = ""

    def read(self, component: str) -> str | None:
        """The name that a component tells, where it is written so."""
        body = component.removeprefix(self.begins).removesuffix(self.ends)
        if len(body) + len(self.begins) + len(self.ends) != len(component) or not body:
            return None
        if self.begins and not (body[0].isupper() or body[0].isdigit()):
            return None  # `Tiara` is no icon of `Ti`
        return f"{self.before}{kebab(body)}{self.after}"

    def spell(self, name: str) -> str | None:
        """The component of a name, where this look has it."""
        if not (name.startswith(self.before) and name.endswith(self.after)):
            return None
        body = name[len(self.before) : len(name) - len(self.after)]
        if not body or not body.isascii():
            return None
        spelt = f"{self.begins}{pascal(body)}{self.ends}"
        return spelt[0].lower() + spelt[1:] if self.begins[:1].islower() else spelt


def read_component(looks: Sequence[Look], component: str) -> list[tuple[str, str]]:
    """All (set, name) that a component may mean by some looks, the likeliest first."""
    readings = ((look.set, look.read(component)) for look in looks)
    return list(dict.fromkeys((key, name) for key, name in readings if name))


def spell_component(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> str | None:
    """Write a name as a component, in the look that another component has where that can be."""
    return next(_spelt(looks, name, like=like, sets=sets), None)


def is_spelt(looks: Sequence[Look], name: str, component: str) -> bool:
    """Whether a component is a name's, the letters behind numbers in either case: `Grid3X3`, `Grid3x3`."""
    return any(_even(spelt) == _even(component) for look in looks if (spelt := look.spell(name)))


def _spelt(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> Iterator[str]:
    fitting = [look for look in looks if look.set in sets]
    for look in sorted(fitting, key=lambda look: look.read(like) is None):  # stable: those that read it come first
        if spelt := look.spell(name):
            yield spelt


def _even(component: str) -> str:
    return _AFTER_NUMBER.sub(lambda letter: letter[0].lower(), component)


def kebab(component: str) -> str:
    """ArrowLeft -> arrow-left, Trash2 -> trash-2, Grid2x2 -> grid-2x2."""
    return "-".join(_HUMP.split(component)).replace("_", "-").lower()


def pascal(name: str) -> str:
    """arrow-left -> ArrowLeft, trash-2 -> Trash2, arrow-down-a-z -> ArrowDownAZ."""
    return "".join(part[:1].upper() + part[1:] for part in _PART.split(name))


def folded(name: str) -> str:
    """A name without what a component cannot tell: arrow-down-a-z -> arrowdownaz."""
    return _NO_LETTER.sub("", name.lower())
