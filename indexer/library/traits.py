"""What is known of a picture beside its vector, and in which columns it travels from the renderer to a generation."""

TRAITS = ("coloured", "animated")
NOT_KNOWN = -1
