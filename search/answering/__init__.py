"""What is told of icons: the answer to a query, why an icon is in it, one icon, one set."""
