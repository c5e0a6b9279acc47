"""The commands that ask a library, one module each."""
