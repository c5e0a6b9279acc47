"""What do the names of a set have in common? Codes that say nothing, and its ways to state style and size."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from indexer.naming.looks import FILLERS, STYLES, as_size, look_length, tokens_of
from indexer.naming.words import Tokens

_MEANINGS = frozenset(
    """
    2d 3d 4k 5g ac ai animal arrow avatar badge bank brand button calendar card chart chess circle clock cloud coin
    country crypto css currency cursor device dice direction document emoji face file flag folder food game gesture
    gps hand health heart home html id key language letter logo map math medical menu message money moon music
    network number pc pdf people person phone photo plant payment qr science shape shopping sign social sport sql
    square star symbol sync technology text tool transport travel tv type usb user vehicle video vpn weather zodiac
    """.split()  # noqa: SIM905 (a list of them is ninety lines)
)
"""What whole sets are about; a set of 250 `flag-*` must still be found by "flag"."""

_MIN_NAMES = 8
"""Fewer names than this tell nothing about their set."""

_VOWELS = frozenset("aeiouy")


@dataclass(frozen=True, slots=True)
class Affixes:
    """What the names of a set have in common; the default knows nothing, as for a name alone."""

    prefixes: Tokens = ()
    """From the front inwards."""
    suffixes: Tokens = ()
    """From the back inwards."""
    styles: frozenset[str] = frozenset()
    """Words of double meaning that this set ends names with to state their style."""
    style_pairs: frozenset[frozenset[str]] = frozenset()
    """Style words that this set puts after each other; the `light` of `traffic-light-fill` is no style."""
    leading_styles: frozenset[str] = frozenset()
    is_sized: bool | None = None
    """Whether a bare number at the end is a size; None where there are too few names to tell."""


UNKNOWN = Affixes()


def common_affixes(names: Iterable[str]) -> Affixes:
    """Learn from all names of a set which of their tokens are codes, styles and sizes."""
    rows = [tokens_of(name) for name in names]
    if len(rows) < _MIN_NAMES:
        return UNKNOWN
    prefixes, rows = _take_shared(rows)
    suffixes, backwards = _take_shared([row[::-1] for row in rows])
    return Affixes(
        prefixes,
        suffixes,
        styles=_learn_styles(backwards, rarely=True),
        style_pairs=_learn_pairs(backwards),
        leading_styles=_learn_styles([row[::-1] for row in backwards], rarely=False),
        is_sized=_learn_sized(backwards),
    )


def _take_shared(rows: list[Tokens]) -> tuple[Tokens, list[Tokens]]:
    """Take off, from the front, what nearly all rows share and what means nothing."""
    shared: list[str] = []
    while True:
        nexts: dict[str, set[str]] = defaultdict(set)
        counts: Counter[str] = Counter()
        for row in rows:
            if len(row) > 1:
                start = look_length(row)
                counts[row[start]] += 1
                nexts[row[start]].add(row[start + 1] if start + 1 < len(row) else "")
        token, n_rows = counts.most_common(1)[0] if counts else ("", 0)
        if n_rows < 0.9 * len(rows) or not _is_noise(token, n_rows=n_rows, n_nexts=len(nexts[token])):
            return tuple(shared), rows
        shared.append(token)
        rows = [without(row, (token,)) for row in rows]


def _is_noise(token: str, *, n_rows: int, n_nexts: int) -> bool:
    """Tell a code (sdc, s2, icon, n) from a meaning (arrow): a word must prefix 100 names of 50 subjects."""
    if token in _MEANINGS:
        return False
    is_code = len(token) <= 2 or any(map(str.isdigit, token)) or _VOWELS.isdisjoint(token)
    return is_code or token in FILLERS or (n_rows >= 100 and n_nexts >= 50)


def without(row: Tokens, shared: Tokens) -> Tokens:
    """Take shared codes off the front of a name, one after the other, as far as they are there."""
    for token in shared:
        start = look_length(row)
        if len(row) > 1 and row[start] == token:
            row = row[:start] + row[start + 1 :]
    return row


def _learn_styles(rows: list[Tokens], *, rarely: bool) -> frozenset[str]:
    """Find the style words that this set puts in front of its rows to state a style.

    A word counts where 5 % of the set bear it and a fifth of these have a sibling that differs in styles alone; where
    nine in ten names bear it; and, with `rarely`, where 1 % bear it and four in five have a sibling. Measured on the
    sets of Iconify: below that, words mean something (`chart-line`), above it they don't.
    """
    looks: dict[Tokens, set[frozenset[str]]] = defaultdict(set)
    for row in rows:
        length = look_length(row)
        looks[row[length:]].add(frozenset(token for token in row[:length] if token in STYLES))
    bearing: Counter[str] = Counter()
    paired: Counter[str] = Counter()
    for siblings in looks.values():
        for word in (word for look in siblings for word in look):
            bearing[word] += 1
            paired[word] += any(word not in sibling for sibling in siblings)
    n_looks = sum(map(len, looks.values()))
    learned = []
    for word, n_names in bearing.items():
        share, siblings_share = n_names / n_looks, paired[word] / n_names
        is_usual = (share >= 0.05 and siblings_share >= 0.2) or share >= 0.9
        is_rare = rarely and n_names >= 8 and share >= 0.01 and siblings_share >= 0.8
        if n_names >= 4 and (is_usual or is_rare):
            learned.append(word)
    return frozenset(learned)


def _learn_pairs(rows: list[Tokens]) -> frozenset[frozenset[str]]:
    """Find the pairs of style words that at least one name in a hundred bears."""
    counts: Counter[frozenset[str]] = Counter()
    for row in rows:
        words = [token for token in row[: look_length(row)] if token in STYLES]
        counts.update(map(frozenset, combinations(words, 2)))
    return frozenset(pair for pair, n_names in counts.items() if n_names >= max(4, len(rows) / 100))


def _learn_sized(rows: list[Tokens]) -> bool:
    """Say whether a fifth of the subjects end in a number that can be a size; many different numbers are codes."""
    sizes_of: dict[Tokens, set[int]] = defaultdict(set)
    for row in rows:
        length = look_length(row)
        sizes_of[row[length:]].update(size for token in row[:length] if (size := as_size(token)))
    n_sized = sum(1 for sizes in sizes_of.values() if sizes)
    return n_sized >= len(sizes_of) / 5 and len(set().union(*sizes_of.values())) <= 16
