"""Pictures and words -> unit vectors: `checkpoint` says which encoder is meant, the others load, export and ask it."""
