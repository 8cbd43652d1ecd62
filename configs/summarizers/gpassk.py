"""The summary with the tables of G-Pass@k: ``opencompass … --summarizer gpassk``."""

from opencompass_gpassk.summarizer import GPassKSummarizer

summarizer = dict(type=GPassKSummarizer)
