"""What is found in a picture, as JSON: the same on the command line, over HTTP and for assistants."""

from dataclasses import asdict
from typing import Any

from search.locating.files import LocatedFile
from search.locating.results import LocatedPicture


def located_json(located: LocatedPicture, *, file: str | None, generation: int, seconds: float) -> dict[str, Any]:
    """Spell it as one object; `file` is what the picture is called, if it has a name."""
    plain = asdict(located)
    for icon in plain["icons"]:
        icon["box"] = list(icon["box"])
    return {"file": file, **plain, "generation": generation, "ms": round(1000 * seconds, 2)}


def file_json(file: LocatedFile, *, generation: int) -> dict[str, Any]:
    """Spell what a file holds, or the error that keeps it from being known."""
    if file.located is None:
        return {"file": file.name, "error": file.error}
    return located_json(file.located, file=file.name, generation=generation, seconds=file.seconds)
