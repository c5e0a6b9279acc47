"""The files that come with `icons`, and in `making` how each of them was made."""
