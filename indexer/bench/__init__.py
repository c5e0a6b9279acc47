"""Measures the stages on the user's own machine."""
