"""What does a name say? Cut into words, told apart from style and size; texts of unknown origin, shown safely."""
