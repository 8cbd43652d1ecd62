"""Metrics: pure functions of integers and arrays, with numpy and scipy alone."""

from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k, threshold

__all__ = ['g_pass_at_k', 'mg_pass_at_k', 'pass_at_k', 'threshold']
