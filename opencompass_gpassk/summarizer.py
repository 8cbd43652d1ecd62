"""The public address of the summarizer: configs, and runs that OpenCompass dumped, name it."""

from opencompass_gpassk.report.summarizer import GPassKSummarizer

__all__ = ['GPassKSummarizer']
