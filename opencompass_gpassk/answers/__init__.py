"""Answers: from a response to its final answer, and whether that is the gold answer."""
