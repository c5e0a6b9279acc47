"""Icons in source code: read, checked, mapped to another set, rewritten, picked."""
