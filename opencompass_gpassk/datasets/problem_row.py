"""The columns of a data set's rows: a problem, and what its results can be broken down by."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ['Question']


@dataclass(frozen=True)
class Question:
    """A problem of a data set, with the columns that a result can be broken down by.

    Attributes:
        problem_id: Unique inside the data set, the same on every machine.
        question: The problem's text.
        answer: The gold answer, LaTeX or plain.
        language: ``'en'`` or ``'cn'``.
        cluster: A label that translations of one problem, or versions of one question, share.
        version: ``'original'`` or the number of a version; '' if there are no versions.
    """

    problem_id: str
    question: str
    answer: str
    language: str
    cluster: str
    split: str = ''
    level: str = ''
    subject: str = ''
    question_type: str = ''
    version: str = ''
