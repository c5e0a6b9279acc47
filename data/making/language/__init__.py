"""How the dictionary of other languages was made, the questions that measure it, and the names of signs."""
