"""What do hits look like? Tables, sheets, pictures in a terminal, and copies as files."""
