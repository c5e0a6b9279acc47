"""Needs -> icons of one set -> code: what a page, a menu or a whole application needs, picked at once."""
