"""Stage three: shards -> a generation that searches read, made by `merge`."""
