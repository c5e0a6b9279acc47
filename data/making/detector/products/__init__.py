"""Real products, rendered from their packages: where their icons are painted, and which they are."""
