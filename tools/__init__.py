"""Scripts that make shipped files and check code changes; the package doesn't import them."""
