"""Answers from a library of icons; reads only, and never imports torch. docs/python.md shows how to ask.

from search import open_library

with open_library("~/.local/share/icons") as icons:
    hits = icons.search("arrow")
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from search.engine import Answer, Filters, Hit, Query, SearchEngine, Window

__all__ = ["Answer", "Filters", "Hit", "Query", "SearchEngine", "Window", "open_library"]


def open_library(place: "str | Path") -> "SearchEngine":
    """Open the library in a folder, or at an address such as milvus://host:19530/icons.

    Raises:
        LibraryError: there is none, or none that can be read.
    """
    from search.engine import SearchEngine

    return SearchEngine.open(place)


def run() -> None:
    """Be the program `icons`; whoever presses Ctrl-C before it is loaded sees one word, too."""
    try:
        from search.cli import main

        main()
    except KeyboardInterrupt:
        os.write(2, b"stopped\n")
        raise SystemExit(130) from None


def __getattr__(name: str) -> Any:  # `import search` alone is to cost nothing
    if name in __all__:
        return getattr(import_module("search.engine"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
