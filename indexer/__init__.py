"""Builds libraries of icons: scan, embed, merge, publish."""
