"""Icons of one set in source code -> those of another: imports, keys and classes; read, shown as a diff, written."""
