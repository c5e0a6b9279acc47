"""Bytes of strangers -> pixels: `pool` draws many, `draw_pool` one at a time."""
