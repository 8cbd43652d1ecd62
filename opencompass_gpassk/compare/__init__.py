"""Models on the same problems: how they differ, and whether chance explains it."""
