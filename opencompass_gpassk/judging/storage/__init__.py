"""The file behind the verdict store: its rows, how it is opened, what is in it."""
