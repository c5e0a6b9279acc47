"""Whose icons these are, and on which terms; and the page that shows what was exported."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from indexer.languages.words import printable
from indexer.sources.records import TERMS, Family, family, needs_credit
from search.results import Details, Hit

_TITLES = {
    "Apache-2.0": "Apache License 2.0",
    "BSD-2-Clause": 'BSD 2-Clause "Simplified" License',
    "BSD-3-Clause": 'BSD 3-Clause "New" or "Revised" License',
    "CC-BY-3.0": "Creative Commons Attribution 3.0",
    "CC-BY-4.0": "Creative Commons Attribution 4.0",
    "CC-BY-NC-4.0": "Creative Commons Attribution Non Commercial 4.0",
    "CC-BY-NC-SA-4.0": "Creative Commons Attribution Non Commercial Share Alike 4.0",
    "CC-BY-ND-4.0": "Creative Commons Attribution No Derivatives 4.0",
    "CC-BY-SA-3.0": "Creative Commons Attribution Share Alike 3.0",
    "CC-BY-SA-4.0": "Creative Commons Attribution Share Alike 4.0",
    "CC0-1.0": "Creative Commons Zero 1.0",
    "GPL-2.0": "GNU General Public License 2.0",
    "GPL-2.0-only": "GNU General Public License 2.0 only",
    "GPL-2.0-or-later": "GNU General Public License 2.0 or later",
    "GPL-3.0": "GNU General Public License 3.0",
    "GPL-3.0-only": "GNU General Public License 3.0 only",
    "GPL-3.0-or-later": "GNU General Public License 3.0 or later",
    "ISC": "ISC License",
    "MIT": "MIT License",
    "MPL-2.0": "Mozilla Public License 2.0",
    "OFL-1.1": "SIL Open Font License 1.1",
    "Unlicense": "The Unlicense",
}
"""Names of the licences that icon sets bear, by SPDX id."""
_WARNINGS: dict[Family, str] = {
    "non-commercial": "may not be used commercially",
    "no-derivatives": "may not be changed",
    "share-alike": "stay under their licence where you change them",
    "copyleft": "may put what you build with them under their licence",
    "withheld": "come without any rights",
    "unknown": "state no licence that is known here",
}
_HARMLESS = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'", "\n": " "})
"""Signs that would be orders in Markdown, and what stands for them; it shows HTML as such."""
HYPHENS = re.compile(r"-(?=-)")
"""Two of them end a comment."""
_LONGEST = 200
_ORDER: tuple[Family, ...] = ("share-alike", "copyleft", "non-commercial", "no-derivatives", "withheld", "unknown")


@dataclass(frozen=True, slots=True)
class SetTerms:
    """What holds for icons of one set under one licence."""

    set: str
    set_title: str
    author: str | None
    version: str | None
    licence: str | None
    """As the source states it."""
    icons: tuple[str, ...]
    """Keys of those that were chosen."""
    text: str | None = None
    """Of the licence file that lies with the source."""

    @property
    def family(self) -> Family:
        """What kind of licence it is."""
        return family(self.licence)

    @property
    def spdx(self) -> str | None:
        """SPDX id, where it is one of those that icon sets bear."""
        return self.licence if self.licence in _TITLES else None

    @property
    def title(self) -> str:
        """The licence's name."""
        return _TITLES.get(self.licence or "", self.licence or "Unknown licence")

    @property
    def url(self) -> str | None:
        """Where its text can be read."""
        return f"https://spdx.org/licenses/{self.spdx}.html" if self.spdx else None

    @property
    def credit(self) -> str:
        """A line that names whose these are, to be pasted."""
        by = f" by {self.author}" if self.author else ""
        return f"{self.set_title} icons{by}, {self.title}{f' ({self.url})' if self.url else ''}"


def licences_summed_up(hits: Iterable[Hit]) -> str:
    """Sum up the licences of some icons in a line: "3 sets; 2 need attribution; 1 unknown"."""
    pairs = dict.fromkeys((hit.set, hit.licence) for hit in hits)
    return _summed_up([licence for _, licence in pairs], len({key for key, _ in pairs}))


def terms_of(
    hits: Sequence[Hit], *, show: Callable[[int], Details], text_of: Callable[[int], str | None]
) -> list[SetTerms]:
    """Put icons together by set and licence, in the order of sets; `show` and `text_of` are asked once for each."""
    groups: dict[tuple[str, str | None], list[Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.set, hit.licence), []).append(hit)
    found = []
    for (key, licence), icons in sorted(groups.items(), key=lambda group: (group[0][0], group[0][1] or "")):
        details = show(icons[0].id)
        keys = tuple(plain(hit.key) for hit in icons)
        text = text_of(icons[0].id) if licence == details.set_licence else None
        stated = (icons[0].set_title, details.author, details.version, licence)
        title, author, version, own_licence = (plain(one) if one else None for one in stated)
        found.append(SetTerms(key, title or plain(key), author, version, own_licence, keys, text))
    return found


def plain(text: str) -> str:
    """A stranger's text as it may stand in Markdown and in comments: a short line without markup."""
    return printable(text.translate(_HARMLESS))[:_LONGEST]


def notice(terms: Sequence[SetTerms]) -> str:
    """Lines of credit for all icons, for the head of a file."""
    return "\n".join(one.credit for one in terms)


def warnings_of(terms: Iterable[SetTerms]) -> list[str]:
    """A line for each set whose licence asks for more than credit or a copy of its text."""
    return [
        f"{one.set_title} ({one.licence or 'no licence'}): its icons {_WARNINGS[one.family]}"
        for one in terms
        if one.family in _WARNINGS
    ]


def licence_file(terms: Sequence[SetTerms], *, name: str) -> str:
    """Write all that an export's licences ask for: Markdown, with the texts that lay with the sources."""
    warned, credited = warnings_of(terms), [one for one in terms if needs_credit(one.licence)]
    summary = _summed_up([one.licence for one in terms], len({one.set for one in terms}))
    parts = [f"# Licences of the icons in {plain(name)}", f"{summary}. A summary, no legal advice."]
    if warned:
        parts += ["## Look at these first", "\n".join(f"- {line}." for line in warned)]
    if credited:
        parts += ["## Credits to show", "\n".join(one.credit for one in credited)]
    parts += [part for one in terms for part in _section(one)]
    return "\n\n".join(parts) + "\n"


def _section(one: SetTerms) -> Iterable[str]:
    facts = [f"- Set: `{plain(one.set)}`{f' {one.version}' if one.version else ''}"]
    facts += [f"- Author: {one.author}"] if one.author else []
    facts += [f"- Licence: {one.title}{f' (`{one.spdx}`), {one.url}' if one.spdx else ''}"]
    facts += [f"- Terms: {TERMS[one.family]}", f"- Icons: {', '.join(one.icons)}"]
    yield f"## {one.set_title}"
    yield "\n".join(facts)
    if one.text:
        yield "\n".join(f"    {printable(line, keep=chr(9))}".rstrip() for line in one.text.splitlines())


def _summed_up(licences: Sequence[str | None], n_sets: int) -> str:
    families = Counter(map(family, licences))
    n_credited = sum(map(needs_credit, licences))
    parts = [f"{n_sets:,} {'set' if n_sets == 1 else 'sets'}"]
    parts += [f"{n_credited} {'needs' if n_credited == 1 else 'need'} attribution"] if n_credited else []
    return "; ".join(parts + [f"{families[one]} {one}" for one in _ORDER if families[one]])


_STYLE = """:root{color-scheme:light dark}body{margin:2rem;font:14px/1.5 system-ui,sans-serif}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1.5rem 1rem;padding:0;list-style:none}
li{text-align:center;overflow-wrap:anywhere}li code,li small{display:block}
li .tile{display:block;width:auto;height:2.5rem;margin:.5rem auto;font-size:2.5rem;line-height:1}"""


def gallery(
    title: str, *, use: str, tiles: Iterable[tuple[str, str, str]], stylesheet: str = "", sprite: str = ""
) -> bytes:
    """Spell the page; a tile is an icon's name, its markup, which bears the class "tile", and a remark."""
    items = "\n".join(
        f"<li>{markup}<code>{escape(name)}</code>{f'<small>{escape(remark)}</small>' if remark else ''}</li>"
        for name, markup, remark in tiles
    )
    link = f'<link rel="stylesheet" href="{escape(stylesheet)}">\n' if stylesheet else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n{link}<style>{_STYLE}</style>\n'
        f"<h1>{escape(title)}</h1>\n<p><code>{escape(use)}</code></p>\n{sprite}<ul>\n{items}\n</ul>\n</html>\n"
    ).encode()
