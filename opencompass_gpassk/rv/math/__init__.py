"""Questions in the manner of competition mathematics: seven subjects, levels 1 to 5."""
