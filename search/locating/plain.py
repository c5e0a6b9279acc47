"""What is found in a picture, as JSON: the same on the command line, over HTTP and for assistants."""

from dataclasses import asdict
from typing import Any

from search.locating.results import LocatedPicture


def located_json(located: LocatedPicture, *, file: str | None, generation: int, seconds: float) -> dict[str, Any]:
    """Spell it as one object; `file` is what the picture is called, if it has a name."""
    plain = asdict(located)
    for icon in plain["icons"]:
        icon["box"] = list(icon["box"])
    return {"file": file, **plain, "generation": generation, "ms": round(1000 * seconds, 2)}
