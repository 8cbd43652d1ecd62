"""A report's figures: one file a kind."""
