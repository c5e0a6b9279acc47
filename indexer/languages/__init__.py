"""Words of other languages in English: a dictionary, how texts are read by it, and how it is made."""
