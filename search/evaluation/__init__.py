"""How good are searches of a library? `evaluate.evaluate` asks rankers side by side; what a person sees of it."""
