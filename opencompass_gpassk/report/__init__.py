"""Tables, files, metrics and the report page from results; only summarizer.py uses OpenCompass."""
