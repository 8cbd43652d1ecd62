"""The files behind stores of verdicts and of scores: how they are opened, what is in them."""
