"""How good searches of a library are: `evaluate.evaluate` asks rankers side by side; what a person sees of it."""
