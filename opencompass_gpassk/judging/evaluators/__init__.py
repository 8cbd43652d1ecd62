"""Verdicts by any evaluator of OpenCompass, replica by replica."""
