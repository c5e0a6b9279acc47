"""Measures how fast a model learns, and what decides it; `icons bench train`."""
