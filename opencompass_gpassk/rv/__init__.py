"""RV-Bench (arXiv 2501.11790): questions with random variables, asked with several numbers."""
