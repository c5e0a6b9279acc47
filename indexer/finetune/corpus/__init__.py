"""What is there to learn from? Admitted icons with their captions (`gather`), rendered once (`rendered`)."""
