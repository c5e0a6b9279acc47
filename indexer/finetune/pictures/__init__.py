"""How would a designer's query picture differ from the icon? Augmentations, and pictures that look the same."""
