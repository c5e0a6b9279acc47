"""What do the words of a query ask for? `wording` reads them; spelling, keywords, and names that bear them."""
