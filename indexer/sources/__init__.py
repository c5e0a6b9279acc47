"""Where do icons come from? Places, all told as the same records; nothing is decoded here. `source` opens them."""
