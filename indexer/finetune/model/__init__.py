"""What is trained, and what does it become? Towers with their additions, losses, and the folder of a model."""
