"""The language of a question, in which its prompt is written and its judge is asked."""

from __future__ import annotations

import re

HAN = re.compile('[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]')
CHINESE = ('cn', 'zh', 'chinese')


def language_of(question: str, language: str = '') -> str:
    """Return the language of the prompt for a question: ``'cn'`` or ``'en'``.

    Args:
        question: The question; it is taken as Chinese if it contains Han characters.
        language: The language that the data set states; it has priority if it is one of the two.
    """
    named = language.strip().lower()
    if named.startswith(CHINESE):
        return 'cn'
    if named.startswith('en'):
        return 'en'
    return 'cn' if HAN.search(question) else 'en'
