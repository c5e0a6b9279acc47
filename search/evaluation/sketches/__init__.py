"""Is an icon found by a sketch of it, drawn by hand, and how is a sketch best prepared for the encoder?"""
