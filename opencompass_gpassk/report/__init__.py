"""Results in, tables, files and figures out: pure functions, no OpenCompass."""
