"""Screens of phones: a bar of tabs below, lists, large buttons."""
