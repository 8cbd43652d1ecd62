"""The summary with the tables of G-Pass@k: ``opencompass … --summarizer gpassk``.

Confidence intervals are in brackets; ``intervals='±'`` shows half the width, ``None`` nothing.
"""

from opencompass_gpassk.summarizer import GPassKSummarizer

summarizer = dict(type=GPassKSummarizer, intervals='brackets')
