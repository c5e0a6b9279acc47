"""How the bundled files were made and measured. Runs from a checkout; no part of the wheel. See README.md."""
