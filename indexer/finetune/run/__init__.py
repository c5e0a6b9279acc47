"""What does a rank do from its first step to its last? `rank` begins it, `train` is the loop, `finish` ends it."""
