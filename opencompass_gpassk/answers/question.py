"""What a question asks for, where two answers alone do not tell whether they are the same.

Without the question these rules abstain.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

from opencompass_gpassk.answers.forms import Equation, Number, Sequence
from opencompass_gpassk.answers.forms.form import Form, compare, parse
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.parameters import letters
from opencompass_gpassk.answers.relation import Relation

__all__ = ['settle']

# Find $x$; what is the value of $m+n$; 求 $x$ 的值.
ASKED = re.compile(
    r'(?:find|compute|determine|evaluate|calculate|what is|求)(?: the)?(?: \w+){0,3}?(?: of)?\s*'
    r'\$([^$]{1,40})\$',
    re.IGNORECASE,
)
PAIR = re.compile(
    r'ordered|coordinate|\bpoint|\bvector|\(x,\s?y|坐标|有序|点的|向量', re.IGNORECASE
)
INTERVAL = re.compile(
    r'interval|range|domain|inequalit|[xy]\$?-coordinate|区间|范围|定义域|值域|解集|不等式',
    re.IGNORECASE,
)
BASE = re.compile(r'\bbase[ -]?\$?(\w+)|([一二三四五六七八九十]{1,3}|\d{1,2})进制', re.IGNORECASE)
ROUNDED = re.compile(
    r'nearest (?P<place>\w{1,12})|(?<!\w)(?P<places>\w{1,9}) decimal places?'
    r'|保留\s?(?P<chinese>\w)\s?位小数|精确到\s?\$?(?P<unit>0\.0*1)',
    re.IGNORECASE,
)
EXACT = re.compile(r'\bexact', re.IGNORECASE)
LAST = re.compile(r'(?<=[.?!。？！])\s*(?=\S)(?![\d.])')
PLACES = {'integer': 0, 'whole': 0, 'tenth': 1, 'hundredth': 2, 'thousandth': 3, 'cent': 2}
MATH = re.compile(r'\$[^$]*\$')


def settle(relation: Relation, gold: Form, answer: Form, question: str) -> Relation:
    """Return the relation of two answers to a question that may tell more than they do."""
    asked = next((unspaced(normalise(m[1])) for m in reversed(list(ASKED.finditer(question)))), '')
    if isinstance(answer, Equation) and answer.operators == '=' and len(answer.terms) == 2:
        named = asked and unspaced(answer.terms[0].text) == asked  # m + n = 5
        return compare(gold, answer.terms[1]) if named else relation
    if relation is Relation.SAME and asked not in ('', answer.name) and not gold.name:
        other = answer.name in letters(' '.join(MATH.findall(question)))  # y, where x is asked
        return Relation.UNKNOWN if other else relation
    if relation is not Relation.UNKNOWN:
        return relation
    if isinstance(gold, Number) and isinstance(answer, Number) and gold.base != answer.base:
        bases = {(base[1] or base[2]).lower() for base in BASE.finditer(question)}
        asked_base = _count(bases.pop()) if len(bases) == 1 else None
        known = asked_base == (gold.base or answer.base)
        return Relation.SAME if known and gold.written() == answer.written() else relation
    if isinstance(gold, Sequence) and isinstance(answer, Sequence) and _asks_pair(question):
        listed = answer.brackets == '' and len(answer.text.split(',')) == len(answer.elements)
        if gold.brackets != '()' or not listed or answer.name:
            return relation
        return compare(gold, replace(answer, brackets='()'))
    places = _places(question)
    exact = gold.constant() if places is not None and isinstance(answer, Number) else None
    if exact is None or not isinstance(answer, Number) or answer.places != places:
        return relation
    near = abs(exact - answer.number) <= Fraction(1, 2 * 10**answer.places)
    return Relation.SAME if near else Relation.DIFFERENT


def _asks_pair(question: str) -> bool:
    """Tell whether a question asks for coordinates, and not for an interval."""
    return PAIR.search(question) is not None and not INTERVAL.search(question)


def _places(question: str) -> int | None:
    """Return how many digits behind the point a question asks for, None if it doesn't."""
    match = None if EXACT.search(question) else ROUNDED.search(LAST.split(question.strip())[-1])
    if not match:
        return None
    if match['unit']:
        return len(match['unit']) - 2
    if match['place']:
        return PLACES.get(match['place'].lower())
    return _count((match['places'] or match['chinese']).lower())


def _count(text: str) -> int | None:
    """Return a whole number in digits or words, None for any other text."""
    number = Number.read(text, parse)
    return int(number.number) if number else None
