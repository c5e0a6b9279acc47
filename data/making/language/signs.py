"""English names of signs, from the npm package `cldr-annotations-full`, as a search spells them."""

import json
import re
from pathlib import Path

from search.words.signs import VARIANTS


def read_signs(package: Path) -> dict[str, str]:
    """Read sign -> English name; what is a letter or a digit says itself."""
    held = json.loads((package / "annotations/en/annotations.json").read_text("utf-8"))
    found = {
        VARIANTS.sub("", sign): _as_named(about["tts"][0].lower())
        for sign, about in held["annotations"]["annotations"].items()
        if "tts" in about and not sign.isalnum()
    }
    return {sign: name for sign, name in found.items() if sign}


def _as_named(annotation: str) -> str:
    """Say it as icons are named: plus sign, right-pointing arrow, red heart and hyphen-minus by a word less."""
    return re.sub(" sign$|-pointing|^red (?=heart$)|^hyphen-(?=minus$)", "", annotation)
