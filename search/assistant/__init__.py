"""Icons for coding assistants: tools over the Model Context Protocol."""
