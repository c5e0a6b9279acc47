"""Which icons do elements name by nothing but a name? `data-lucide="bell"`, `<ion-icon name="home">`."""

import re
from collections.abc import Iterator

from search.references.classes import also_of_font_awesome
from search.references.named import Named

_VALUE = r"\s*=\s*[\"']([a-z0-9]+(?>(?:-[a-z0-9]+)*))[\"']"
_FORMS = tuple(
    (re.compile(pattern + _VALUE), key, form)
    for pattern, key, form in (
        (r"\bdata-lucide", "lucide", "data-lucide"),
        (r"\bdata-feather", "feather", "data-feather"),
        (r"<(?:ion-icon|IonIcon)\b[^<>]{0,300}?\sname", "ion", "ion-icon"),
        (r"<(?:lucide-icon|lucide-angular|i-lucide)\b[^<>]{0,300}?\sname", "lucide", "lucide-icon"),
    )
)
_AWESOME = re.compile(r"\[\s*[\"'](fas|far|fab)[\"']\s*,\s*[\"']([a-z0-9]+(?>(?:-[a-z0-9]+)*))[\"']\s*\]")
_STYLES = {"fas": "fa6-solid", "far": "fa6-regular", "fab": "fa6-brands"}


def attributes_in(code: str) -> Iterator[Named]:
    """Names that such attributes hold, and those of Font Awesome's pairs: `["fas", "house"]`."""
    for pattern, key, form in _FORMS:
        for found in pattern.finditer(code):
            yield Named(found.start(1), found.end(1), key, found[1], form)
    for found in _AWESOME.finditer(code):
        key = _STYLES[found[1]]
        yield Named(found.start(2), found.end(2), key, found[2], "pair", also_of_font_awesome(key, found[2]))
