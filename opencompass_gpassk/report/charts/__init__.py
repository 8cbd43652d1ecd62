"""A report's metrics: one file a kind."""
