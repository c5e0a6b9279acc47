"""Measures searches on the user's own machine; `icons bench search`."""
