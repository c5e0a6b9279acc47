"""Which icons are in a folder of screenshots? Boxes and vectors beside the library; incremental, in generations."""
