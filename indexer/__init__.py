"""Builds libraries of icons: scan, embed, merge, publish."""

from indexer.process import LIBRARIES, silence

# The one thing done at an import: packages that report home do it as soon as they are imported themselves.
silence(LIBRARIES)
