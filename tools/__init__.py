"""TODO: tools."""
