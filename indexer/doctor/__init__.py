"""Whether a library is whole, and the rest made again: `icons doctor` examines and repairs."""
