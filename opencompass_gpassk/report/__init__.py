"""Tables, files, figures and the report page from results; only summarizer.py uses OpenCompass."""
