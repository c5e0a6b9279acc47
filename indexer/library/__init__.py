"""A library is a folder (`folder.Library`): where everything in it lies, and how it is written and read again."""
