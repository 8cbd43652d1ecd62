"""Old import path of :mod:`opencompass_gpassk.report.summarizer`."""

from opencompass_gpassk.report.summarizer import GPassKSummarizer

__all__ = ['GPassKSummarizer']
