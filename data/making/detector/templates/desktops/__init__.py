"""Programs of a desktop: windows over a picture, a browser, a drawing program, a table to calculate with."""
