"""What does a model folder say of how it was made, and may a new model take its place? No torch here."""

import json
from pathlib import Path
from typing import Any

from indexer.errors import ModelError

LINEAGE_NAME = "training.json"


def check_replaceable(folder: Path) -> None:
    """See that a folder may be replaced by a model: it is empty, not there, or a model that was written here.

    Raises:
        ModelError: it holds something else, which would be lost.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LINEAGE_NAME).is_file():
        raise ModelError(f'"{folder}" holds other files, which a model would replace; give another --out')


def read_lineage(folder: Path) -> dict[str, Any]:
    """What a model folder says of how it was made; nothing where that is not written, or by others."""
    file = folder / LINEAGE_NAME
    try:
        lineage = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    except ValueError:
        return {}
    is_ours = isinstance(lineage, dict) and isinstance(lineage.get("training", []), list)
    return lineage if is_ours else {}
