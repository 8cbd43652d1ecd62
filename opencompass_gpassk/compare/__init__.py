"""Compare models on the same problems: their differences, and whether chance explains them."""
