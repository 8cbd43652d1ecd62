"""Responses that were made elsewhere, as problems with their samples."""
