"""What the words of a query ask for: `wording` reads them, `spelling` corrects them, `codes` knows code."""
