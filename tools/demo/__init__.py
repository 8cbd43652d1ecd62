"""Scripts that make and measure the demonstration model and its step classifier."""
