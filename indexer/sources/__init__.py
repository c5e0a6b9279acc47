"""Places that icons come from, all read as the same records; nothing is decoded here. `source` opens them."""
