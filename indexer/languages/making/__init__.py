"""How the dictionary is made: texts of interfaces, names of signs and a sentence model -> weighted translations."""
