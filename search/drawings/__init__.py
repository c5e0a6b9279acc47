"""An icon leaves: clean SVG, code for every framework, sprites, fonts, packages."""
