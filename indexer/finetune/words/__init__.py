"""How does a text tower learn what words mean before it has seen a picture? First `distill`, then `relate`."""
