"""Keys, classes and modules that name an icon by its set and name: `mdi:home`, `i-mdi-home`, `~icons/mdi/home`."""

from search.references.reference import Reference
from search.rewriting.edits import Edit
from search.rewriting.targets import RefusedError
from search.snippets.keys import IconifyKey

_BETWEEN = {"iconify": (":",), "tailwind": ("--",), "unocss": (":", "-"), "unplugin-icons": ("/",)}
"""What stands between set and name, by the form of a reference."""
_WHY = {
    "sprite": "a sprite must be made anew",
    "file": "the file must be made anew",
    "ligature": "a word that an icon font draws; the target has no such font here",
    "pair": "a pair of names that Font Awesome looks up",
}


def string_edit(reference: Reference, text: str, key: IconifyKey) -> Edit:
    """Put another icon into the place of one that a string names by set and name.

    Raises:
        RefusedError: the form belongs to the set itself.
    """
    for between in _BETWEEN.get(reference.form, ()):
        told = f"{reference.set}{between}{reference.name}"
        start = reference.end - len(told)
        if text[start : reference.end] == told:
            return Edit(start, reference.end, f"{key.prefix}{between}{key.name}")
    raise RefusedError(_why_not(reference.form))


def _why_not(form: str) -> str:
    """Why what a form names is left to a person."""
    if form.startswith("class "):
        return "a class of an icon font; the target has no such font here"
    return _WHY.get(form, f"{form} shows icons of its own set alone")
