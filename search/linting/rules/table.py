"""Which rules are there? One table, in the order in which they are reported."""

from collections.abc import Sequence

from indexer.errors import IconsError
from search.linting.findings import Rule
from search.linting.rules import canvas, colours, contents, drawn, naming, strokes, twins

RULES: dict[str, Rule] = {
    rule.id: rule
    for rules in (drawn.RULES, twins.RULES, naming.RULES, canvas.RULES, strokes.RULES, colours.RULES, contents.RULES)
    for rule in rules
}


def choose(only: Sequence[str] = (), without: Sequence[str] = ()) -> list[Rule]:
    """Choose rules by id: all, or only some; without others.

    Raises:
        IconsError: there is no such rule.
    """
    check((*only, *without))
    return [rule for rule in RULES.values() if (not only or rule.id in only) and rule.id not in without]


def check(ids: Sequence[str], *, where: str = "") -> None:
    """Refuse what is no rule.

    Raises:
        IconsError: that is so.
    """
    if unknown := next((name for name in ids if name not in RULES), None):
        raise IconsError(f'{where}"{unknown}" is no rule; there are {", ".join(RULES)}')
