"""What is trained, and what does it become? Towers with their additions, and the folder of a model."""
