"""From responses to verdicts."""
