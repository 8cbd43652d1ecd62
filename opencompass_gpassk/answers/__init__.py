"""Answers: extract a response's final answer, and compare it with the gold answer."""
