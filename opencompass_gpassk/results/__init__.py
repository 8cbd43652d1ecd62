"""From the trial table to metrics, intervals and warnings; stored results read back."""
