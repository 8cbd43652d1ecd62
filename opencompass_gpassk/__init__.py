"""Stability of language models on reasoning benchmarks, as an OpenCompass plugin."""

__all__ = ['__version__']

__version__ = '0.1.0'
