"""Texts cut into words; names of files and icons -> words, style, size; and how text of unknown origin is printed."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, takewhile

import click

Tokens = tuple[str, ...]

UNITS = frozenset(("px", "pt", "dp"))
USUAL_SIZES = frozenset((12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 40, 44, 48, 56, 64, 72, 96, 128, 256, 512))
"""Sizes in pixels that icons are drawn at."""

_WHOLE = frozenset(("utf", "win", "int", "arm", "amd", "base", "sha"))
"""Words whose number is part of them, although it could be a size: utf16, win32, sha256."""

_PLAIN = re.compile(r"[a-z]+(?:[-_ .:/][a-z]+)*")
_SEPARATOR = re.compile(r"[-_ .:/]")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_CHUNK = re.compile(r"[^\s+#]+(?:[+#]+(?![^\s+#]))?")
"""Signs at the end of a word are part of it: c++, c#, google+."""
_VARIANTS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9+#]")
_CAMEL = re.compile(
    r"(?<=[a-z])(?<!\b[ie])(?=[A-Z])"  # arrow|Left, but i-Phone stays whole
    r"|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])"  # PDF|File, but PDFs stays whole
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 24|Filled, but 2FA stays whole
)
_BRANDS = re.compile(
    "GitHub|GitLab|YouTube|LinkedIn|JavaScript|TypeScript|CoffeeScript|PayPal|WhatsApp|TikTok|WordPress|DropBox|OneDrive|"
    "OneNote|PowerPoint|MacBook|WiFi|AirPods|AirDrop|ChatGPT|OpenAI|MySQL|GraphQL|NodeJS|DevOps|SoundCloud|DeviantArt|"
    "PlayStation|FaceTime|PyTorch|TensorFlow|FedEx|MasterCard|StackOverflow|BitBucket|LaTeX|QuickTime|SnapChat|WeChat"
)
"""One word in every icon set, two humps in writing."""
_NUMBERED = re.compile(r"([a-z]*+)([0-9]++)([a-z0-9]*+)")


def split(text: str) -> list[str]:
    """Cut a text into lower-case tokens: at separators, at the humps of camelCase, before a lone number."""
    if _PLAIN.fullmatch(text):
        return _SEPARATOR.split(text)
    text = _APOSTROPHE.sub("", text)
    if not text.islower():
        text = _BRANDS.sub(lambda match: match.group().capitalize(), text)
    apart = _CAMEL.split if text.isascii() else _humps_apart
    chunks = _CHUNK.findall(_words_only(text))
    pieces = [piece for chunk in chunks for piece in ((chunk,) if chunk.islower() else apart(chunk))]
    return [unicodedata.normalize("NFKC", token) for piece in pieces for token in _numbers_apart(piece)]


def normalise(text: str) -> str:
    """Spell a query or a name the one way in which both are compared; text of nothing but signs stays as it is."""
    return " ".join(split(text)) or "".join(unicodedata.normalize("NFKC", text).lower().split())


normalise_tag = lru_cache(maxsize=1 << 16)(normalise)
"""Remembered, since icons of a set share most of their tags."""


def _numbers_apart(piece: str) -> Tokens:
    """ArrowRight18 is "right 18", python3 "python 3", 24px "24 px"; but mp3, h1, 2fa and a11y are one word each."""
    word = piece.lower()
    match = _NUMBERED.fullmatch(word)
    if match is None:
        return (word,)
    letters, number, rest = match.groups()
    if rest in UNITS:
        return (letters, number, rest) if letters else (number, rest)
    is_capitalised = piece[:1].isupper() and piece[1:2].islower()
    is_sized = not rest and len(number) <= 3 and int(number) in USUAL_SIZES and letters not in _WHOLE
    if len(letters) >= 5 or (is_sized and len(letters) >= (2 if is_capitalised else 4)):
        return (letters, number + rest)
    return (word,)


def _words_only(text: str) -> str:
    """Blank what is neither letter, digit nor + or #; marks belong to the letter before them."""
    if text.isascii():
        return _NOT_A_WORD.sub(" ", text)
    signs = ((sign, unicodedata.category(sign)) for sign in unicodedata.normalize("NFKC", text))
    return "".join(
        sign if kind[0] in "LN" or sign in "+#" or (kind in ("Mn", "Mc") and sign not in _VARIANTS) else " "
        for sign, kind in signs
    )


def _humps_apart(chunk: str) -> list[str]:
    """Cut camelCase in any script that has cases, by the humps of its ASCII shadow."""
    shadow = "".join(
        "A" if sign.isupper() else "a" if sign.islower() else "0" if sign.isdigit() else "~" for sign in chunk
    )
    cuts = (match.start() for match in _CAMEL.finditer(shadow))
    return [chunk[start:end] for start, end in pairwise([0, *cuts, len(chunk)])]


_ESCAPED = re.compile(r"\\(?:[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4})")
_HARMLESS = frozenset("\u00a0\u2009\u202f\u3000\u200c\u200d")
"""Spaces, and what joins emoji and Persian letters or keeps them apart."""


def printable(text: str, *, keep: str = "") -> str:
    r"""Spell control signs, marks of direction, line ends and lone surrogates as `\x1b`, `\u202e`, `\n`.

    What is in `keep` stays as it is.
    """
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or sign in _HARMLESS or sign in keep
        else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def unprinted(text: str) -> str:
    """Give back what `printable` spelled; a text that it never spells so stays as it is."""
    return _ESCAPED.sub(lambda escape: escape[0].encode("ascii").decode("unicode_escape", errors="replace"), text)


def say(line: str, *, err: bool = False) -> None:
    """Print one line for people."""
    click.echo(printable(line), err=err)


def counted(n: int, what: str) -> str:
    """So many of something: "1 icon", "2,000 icons"."""
    return f"{n:,} {what}{'s' if n != 1 else ''}"


def first_few(texts: Sequence[str], *, most: int = 3, between: str = ", ") -> str:
    """The first of some texts, and how many more there are: "bell, house, user and 2 more"."""
    named = between.join(texts[:most])
    return f"{named} and {len(texts) - most:,} more" if len(texts) > most else named


STYLES: dict[str, str | None] = {
    **dict.fromkeys(("filled", "fill", "solid"), "filled"),
    **dict.fromkeys(("outline", "outlined", "line", "stroke"), "outline"),
    **dict.fromkeys(("rounded", "round"), "rounded"),
    **dict.fromkeys(("duotone", "duo"), "duotone"),
    **dict.fromkeys(("color", "colored", "colors", "colour", "coloured", "colours"), "color"),
    **dict.fromkeys(("regular", "baseline", "normal"), None),
    **{word: word for word in ("sharp", "twotone", "thin", "light", "medium", "bold", "dark", "linear", "flat")},
    **{word: word for word in ("broken", "remix", "block", "print", "mono", "background", "1x1", "4x3")},
}
"""Style words and what they are called here; None is the ordinary look of a set, which needs no name."""
LOOKS = ("outline", "filled", "duotone", "color")
"""Every picture has one of these, whether anybody says so or not; all other styles stand beside it."""
CORNERS = ("rounded", "sharp")
_LOOK_OF = {**{look: look for look in LOOKS}, "twotone": "duotone", "linear": "outline"}
_STRONGEST = ("duotone", "color", "filled", "outline")
"""Of two looks that are stated, the first here is what is seen: a duotone outline is a duotone."""
FOREIGN_OUTLINED = (
    *("umriss", "umrandet", "umrandete", "umrandeter", "umrandetes", "omlijnd", "omlijnde"),
    *("contorno", "contornato"),
)
"""Words of other languages that the dictionary lacks, or has for shapes alone."""
_ASKED: dict[str, str | None] = {
    **STYLES,
    **dict.fromkeys(("regular", "hollow", "empty", "lined", "stroked", "contour", *FOREIGN_OUTLINED), "outline"),
    **{"twotone": "duotone", "full": "filled", "filling": "filled"},
}
CERTAIN = frozenset(("filled", "outline", "outlined", "duotone", "twotone"))
CERTAIN_ALONE = CERTAIN | {"rounded"}
"""In a set that has no `rounded` look, `square-rounded` is a shape; of a single name more is not known."""
_ORDER = "sharp rounded flat color mono dark light thin medium bold linear broken duotone twotone filled outline"
_RANK = {style: rank for rank, style in enumerate(_ORDER.split(), start=1)}
FILLERS = frozenset(("icon", "icons", "ico", "icn", "img", "svg", "glyph", "mdi"))
_SCALE = re.compile(r"@[0-9.]+x$", re.IGNORECASE)
_SQUARE = re.compile(r"([0-9]{1,4})x\1")


@lru_cache(maxsize=1024)
def canonical_style(text: str | None) -> tuple[str | None, int | None]:
    """Read a style in a source's own words, and the size in it: "24 Filled" -> ("filled", 24)."""
    tokens = [token for token in tokens_of(text or "") if token not in UNITS]
    sizes = [size for token in tokens if (size := as_size(token))]
    styles = join_styles(STYLES.get(token, token) for token in tokens if as_size(token) is None)
    return styles, (sizes[-1] if sizes else None)


def stated_look(styles: str | None) -> str | None:
    """Find the look among styles that are stated: "sharp twotone" -> "duotone"."""
    return min(filter(None, map(_LOOK_OF.get, (styles or "").split())), key=_STRONGEST.index, default=None)


def with_look(styles: str | None, look: str | None) -> str | None:
    """Write styles with the look that they state, or that was seen: ("sharp twotone", "duotone") -> "sharp duotone"."""
    return join_styles([*(style for style in (styles or "").split() if style != "twotone"), look])


@lru_cache(maxsize=1024)
def asked_style(text: str) -> str:
    """Read styles as a person asks for them, whose "regular" is an outline: "Sharp solid" -> "sharp filled"."""
    styles = [_ASKED.get(token, token) for token in tokens_of(text.lower().replace("-", " "))]
    return join_styles(style for style in styles if not ("color" in styles and style == "flat")) or ""


def path_hints(parts: Sequence[str]) -> tuple[str | None, int | None]:
    """Read style and size off folder names that say nothing else: ("24px", "filled") -> ("filled", 24)."""
    plain = STYLES.keys() | UNITS | FILLERS
    looks = (row for row in map(tokens_of, parts) if all(token in plain or as_size(token) for token in row))
    return canonical_style(" ".join(token for row in looks for token in row if token not in FILLERS))


@lru_cache(maxsize=1 << 16)
def tokens_of(name: str) -> Tokens:
    """Cut a name into tokens: no @2x, two-tone as one, 24x24 as 24. Remembered, since a set is looked at twice."""
    tokens = tuple(split(_SCALE.sub("", name) if "@" in name else name))
    if "tone" in tokens:
        tokens = tuple(" ".join(tokens).replace("two tone", "twotone").replace("duo tone", "duotone").split(" "))
    if "x" in name and _SQUARE.search(name):
        tokens = tuple(
            match[1] if (match := _SQUARE.fullmatch(token)) and as_size(match[1]) else token for token in tokens
        )
    return tokens


def as_size(token: str) -> int | None:
    """Read a token as a size in pixels, if it is a number that icons are drawn at."""
    return int(token) if re.fullmatch("[0-9]{1,4}", token) and 8 <= int(token) <= 1024 else None


def look_length(row: Tokens) -> int:
    """Count the tokens from the front that can be styles and sizes; at least one token is left over."""
    return sum(takewhile(bool, (token in STYLES or token in UNITS or token.isdigit() for token in row[:-1])))


def join_styles(styles: Iterable[str | None]) -> str | None:
    """Write several styles as one, each once, in a fixed order."""
    return " ".join(sorted(dict.fromkeys(filter(None, styles)), key=lambda style: _RANK.get(style, 0))) or None


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

    def states(word: str, n_names: int) -> bool:
        share, siblings_share = n_names / n_looks, paired[word] / n_names
        is_usual = (share >= 0.05 and siblings_share >= 0.2) or share >= 0.9
        is_rare = rarely and n_names >= 8 and share >= 0.01 and siblings_share >= 0.8
        return n_names >= 4 and (is_usual or is_rare)

    return frozenset(word for word, n_names in bearing.items() if states(word, n_names))


def _learn_pairs(rows: list[Tokens]) -> frozenset[frozenset[str]]:
    """Find the pairs of style words that at least one name in a hundred bears."""
    looks = ([token for token in row[: look_length(row)] if token in STYLES] for row in rows)
    counts = Counter(frozenset(pair) for words in looks for pair in combinations(words, 2))
    return frozenset(pair for pair, n_names in counts.items() if n_names >= max(4, len(rows) / 100))


def _learn_sized(rows: list[Tokens]) -> bool:
    """Say whether a fifth of the subjects end in a number that can be a size; many different numbers are codes.

    Of several the last one counts: in "rotate 90 24 regular" that is 24, and 90 is what it shows.
    """
    sizes_of: dict[Tokens, set[int]] = defaultdict(set)
    for row in rows:
        length = look_length(row)
        sizes_of[row[length:]].update([size for token in row[:length] if (size := as_size(token))][:1])
    return sum(map(bool, sizes_of.values())) >= len(sizes_of) / 5 and len(set().union(*sizes_of.values())) <= 16


_GLUED = re.compile(r"[a-z]([0-9]{2,3})(?![0-9a-z])")


@dataclass(frozen=True, slots=True)
class Name:
    """A name, read: `words` in lower case with single spaces, never empty; a style of None is the set's regular one."""

    words: str
    style: str | None = None
    size: int | None = None


def parse(name: str, affixes: Affixes = UNKNOWN, *, style: str | None = None, size: int | None = None) -> Name:
    """Read one name of a set. What its source states beside it (`style`, `size`) is merged in; a stated size wins."""
    stated, stated_size = canonical_style(style)
    core = without(without(tokens_of(name), affixes.prefixes)[::-1], affixes.suffixes)[::-1]
    words, styles, found = _peel(core, affixes, name=name, stated=stated)
    styles = [*(stated or "").split(), *styles]
    return Name(" ".join(words) or normalise(name) or "unnamed", join_styles(styles), size or stated_size or found)


def _peel(
    core: Tokens, affixes: Affixes, *, name: str, stated: str | None
) -> tuple[Tokens, list[str | None], int | None]:
    """Take styles and a size off both ends; a name that is nothing else keeps its tokens as words."""
    asked = (stated or "").split() if affixes.is_sized is None else ()
    doubtful = frozenset(word for word, style in STYLES.items() if style in asked)
    glued = frozenset() if name.islower() else frozenset(_GLUED.findall(name))
    rest, styles, size = _peel_end(core, affixes, doubtful=doubtful, glued=glued)
    at_start = affixes.leading_styles | doubtful
    while len(rest) > 1 and rest[0] in at_start and STYLES[rest[0]] not in styles:
        styles.append(STYLES[rest[0]])
        rest = rest[1:]
    if len(rest) == 1 < len(core) and (rest[0] in CERTAIN or as_size(rest[0])):
        return core, [], None
    return rest, styles, size


def _peel_end(
    rest: Tokens, affixes: Affixes, *, doubtful: frozenset[str], glued: frozenset[str]
) -> tuple[Tokens, list[str | None], int | None]:
    """Take tokens off the end while they are styles or a size, each style once: `chart-line-line` is a chart line."""
    taken: list[str] = []
    size = None
    while len(rest) > 1:
        last = rest[-1]
        if size is None and last in UNITS and len(rest) > 2 and as_size(rest[-2]):
            size, rest = as_size(rest[-2]), rest[:-2]
        elif size is None and _is_size(last, affixes.is_sized, glued=glued):
            size, rest = as_size(last), rest[:-1]
        elif _is_style(last, taken, affixes, doubtful=doubtful):
            taken.append(last)
            rest = rest[:-1]
        else:
            break
    return rest, [STYLES[word] for word in taken], size


def _is_style(word: str, taken: list[str], affixes: Affixes, *, doubtful: frozenset[str]) -> bool:
    """Tell whether the last word of a name is a style, behind which some words were taken off."""
    if any(STYLES.get(word, word) == STYLES[other] for other in taken):
        return False
    if affixes.is_sized is None:
        return word in CERTAIN_ALONE or word in doubtful or word in affixes.styles
    is_paired = all(frozenset((word, other)) in affixes.style_pairs for other in taken)
    return is_paired and (word in CERTAIN or word in affixes.styles)


def _is_size(token: str, is_sized: bool | None, *, glued: frozenset[str]) -> bool:
    return bool(as_size(token)) if is_sized else as_size(token) in USUAL_SIZES and (is_sized is None or token in glued)
