"""What the words of a query ask for: a meaning, a name, a style, parts of a drawing, keywords; and how they are spelt.

Edit distance alone "corrects" wool to pool and caution to caption. Of 183 tags of four sets that it would change, 161
are made of usual words: an encoder reads these as one piece, and slips of the pen as several.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, permutations, product, takewhile
from math import log
from typing import Any, NamedTuple, Self, cast

from indexer.arrays import grouped
from indexer.encoders.query_encoder import QueryEncoder
from indexer.errors import IconsError
from indexer.languages.dictionary import Dictionary
from indexer.languages.words import (
    CERTAIN,
    CORNERS,
    FILLERS,
    FOREIGN_OUTLINED,
    LOOKS,
    Tokens,
    asked_style,
    normalise,
    stated_look,
    tokens_of,
)
from indexer.library.bundled import bundled
from indexer.merging.lexicon import STOPWORDS, Lexicon, without_stopwords

LEAST = -3.0
"""Mean natural log-probability of a letter; a guess among 27 has -3.3. Of 2,043 words of Tabler's, Phosphor's, Carbon's
and Material's tags that CLIP's tokenizer cuts, 90 % reach it; of 400 made-up words that can be spoken, 9 %."""
_SHORT = 4
"""Letters up to which a word may be an abbreviation; of fewer nearly everything is one letter away from something."""
_SMOOTHING = 0.1
"""Of each of 27 letters, with the end of a word."""


_PLAIN = re.compile("[a-z]+")


@dataclass(frozen=True)
class Plausible:
    """Letter statistics of some words, counted once they are needed."""

    read_words: Callable[[], Iterable[str]]

    def reads_like_a_word(self, word: str) -> bool:
        """Tell whether a word could be one; of other scripts, signs and digits nothing is known, so they could."""
        if len(word) <= _SHORT or not _PLAIN.fullmatch(word) or not self._counted[0]:
            return True
        triples, pairs = self._counted
        own = _triples(word)
        chances = ((triples[one] + _SMOOTHING) / (pairs[one[:2]] + _SMOOTHING * 27) for one in own)
        return sum(map(log, chances)) / len(own) >= LEAST

    @cached_property
    def _counted(self) -> tuple[Counter[str], Counter[str]]:
        """How often three letters follow one another, and the first two of three."""
        triples = Counter(triple for word in self.read_words() if _PLAIN.fullmatch(word) for triple in _triples(word))
        return triples, Counter(triple[:2] for triple in triples.elements())


def _triples(word: str) -> list[str]:
    return re.findall("(?=(...))", f"^^{word}$")


_LONG = 8
"""From this length two slips are accepted instead of one."""
_MUCH_RARER = 500
"""So often must the right word be more frequent. In large libraries slips have names, too: 4 of Iconify's bear "arow",
3,675 bear "arrow"."""


@dataclass(frozen=True)
class Speller:
    """A vocabulary, and what needs no correction."""

    read_vocabulary: Callable[[], Mapping[str, int]]
    """Gives every word with the number of names that bear it, once it is needed."""
    _: KW_ONLY
    is_name_or_tag: Callable[[str], bool]
    """Whether any name bears a word."""
    is_usual: Callable[[str], bool]
    """Whether a word needs no correction, whoever bears it."""
    could_be: Callable[[str], bool]
    """Whether a word that is neither reads like one."""

    @classmethod
    def of(cls, read_vocabulary: Callable[[], Mapping[str, int]], lexicon: Lexicon, encoder: QueryEncoder) -> Self:
        """Spell as the names and tags of a lexicon do, and as an encoder knows words."""
        could_be = Plausible(encoder.whole_words).reads_like_a_word
        return cls(read_vocabulary, is_name_or_tag=lexicon.knows, is_usual=encoder.has_token, could_be=could_be)

    def knows(self, word: str) -> bool:
        """Tell whether a word means something, here or anywhere, or may do so."""
        return self.is_usual(word) or self.is_name_or_tag(word) or self.could_be(word)

    def correct(self, words: str) -> str | None:
        """Spell normalised words as they were probably meant; None where there is nothing to correct."""
        meant = {word: self._meant(word) or word for word in dict.fromkeys(words.split())}
        corrected = " ".join(meant[word] for word in words.split())
        return None if corrected == words else corrected

    def _meant(self, word: str) -> str | None:
        if len(word) < _SHORT or self.is_usual(word):
            return None
        return self._far_more_frequent(word) if self.is_name_or_tag(word) else self._nearest(word)

    def _far_more_frequent(self, word: str) -> str | None:
        """The word that is spelled so by a slip of the pen and far more frequent; brands are one letter off, too, so
        that letter must be left out, doubled, or swapped with the next.
        """
        least = _MUCH_RARER * self._n_names.get(word, 1)
        alike = (other for other, n in self._frequent if n >= least and other[0] == word[0])
        return max(
            (other for other in alike if word in _slips_of(other)),
            key=lambda other: (self._n_names[other], other),
            default=None,
        )

    def _nearest(self, word: str) -> str | None:
        """The known word with the fewest slips, of equal ones the most frequent; or two known words run together."""
        if not word.isalpha():
            return None
        from rapidfuzz import process  # only where a word is unknown
        from rapidfuzz.distance import OSA

        slips = 2 if len(word) >= _LONG else 1
        as_long = (self._by_length.get(n, []) for n in range(len(word) - slips, len(word) + slips + 1))
        found = process.extract(word, [*chain(*as_long)], scorer=OSA.distance, score_cutoff=slips, limit=None)
        if found:
            return min(found, key=lambda match: (match[1], -self._n_names[match[0]], match[0]))[0]
        cuts = [(word[:cut], word[cut:]) for cut in range(2, len(word) - 1)]
        known = (pair for pair in cuts if all(part in self._n_names for part in pair))
        return (
            " ".join(max(known, key=lambda pair: (min(self._n_names[part] for part in pair), pair), default=())) or None
        )

    @cached_property
    def _n_names(self) -> Mapping[str, int]:
        return self.read_vocabulary()

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        """Words by how many letters they have: a slip makes a word longer or shorter by one."""
        return grouped(self._n_names, len)

    @cached_property
    def _frequent(self) -> list[tuple[str, int]]:
        """Words that can be far more frequent than another, and how many names bear each: of 34,896 of Iconify 111."""
        return [(word, n) for word, n in self._n_names.items() if n >= _MUCH_RARER]


def _slips_of(word: str) -> Iterator[str]:
    """Spell a word with a letter left out, doubled, or swapped with the next; the first letter stays."""
    for place in range(1, len(word)):
        start, letter, rest = word[:place], word[place], word[place + 1 :]
        yield start + rest
        yield start + letter + letter + rest
        yield start + rest[:1] + letter + rest[1:]


def drawn_for(words: str) -> tuple[str, ...]:
    """What is customarily drawn for some normalised words, the best first; nothing for what is no term."""
    deed = _DEED.match(words)
    deeds = (deed[1], *((f"{deed[1]}e", deed[1][:-1]) if deed[2] else ())) if deed else ()
    spellings = (words, without_stopwords(words), re.sub(r"(\w{3,}[^s ])s\b", r"\1", words), *deeds)
    return tuple(next(filter(None, map(_table("terms").get, spellings)), ()))


_DEED = re.compile(r"(\w+?)(ing)? (?:an?|the|my|our|your|some|someone) \w")
"""What is done to something: "inviting a colleague" is drawn as "invite" is."""


@cache
def _table(name: str) -> Mapping[str, Any]:
    """A bundled table of words or signs."""
    return cast(Mapping[str, Any], json.loads((bundled("language") / f"{name}.json").read_text("utf-8")))


def names_for(words: str) -> tuple[tuple[str, float], ...]:
    """Names of icons of which some normalised words are said, with weights from 1 down; none where nobody says them."""
    meanings = map(Dictionary.bundled("synonyms").meanings, (words, without_stopwords(words)))
    return next((found[0].terms for found in meanings if found), ())


_SEPARATING = frozenset(",.;:-_/\\|'\"`~()[]{}&+<>^")
"""Signs that stand between words; they are said only where there are no words."""
VARIANTS = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
"""Marks that choose how a sign is drawn: as text or picture, and colours of skin."""
_REGION = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
"""A flag: the two letters of a country."""
_ARROWS = {"->": "right arrow", "-->": "right arrow", "=>": "right arrow", "<-": "left arrow", "<--": "left arrow"}


@lru_cache(maxsize=16)  # a query's language is read from what this gives, then its words are
def spell_signs(text: str) -> str:
    """Put the names of signs in their place: "🔔 off" becomes "bell off", "?" "question mark".

    Within a word, and between words, punctuation and signs of ASCII stay as they are: c++, a/b, this + that, “bell”.
    """
    if text.isascii() and any(map(str.isalnum, text)) and not re.search(r"(?:^|\s)[^\w\s]+(?:\s|$)", text):
        return text
    has_words = any(map(str.isalnum, text))
    tokens = _REGION.sub(
        lambda flag: f" flag {''.join(chr(ord(sign) - 0x1F185) for sign in flag[0])} ", VARIANTS.sub("", text)
    ).split()
    return " ".join(" ".join(_spell(token, has_words=has_words) for token in tokens).split())


def _spell(token: str, *, has_words: bool) -> str:
    if (name := _ARROWS.get(token)) is not None:
        return name
    if token.isascii():
        if any(map(str.isalnum, token)) or (has_words and _SEPARATING.issuperset(token)):
            return token
        return " ".join(name_of(sign) for sign in dict.fromkeys(token))
    if _is_said(token, has_words=has_words):
        return name_of(token)
    are_said = [_is_said(sign, has_words=has_words) for sign in token]
    signs = token.replace("\u200d", " ") if any(are_said) else token  # it joins letters, too
    return "".join(f" {name_of(sign)} " if said else sign for sign, said in zip(signs, are_said, strict=True))


def name_of(sign: str) -> str:
    """Name of one sign, in lower case; "" where it has none."""
    return str(_table("signs").get(sign) or unicodedata.name(sign, "").lower())


def _is_said(sign: str, *, has_words: bool) -> bool:
    """Whether a sign is more than punctuation between words."""
    kind = unicodedata.category(sign) if len(sign) == 1 else ""
    is_sign = sign in _table("signs") or kind in ("So", "Sm", "Sc", "Sk", "Po")
    return is_sign and not sign.isascii() and not (has_words and kind.startswith("P"))


MOST_PARTS = 16
"""Of a drawing: each is held against every candidate. More are not taken apart."""
_SURE = frozenset(
    """
    filled fill solid outline outlined lined stroked hollow duotone twotone colored coloured sharp rounded
    """.split()  # noqa: SIM905 (a list of them is twenty lines)
).union(FOREIGN_OUTLINED)
_STYLES = _SURE.union(
    ("line", "stroke", "linear", "empty", "full", "round", "thin", "light", "bold", "regular", "contour")
)
"""Those that are not sure are as often a thing or a part of a name: a style only before or behind what is a name
without it."""
_WEIGHTS = frozenset(("thin", "light", "bold"))
_MOST_STYLES = 4
"""Of one icon, before and behind what it shows."""
_OF_STYLE = "(?:(?:styled?|look|version|variant)s?|(?<=line )art)"
_ANY_STYLE = f"(?:{'|'.join(_STYLES)}|flat|simple|plain|minimal|modern|classic)"
_STYLED = (
    rf"\b({_ANY_STYLE}(?: {_ANY_STYLE})*)(?: icons?)? {_OF_STYLE}(?: icons?)?\b"
    rf"|^{_OF_STYLE} ({_ANY_STYLE}(?: {_ANY_STYLE})*)\b"
)
"""What "style" says of the words beside it; one that icons here don't have says nothing. This pattern and those of
phrases are compiled when they are asked for the first time: names are no phrases, and need none of them."""
MINUS = re.compile(r"(?<!\S)-(?=\w)(\S+)")
"""Before a word that is to be left out."""
WITHOUT = {"ohne": "de", "sans": "fr", "zonder": "nl", "senza": "it"}
"""Words of other languages that say "without" and nothing else, and their languages."""
_ARTICLE = "(?:an?|the|any|its) "
_NOT = (
    r"(?:but )?(?<!\bdo )(?<!\bdoes )not(?= (?!(?:to|found|allowed|available|equals?|disturb|enter|started|verified"
    r"|saved|supported|sent|delivered|listed|rated)\b)\S)"
)
"""Before a style or a thing; "do not disturb" and "page not found" are names."""
_WITHOUT = rf"(?:with no|without|w/o|(?:{'|'.join(WITHOUT)})(?! serif))"
_LEAVING_OUT = rf"(?i)[ ,] ?(?:{_WITHOUT}|no|except|excluding|{_NOT}) "
_SHAPE = r"(?:circle|square|box|frame|triangle|hexagon|diamond|shield|cloud|folder|heart|hand|bubble|window)\b"
_JOINING = rf"(?i) (?:with|and|inside|within|containing|plus|w/|\+|&|in(?= (?:{_ARTICLE}|{_SHAPE}))) "
_OR = r"(?i),|\b(?:or|nor|and)\b"
_LEADING = rf"(?i)^(?:(?:in|inside|with) )?(?:{_ARTICLE})?"
_NOUNS = FILLERS.union(
    """
    symbol symbols pictogram pictograms logo logos image images picture pictures
    something anything someone somebody
    """.split()  # noqa: SIM905 (a list of them is twenty lines)
)
_ASKING = frozenset(
    """
    i we you me us please need want find show give get looking searching a an the any there of for
    """.split()  # noqa: SIM905
)
_FUNCTION = _ASKING.union(
    STOPWORDS,
    """
    hi hello my our your it what which who where how when if to with like
    am be was were has have do does did can could would will should
    let see use used say says look looks shows showing mean means meaning represent represents stands
    """.split(),  # noqa: SIM905
)
"""What a sentence asks for, words by which it asks, and all others that it begins with before it says which icon."""


def _without_asking(beginning: re.Match[str]) -> str:
    """Leave out what a sentence begins with, but no style: "find me a filled icon of a" star.

    Three or more words are such a beginning if one of them asks, two if both do: "find my phone" and "when I work" are
    names.
    """
    words = re.findall(r"(?<!\S)\w+", beginning[0].lower())
    n_asking = sum(word in _ASKING or word in _NOUNS for word in words)
    if n_asking < (1 if len(words) > 2 else 2):
        return beginning[0]
    return "".join(f"{word} " for word in words if word in _STYLES)


OPPOSITES = {
    **{"on": "off", "off": "on", "open": "closed", "closed": "open", "online": "offline", "offline": "online"},
    **{"connected": "disconnected", "disconnected": "connected", "enabled": "disabled", "disabled": "enabled"},
    **{"checked": "unchecked blank", "unchecked": "checked", "selected": "unchecked", "locked": "open unlocked"},
}
"""States, and what is not meant where one is asked: vectors hardly tell them apart."""
_SAID: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^i (?:search|required) (?:one )?(?=\S)", "i need "),  # "ich suche ein", "ik zoek een", read word for word
    (r"^there(?: is| are|['\u2019]s) (?=no )", ""),
    (  # nouns and styles only before another function word: "we need an icon font", "a filled star"
        rf"^(?:(?:(?:{'|'.join(_STYLES | _NOUNS)}) )*(?:{'|'.join(_FUNCTION)})(?:['\u2019]\w+)?,? )+"
        rf"(?!(?:{'|'.join(_FUNCTION)})$)",
        _without_asking,
    ),
    (rf"^(?:an?|the) (?=(?:{'|'.join(_STYLES)})\b|\w\w+$)", ""),  # "a filled star", "the sun"; "a z" are two letters
    (r"(?<=[^ ,])[ ,]{1,2}(?:please|thanks|thank you)[.!?]?$", ""),
    (
        r" (?:with|that has|having) an? (?:\w+ )?(?:line|slash|stroke|bar) (?:through|across|over)(?: it| them)?$",
        " crossed out",
    ),
    (
        rf" (?:in|with(?= (?:an? )?(?:contour|{'|'.join(_SURE)})\b)) (?:an? )?((?:(?:{'|'.join(_STYLES)}) ?\b)+)"
        rf"(?: {_OF_STYLE})?$",
        r" \1 style",
    ),
    (rf"(?<!\S)(?:un(?=filled|outlined)|non[ -]?|(?:not|no|{_WITHOUT}) )({'|'.join(_SURE)})(?= [^\s,])", r"-\1"),
    (rf"(?<!\S)({'|'.join(_SURE)}) off$", r"-\1"),
    (rf"^(?:{_WITHOUT}|none|not?(?= {_SHAPE})) (\w+) (?=\S)", r"-\1 "),
    (
        rf"(?<=\S) (?:{_WITHOUT}|no) (?:signal|connection|internet|network|reception|service|sound|audio|access)$",
        " off",
    ),
    (r"^(export|save|download|share|send|print|convert|open) as (?:an? )?(\S+)$", r"\2 \1 \2"),
    (r"^(?:(.+) (?:un|not )(?:check|tick)ed|(?:un|not )(?:check|tick)ed (.+))$", r"blank \1\2 outline -off -tick"),
    (r"^(?:empty|blank) ((?:check|tick) ?box)$", r"blank \1 outline -off -tick"),
    (r"^(?:(.+) un(?:selected|liked)|un(?:selected|liked) (.+)|un(star(?!t)|bookmark|flag)\w+)$", r"\1\2\3 outline"),
    (r"^(?:unmuted (.+)|(.+) unmuted)$", r"\1\2 -off -mute -slash"),
    (r" (?:turned|switched) (on|off)$", r" \1"),
    (r"^(?:unlocked (.+)|(.+) unlocked)$", r"\1\2 open"),
    (r"^(?:blank|empty) (page|file|document|paper)$", r"\1"),
)
"""How people say what names say shorter, and how."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A described drawing, as it was typed."""

    words: str
    """All that it should show."""
    parts: tuple[str, ...]
    """What is joined, two or more; none where nothing is, or too much."""
    without: tuple[str, ...]
    """What is to be left out."""


def read_phrase(text: str) -> Phrase:
    """Take a text apart; a text that only leaves out is read as it stands."""
    said = " ".join(text.split())  # a pattern that begins with any number of spaces takes seconds
    for pattern, shorter in () if normalise(said) in _table("terms") else _SAID:
        said = re.sub(pattern, shorter, said, flags=re.IGNORECASE) or said
    shown, *left_out = re.split(_LEAVING_OUT, " ".join(MINUS.sub(" ", said).split()))
    if not shown.strip(" ,"):
        return Phrase(text, (), ())
    parts = _apart(_JOINING, shown)
    without = [*MINUS.findall(said), *(word for phrase in left_out for word in _apart(_OR, phrase))]
    return Phrase(shown.strip(" ,"), parts if 1 < len(parts) <= MOST_PARTS else (), (*without, *_opposites_of(shown)))


def _opposites_of(words: str) -> list[str]:
    """What is not meant where words begin or end with a state; nothing for a term: "closed captions"."""
    tokens = normalise(words).split()
    ends = (tokens[0], tokens[-1]) if len(tokens) > 1 and " ".join(tokens) not in _table("terms") else ()
    return [opposite for end in ends for opposite in OPPOSITES.get(end, "").split() if opposite not in tokens]


def _apart(separator: str, text: str) -> tuple[str, ...]:
    """Cut a text, without the articles that parts begin with."""
    return tuple(filter(None, (re.sub(_LEADING, "", part.strip(" ,")) for part in re.split(separator, text))))


def read_style(words: str, is_name: Callable[[str], bool], known: Collection[str]) -> tuple[str, str, str | None]:
    """Take styles off both ends of normalised words: "thin outline envelope" is an envelope in "thin outline".

    "Light bulb", "line chart" and "empty battery" stay whole where these words are a name, in any order or as one word.
    A style that none has here is none, but for words that say nothing else: "filled", "outline", "duotone".
    Returns what is meant, with the weight, which names say ("arrow bold"); what a name says; and the style.
    """
    words = re.sub(_STYLED, lambda styled: _in_words(styled[1] or styled[2], known), words).strip() or words
    tokens = tokens_of(words)
    at_end = _STYLES if _STYLES.issuperset(tokens[-2:-1]) else _STYLES - {"line"}  # a command line is no outline
    before, behind = (
        sum(1 for _ in takewhile(styles.__contains__, end[:_MOST_STYLES]))
        for end, styles in ((tokens, _STYLES), (tokens[::-1], at_end))
    )
    cuts = sorted(product(range(before + 1), range(behind + 1)), key=sum) if before + behind else ()
    for must_be_name, (start, end) in product((True, False), cuts):
        behind_core = len(tokens) - end
        core, styles = tokens[start:behind_core], (*tokens[:start], *tokens[behind_core:])
        left = (*tokens[start:before], *tokens[len(tokens) - behind : behind_core])
        name = _name_of(core, is_name) or ("" if must_be_name else " ".join(core))
        if name and _SURE.isdisjoint(left):
            style = _in_words(" ".join(styles), known)
            weights = [word for word in styles if asked_style(word) not in (*LOOKS, *CORNERS)]
            if not CERTAIN.isdisjoint(styles) or not set(style.split()).isdisjoint(known):
                return " ".join((*weights, *core)), name, style
            break
    return words, words, None


def _in_words(styles: str, known: Collection[str]) -> str:
    """Spell a style as icons here state it: one that they don't have by its look, or as a name may say it."""
    words = asked_style(styles).split()
    return " ".join(word if word in {*known, *_WEIGHTS} else stated_look(word) or "" for word in words).strip()


def _name_of(core: Tokens, is_name: Callable[[str], bool]) -> str | None:
    """A name of these words, in any order or as one."""
    orders = map(" ".join, permutations(core)) if len(core) < _MOST_STYLES else (" ".join(core),)
    return next(filter(is_name, (*orders, "".join(core))), None)


_NUMBER = re.compile("^(?:one|two|three|four|five|several|many) (?=.)")
"""How many there are of a thing: seen, and rarely said by a name."""
MOST_LETTERS = 1_000
"""Of a query that are looked at: more than an encoder's context ever holds."""
_CONTROLS = frozenset(["logo", "button", "toggle", "switcher", "brand"])
"""What the icon is for, where the words before it are a name."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Words as they are looked for, normalised."""

    spellings: tuple[str, ...]
    """What an icon is called or tagged that was asked for itself: as typed, and with signs in words."""
    typed: str
    """What it shows or means. The encoder is asked with this: it has its own idea of what it does not know."""
    name: str
    """What the name of an icon would say: spelt as the library spells, without a style and what joins parts."""
    style: str | None
    spelled: str | None
    """All words as they were probably meant, where that differs from what was typed."""
    are_known: bool
    """Whether the library, the encoder or the thesaurus knows one of them or could, function words apart."""
    parts: tuple[str, ...]
    """What is joined by "with", "and", "in a"; two or more, or none."""
    without: tuple[str, ...]
    """What is to be left out."""
    drawn: tuple[str, ...]
    """What is customarily drawn for it, the best first; none where it is no term of the thesaurus."""
    synonyms: tuple[tuple[str, float], ...]
    """Names of icons of which other sets say it, with weights from 1 down."""


def read_words(
    text: str,
    speller: Speller,
    *,
    is_name_or_tag: Callable[[str], bool] = lambda _: False,
    styles: Collection[str] = (*LOOKS, *CORNERS),
) -> Wording:
    """Read the words of a query; "home filled" and "solid home" ask for the name "home" in the style "filled".

    A text that is a name or a tag here, as `is_name_or_tag` tells, is not taken apart; `styles` are those that icons
    here have.

    Raises:
        IconsError: there are no words.
    """
    literal = read(text)
    if not literal:
        raise IconsError('the query is empty; try `icons search "arrow"`')
    said = spell_signs(_cut(text.replace("\0", " ")))
    spellings = tuple(dict.fromkeys((literal, read(said) or literal)))
    is_name = MINUS.search(said) is None and any(map(is_name_or_tag, spellings))
    phrase = Phrase(said, (), tuple(_opposites_of(said))) if is_name else read_phrase(said)
    typed = read(phrase.words) or literal
    name, style = typed, None
    if not is_name:
        typed, name, style = read_style(_without_filler(typed, is_name_or_tag), is_name_or_tag, styles)
        name = _as_named(_without_filler(name, is_name_or_tag), is_name_or_tag)
        spellings = (*(() if phrase.without else spellings), *(() if style else (typed,)))
    parts = tuple(_as_named(part, is_name_or_tag) for part in map(read, phrase.parts) if part)
    if len(parts) > 1:
        typed = " ".join(_as_named(word, is_name_or_tag) for word in typed.split())
        _, name, _ = read_style(" ".join(_NUMBER.sub("", part) for part in parts), is_name_or_tag, styles)
    drawn, synonyms = ((), ()) if len(parts) > 1 else (drawn_for(typed), names_for(typed))
    spelled = None if drawn else speller.correct(name)
    if synonyms and spelled and (name not in _slips_of(spelled) or name.count(" ") != spelled.count(" ")):
        spelled = None  # other sets say it: "larder" is no ladder, "dowload" a download
    return Wording(
        spellings=tuple(dict.fromkeys(spellings)),
        typed=typed,
        name=spelled or name,
        style=style,
        spelled=spelled,
        are_known=bool(drawn or synonyms) or any(map(speller.knows, without_stopwords(spelled or name).split())),
        parts=parts if len(parts) > 1 else (),
        without=tuple(filter(None, map(read, phrase.without))),
        drawn=drawn,
        synonyms=synonyms,
    )


def _without_filler(words: str, is_name: Callable[[str], bool]) -> str:
    """A "bell icon" is a bell; a "radio button", which is drawn in ways of its own, no radio."""
    first, *rest = words.split()
    while (
        rest
        and not drawn_for(" ".join((first, *rest)))
        and (rest[-1] in FILLERS or (rest[-1] in _CONTROLS and is_name(" ".join((first, *rest[:-1])))))
    ):
        rest.pop()
    return " ".join((first, *rest))


_PLURALS = (
    *(("", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"), ("mice", "mouse"), ("feet", "foot"), ("teeth", "tooth")),
    *(("men", "man"), ("es", ""), ("s", "")),
)


def _as_named(words: str, is_name: Callable[[str], bool]) -> str:
    """One of what is asked, or all its words in one, where that alone is a name.

    The encoder takes "keys" for a keyboard, and a "tooth brush" for a tooth.
    """
    spellings = dict.fromkeys((words, words.replace(" ", "")))
    ones = (it.removesuffix(many) + one for it in spellings for many, one in _PLURALS if it.endswith(many))
    return next(filter(is_name, ones), words)


def read(text: str) -> str:
    """Normalise as much of a text as is looked at: one sign may become eighteen letters by that."""
    return _cut(normalise(_cut(text.replace("\0", " "))))


def _cut(text: str) -> str:
    if len(text) <= MOST_LETTERS:
        return text
    return text[:MOST_LETTERS].rpartition(" ")[0] or text[:MOST_LETTERS]


MOST_WORDS = 32
"""Of one query: each costs a walk through the names that bear it, and one that is only begun through many."""
SHORTEST_PREFIX = 2
"""Letters: of what a single one begins, nearly every name has a word."""

_PART = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


class Keywords(NamedTuple):
    """What a keyword query asks for."""

    match: str
    """For FTS5's MATCH; empty where there are only signs."""
    name: str
    """All that must be there, as a name says it."""


def read_keywords(text: str) -> Keywords:
    """Read a keyword query. What is written twice counts once.

    Raises:
        IconsError: it only excludes, holds too many words, or begins a word with a single letter.
    """
    required: dict[str, list[str]] = {}
    excluded: dict[str, list[str]] = {}
    """Terms, each with its words."""
    for part in _PART.finditer(text.replace("\0", " ")):
        written = part["word"] if part["phrase"] is None else part["phrase"]
        words = [word for word in normalise(written).split() if any(map(str.isalnum, word))]
        if words:
            is_prefix = bool(part["word"]) and written.endswith("*")
            if is_prefix and len(words[-1]) < SHORTEST_PREFIX:
                hint = f"write {SHORTEST_PREFIX} or more before *"
                raise IconsError(f'"{words[-1]}*" begins a word with one letter; {hint}')
            term = '"' + " ".join(words).replace('"', '""') + ('" *' if is_prefix else '"')
            (excluded if part["minus"] else required)[term] = words
    if (n_words := sum(map(len, (*required.values(), *excluded.values())))) > MOST_WORDS:
        raise IconsError(f"the keyword query holds {n_words:,} words; ask with {MOST_WORDS} or fewer")
    if excluded and not required:
        raise IconsError(f'the keyword query "{text}" only excludes; add a word that must be there')
    match = " AND ".join(required) + "".join(f" NOT {term}" for term in excluded)
    return Keywords(match, " ".join(chain(*required.values())))
