"""Chosen icons become one thing that a project takes in: files, a sprite, a font, a package."""
