"""Sampling protocols, applied to any model that a user's config names."""
