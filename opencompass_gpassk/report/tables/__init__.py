"""A report's tables: one file a kind."""
