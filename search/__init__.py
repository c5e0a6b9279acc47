"""Answers from a library of icons; reads only, and never imports torch."""
