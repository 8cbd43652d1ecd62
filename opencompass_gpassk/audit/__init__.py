"""How far verdicts can be trusted: two sources of them compared on a sample of a run."""
