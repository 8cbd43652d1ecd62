"""A report's charts: one file a kind."""
