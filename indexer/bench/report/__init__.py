"""What does a measurement say? Its findings, as charts, as tables, as a page, and beside those of a saved run."""
