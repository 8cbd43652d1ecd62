"""Questions in the manner of programming puzzles, put as mathematics: easy, medium, hard."""
