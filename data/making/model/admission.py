"""Which icons the bundled model learns from: no reserved set, no NC or GPL family, no logos, flags and codes."""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from indexer.arrays import Pixels
from indexer.finetune.captions import (
    Gathered,
    Placed,
    TrainingIcon,
    is_held_out,
    named,
    refuse_licence,
    share_held_out,
)
from indexer.finetune.lesson import rendered
from indexer.languages.words import normalise
from indexer.sources.records import IconSet, Record, content_digest

RESERVED = (
    "lucide", "lucide-lab", "lucide-static", "feather", "feather-icons", "octicon", "octicons", "ion", "ionicons",
    "famicons", "spectrum", "spectrum-css-workflow-icons", "spectrum-css-ui-icons", "spectrum-icons",
)  # fmt: skip
"""Sets that models are measured on, by their keys and npm names: no rendering of theirs is ever learnt from."""

_RESERVED_SCOPES = ("@lucide/", "@spectrum-icons/", "@spectrum-web-components/")
_RESERVED_WORDS = frozenset(["lucide", "feather", "octicon", "octicons", "ionicon", "ionicons", "famicons"])
"""Words that tell a reserved set in the name of a package for some framework, as "lucide-react"."""

NAMELESS = (
    # Brands, products and services
    "simple-icons", "logos", "streamline-logos", "cib", "fa6-brands", "fa7-brands", "fa-brands", "bxl", "nonicons",
    "arcticons", "thesvg", "thesvg-color", "selfhst", "cbi", "brandico", "entypo-social", "gcp", "k8s", "unjs",
    "skill-icons", "devicon", "devicon-plain", "devicon-line", "devicon-original", "academicons", "fontelico",
    # Coins
    "token", "token-branded", "cryptocurrency", "cryptocurrency-color",
    # Flags
    "flag", "flagpack", "circle-flags", "cif",
    # File types and tools of programmers
    "vscode-icons", "material-icon-theme", "file-icons", "catppuccin",
    # Codes of laundry labels
    "ginetex",
)  # fmt: skip
"""Sets whose names are brands, coins, countries or codes: they teach no meaning that a searcher would type."""

_BRAND_WORDS = frozenset(["logo", "brand", "flag"])


def tell_rendered(done: int, total: int, what: str) -> None:
    """Say now and then on stderr how far rendering is."""
    if done // 12_800 > (done - 64) // 12_800:
        sys.stderr.write(f"{what}: {done:,} of {total:,}\n")


def is_reserved(icon_set: IconSet) -> bool:
    """Whether a set is kept for measuring, whichever package brings it."""
    return any(map(_names_reserved, (icon_set.key, icon_set.title)))


def refuse(record: Record) -> str | None:
    """Say why the bundled model must not learn from an icon; None when it may."""
    if is_reserved(record.set):
        return "reserved"
    return refuse_licence(record.licence or record.set.licence) or _refuse_name(record)


def _refuse_name(record: Record) -> str | None:
    if record.set.key in NAMELESS:
        return "names are no meaning"
    if not _BRAND_WORDS.isdisjoint(normalise(record.name).split()):
        return "brand or flag"
    return None


def _names_reserved(name: str) -> bool:
    words = re.split(r"[^a-z0-9]+", name.lower())
    return (
        _key(name) in _RESERVED_KEYS
        or name.lower().startswith(_RESERVED_SCOPES)
        or not _RESERVED_WORDS.isdisjoint(words)
    )


def _key(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().rsplit("/", 1)[-1])


_RESERVED_KEYS = {_key(name) for name in RESERVED} | {
    "lucidelab", "feathericon", "githubocticons", "iconsbyprimer", "adobespectrum", "spectrumworkflowicons",
}  # fmt: skip

_DESCRIBED_AGAIN = 2
"""Times that an icon whose looks are described is there beside itself: few are, and each is called by them alone."""


def add_described(gathered: Gathered, looks: Callable[[bytes], Sequence[str]]) -> None:
    """Add icons of which `looks` says, by the digest of the picture, how they look: called by that alone.

    None of a held-out name: there the icon once more would be a wrong answer to its own tags.
    """
    one_in = share_held_out(len({icon.base for icon in gathered.icons}))
    learnt = (icon for icon in gathered.icons if not is_held_out(icon.base, one_in=one_in))
    described = [(icon, tuple(looks(icon.placed.record.digest))) for icon in learnt]
    again = [replace(icon, own=texts) for icon, texts in described if texts and not icon.own]
    gathered.icons += again * _DESCRIBED_AGAIN


def named_icons(placed: Sequence[Placed]) -> list[TrainingIcon]:
    """All admitted icons, with the tags of their own sets alone."""
    return [icon for icons in named(placed, refuse, Gathered()).values() for icon in icons]


def digests_of(picture: Pixels) -> tuple[bytes, bytes]:
    """Digest of a picture (size, size, 3), and of its coarse shape: 16 levels of grey, which forks keep."""
    grey = picture.mean(axis=2).astype(np.uint8) >> 4
    return content_digest(picture.tobytes()), content_digest(b"grey" + grey.tobytes())


def leave_out_reserved(gathered: Gathered, placed: Sequence[Placed], *, workers: int) -> None:
    """Draw what reserved sets hold, and what was gathered; leave out what looks like one of the former."""
    reserved = [entry for entry in placed if is_reserved(entry.record.set)]
    drawn = rendered(reserved, {}, workers=workers, size=64, report=tell_rendered)
    known = {digest for _, pictures in drawn for picture in pictures for digest in digests_of(picture)}
    own = rendered([icon.placed for icon in gathered.icons], {}, workers=workers, size=64, report=tell_rendered)
    pairs = ((row, picture) for rows, pictures in own for row, picture in zip(rows, pictures, strict=True))
    alike = {row for row, picture in pairs if not known.isdisjoint(digests_of(picture))}
    gathered.icons = [icon for row, icon in enumerate(gathered.icons) if row not in alike]
    gathered.refused["looks like a reserved icon"] += len(alike)
