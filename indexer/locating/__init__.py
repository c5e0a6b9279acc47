"""Where are icons in a picture of a whole screen? Pixels -> boxes -> crops -> vectors; no torch."""
