"""What does an SVG say, before it is drawn? Its elements, what they are painted with, where they lie, what could go."""
