"""Some icons of a set of Iconify, in a library of their own, out of a node_modules folder with `@iconify-json`."""

import json
from pathlib import Path

from conftest import build_library
from node_packages import node_modules

from indexer.library.folder import Library
from search.engine import SearchEngine

N_OF_SET = 80


def sampled(folder: Path, model: Path, icon_set: str) -> tuple[SearchEngine, tuple[str, ...]]:
    """A library of some icons of a set of Iconify, and their keys."""
    whole = json.loads((node_modules() / "@iconify-json" / icon_set / "icons.json").read_text("utf-8"))
    names = sorted(name for name, icon in whole["icons"].items() if not icon.get("hidden"))
    chosen = names[:: max(1, len(names) // N_OF_SET)][:N_OF_SET]
    whole["icons"] = {name: whole["icons"][name] for name in chosen}
    whole.pop("aliases", None)
    folder.mkdir(exist_ok=True)
    (folder / f"{icon_set}.json").write_text(json.dumps(whole), "utf-8")
    build_library(Library(folder / "library"), model, [folder / f"{icon_set}.json"])
    return SearchEngine.open(folder / "library"), tuple(f"{icon_set}:{name}" for name in chosen)
