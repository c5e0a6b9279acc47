"""Is a library whole, and can what is not be made again? `icons doctor` examines and repairs."""
