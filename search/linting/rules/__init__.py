"""Which rules are there, and what does each say of a set of icons? A file for each subject; `table` names them all."""
