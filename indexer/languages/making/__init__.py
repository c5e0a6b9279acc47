"""How the dictionary is made: texts of interfaces, names of signs and a sentence model -> weighted translations.

And how the questions that measure it are made, of texts and signs that it is not made of.
"""
