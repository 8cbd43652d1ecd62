"""Sampling protocols, applied to whatever model the user's config names."""
