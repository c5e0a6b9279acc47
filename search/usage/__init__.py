"""Where are icons used in screenshots? By icon, by words, by picture; and a report of all that is used."""
