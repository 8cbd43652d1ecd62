"""From the trial table to figures, intervals and warnings; stored results read back."""
