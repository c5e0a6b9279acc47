"""Which icons may a model learn from? Reserved sets, licences, and sets whose names are no meaning stay out."""

import re

import numpy as np
import numpy.typing as npt

from indexer.finetune.options import Admission
from indexer.naming.names import normalise
from indexer.sources.licences import family
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

_REFUSED_LICENCES = frozenset(["copyleft", "non-commercial", "no-derivatives", "withheld"])
_BRAND_WORDS = frozenset(["logo", "brand", "flag"])


def is_reserved(icon_set: IconSet) -> bool:
    """Whether a set is kept for measuring, whichever package brings it."""
    return any(map(_names_reserved, (icon_set.key, icon_set.title)))


def refuse(record: Record, admit: Admission = "shippable") -> str | None:
    """Say why an icon must not be learnt from under a rule (`options.Learning.admit`); None when it may."""
    if admit == "all":
        return None
    if admit == "shippable" and is_reserved(record.set):
        return "reserved"
    licence = refuse_licence(record.licence or record.set.licence)
    return licence if licence or admit == "permissive" else _refuse_name(record)


def refuse_licence(licence: str | None) -> str | None:
    """Say why nothing under a licence must be learnt from; None when it may."""
    if licence is None:
        return "no licence"
    return f"licence {licence}" if family(licence) in _REFUSED_LICENCES else None


def _refuse_name(record: Record) -> str | None:
    if record.set.key in NAMELESS:
        return "names are no meaning"
    if not _BRAND_WORDS.isdisjoint(normalise(record.name).split()):
        return "brand or flag"
    return None


def digests_of(picture: npt.NDArray[np.uint8]) -> tuple[bytes, bytes]:
    """Digest of a picture (size, size, 3), and of its coarse shape: 16 levels of grey, which forks keep."""
    grey = picture.mean(axis=2).astype(np.uint8) >> 4
    return content_digest(picture.tobytes()), content_digest(b"grey" + grey.tobytes())


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
