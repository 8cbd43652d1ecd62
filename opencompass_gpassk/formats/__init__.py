"""Texts at rest and on show: files of bounded size, JSON lines, hashes of content, escapes."""
