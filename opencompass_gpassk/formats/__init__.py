"""Formats of stored and shown texts: files of bounded size, JSON lines, hashes, escapes."""
