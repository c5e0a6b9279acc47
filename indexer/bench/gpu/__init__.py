"""Checks and measures what only a GPU shows; `icons bench gpu`."""
