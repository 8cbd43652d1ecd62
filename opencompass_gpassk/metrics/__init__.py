"""Metrics: pure functions of integers and arrays, with numpy and scipy alone."""
