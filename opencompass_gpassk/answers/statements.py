"""The value that a sentence states: *the largest n is 34*, *一共有 **858颗** 糖果*."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.extract import last_statement

__all__ = ['stated_value']

LENGTH_LIMIT = 600
NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot|false|incorrect|wrong)\b|n't|不|非|没")
MATH = re.compile(r'\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]', re.DOTALL)
BOLD = re.compile(r'\*\*([^*]+)\*\*')
NUMBER = re.compile(r'(?<![a-zA-Z\d.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?/\s?\d+)?\s?(?:\\?%)?')
BRACKETS = re.compile(r'\[([^\][]+)\]')
# "… is 34", "… = 67", "…为13/28", followed by the end or by a unit
LAST_VALUE = re.compile(
    r'(?:\b(?:is|are|be|equals?|by|to|of|worth)|[=≈:：为是有共了即]|等于|剩下|得到|\bde|\best)\s{0,2}\$?\s?'
    rf'({NUMBER.pattern})(?![\d.,]*\d)\s{{0,2}}[\])]?\s{{0,2}}[^\d=+*/^<>$\\]{{0,24}}$'
)
LAST_MATH = re.compile(r'(?:\b(?:is|are)|[为是])\s{0,2}\$([^$]{1,200})\$$')


def stated_value(sentence: str) -> str | None:
    """Return the one value that a sentence states, None if there is none or more than one.

    A sentence with a negation states none: *the number is not 10*.
    """
    sentence = last_statement(sentence).strip().rstrip('.。!！,; ')
    sentence = sentence[-LENGTH_LIMIT:]
    if not sentence or NEGATION.search(sentence.lower()):
        return None
    for pattern in (MATH, BOLD, BRACKETS):
        found = [next(g for g in m.groups() if g) for m in pattern.finditer(sentence)]
        if len(found) == 1 and not NUMBER.search(pattern.sub(' ', sentence)):
            return found[0].strip()
    numbers = NUMBER.findall(sentence)
    if len(numbers) == 1 and '\\' not in sentence:
        return numbers[0].strip()
    math = LAST_MATH.search(sentence)
    if math:
        return math.group(1).strip()
    last = LAST_VALUE.search(sentence)
    if last:
        return last.group(1).strip()
    bold = list(BOLD.finditer(sentence))
    if len(bold) == 1 and bold[0].end() == len(sentence):
        return bold[0].group(1).strip()
    return None
