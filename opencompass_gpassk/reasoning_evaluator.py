"""Old import path of :mod:`opencompass_gpassk.evaluator`."""

from opencompass_gpassk.evaluator import ReasonEvalEvaluator

__all__ = ['ReasonEvalEvaluator']
