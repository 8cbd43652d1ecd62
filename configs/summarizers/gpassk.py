"""The summary with the tables of G-Pass@k: ``opencompass … --summarizer gpassk``.

Confidence intervals stand in brackets; ``intervals='±'`` shows half their width, ``None`` none.
"""

from opencompass_gpassk.summarizer import GPassKSummarizer

summarizer = dict(type=GPassKSummarizer, intervals='brackets')
