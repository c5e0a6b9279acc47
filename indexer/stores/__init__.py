"""Objects by name, shared by many machines: a folder or an object store, with writes that only one of several wins."""
