"""Which icons of the library are in a picture of a screen: boxes and vectors -> names, a table, a page."""
