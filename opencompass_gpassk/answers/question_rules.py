"""What a question asks for, where two answers alone do not tell whether they are the same.

Without the question these rules abstain.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from opencompass_gpassk.answers.conditions import letters
from opencompass_gpassk.answers.forms import Choice, Equation, Sequence
from opencompass_gpassk.answers.forms.form import Form, compare, parse
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.sameness import Relation, all_of
from opencompass_gpassk.answers.units import split_unit

# Find $x$; what is the value of $m+n$; 求 $x$ 的值.
ASKED = re.compile(
    r'(?:find|compute|determine|evaluate|calculate|what is|求)(?: the)?(?: \w+){0,3}?(?: of)?\s*'
    r'\$([^$]{1,40})\$|\$(?P<value>[^$]{1,40})\$\s?的[最大小]{0,2}值(?!域)',
    re.IGNORECASE,
)
LAST = re.compile(r'(?<=[.?!。？！])\s*(?=\S)(?![\d.])')
MATH = re.compile(r'\$[^$]*\$')
# How many cm, in square inches, 多少分钟: up to three words that may be a unit or what is counted.
UNIT = re.compile(
    r'\b(?:how many|in)\s(?=((?<=many )(?:[a-z]+\s?){1,3}|(?:square |cubic )?[a-z]+))'
    r'|(?:多少|几)个?(?=([\u4e00-\u9fff]{1,3}))',
    re.IGNORECASE,
)
ORDER = re.compile(
    r'\bin (?:\w+ )?order\b(?! to)|ascending|descending|\barrange|\brank\b|alphabetical'
    r'|\bfrom (?:the )?(?:least|smallest|lowest|greatest|largest|highest)\b'
    r'|从[小大高低]到[大小低高]|排列|排序|顺序',
    re.IGNORECASE,
)
# The mark of an option: A. or (B) or C、.
OPTION = re.compile(r'(?:^|(?<=[\s$(（,，;；{&]))[(（]?([A-J])\s?[.)）、．:：]')
# What LaTeX sets around the text of an option: \\text{A)}\\ & 6 \\\\.
TABULATED = re.compile(
    r'^\s*\}|(?:\\text\w*\{|[{&])\s*$|\\(?:begin|end)\{\w+\*?\}|(?<!\\)\\(?=\s|$)|\\\\|&'
)
OPTION_LIMIT = 500  # characters
# An answer that begins or ends with the letter of an option.
LETTERED = re.compile(
    r'(?:option |choice |选项?)?\(?(?P<first>[A-J])(?:\)?[.:,)]\s?|\s?(?=[^\w\s])|\s)(?P<text>.*)'
    r'|(?P<before>.*?)[,，]?\s?(?:\((?:option |choice )?|(?:which )?(?:corresponds to|matches|is) '
    r'(?:option|choice) \(?|(?:它|这)?对应(?:的是)?选?项?\s?\(?)(?P<last>[A-J])\)?',
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=256)
def read_options(question: str) -> dict[str, Form]:
    """Return the options that a question lists by their letters; none if it lists no two."""
    runs: list[list[re.Match[str]]] = [[]]
    for mark in OPTION.finditer(question):
        if mark[1] == 'A':
            runs.append([mark])
        elif runs[-1] and ord(mark[1]) == ord(runs[-1][-1][1]) + 1:
            runs[-1].append(mark)
    marks = max(reversed(runs), key=len)
    ends = [*(mark.start() for mark in marks[1:]), len(question)]
    texts = [question[mark.end() : end] for mark, end in zip(marks, ends, strict=False)]
    texts = [TABULATED.sub(' ', TABULATED.sub(' ', text)) for text in texts]
    if len(marks) < 2 or max(map(len, texts)) > OPTION_LIMIT:
        return {}
    texts[-1] = texts[-1].strip().partition('\n')[0]
    return {mark[1]: parse(normalise(text)) for mark, text in zip(marks, texts, strict=True)}


def _by_option(gold: Form, answer: Form, options: dict[str, Form]) -> Relation | None:
    """Compare a letter with the text of an option; None if neither answer is a letter.

    A letter beside a text that is not its option's, and a text of several options, are unknown.
    """
    if not isinstance(gold, Choice):
        chosen = options.get(answer.letters) if isinstance(answer, Choice) else None
        return compare(gold, chosen) if chosen else None
    if gold.letters not in options:
        return None
    said = LETTERED.fullmatch(answer.text)
    letter = said and (said['first'] or said['last']).upper()
    if letter in options and not (isinstance(answer, Choice) and not answer.content):
        text = str(said and (said['text'] or said['before'])).strip(' ()')
        if compare(options[letter], parse(text)) is not Relation.SAME:
            return Relation.UNKNOWN
        return Relation.SAME if letter == gold.letters else Relation.DIFFERENT
    if isinstance(answer, Choice) or Choice.of(answer):
        return None
    found = [name for name in options if compare(options[name], answer) is Relation.SAME]
    if not found:
        return compare(options[gold.letters], answer)
    if len(found) > 1:
        return Relation.UNKNOWN
    return Relation.SAME if found == [gold.letters] else Relation.DIFFERENT


def _asked_unit(question: str) -> str:
    """Return the one unit, or what is counted, that a question asks for; '' if it names none."""
    found = set()
    for match in UNIT.finditer(LAST.split(question.strip())[-1]):
        said = match[1].split() if match[1] else list(match[2])
        joined = (' ' if match[1] else '').join
        units = (split_unit(f'1 {joined(said[:n])}') for n in range(len(said), 0, -1))
        found.add(next((unit for value, unit in units if value == '1'), ''))
    found.discard('')
    return found.pop() if len(found) == 1 else ''


def _is_in_order(gold: Form, answer: Form) -> bool:
    """Tell whether the elements of two lists, or the letters of two words, have one order."""
    if isinstance(gold, Sequence) and isinstance(answer, Sequence):
        pairs = zip(gold.listed(), answer.listed(), strict=False)
        return all_of(compare(*pair) for pair in pairs) is Relation.SAME
    letters = [re.sub(r'[^A-Z]', '', one.text) for one in (gold, answer)]
    return letters[0] == letters[1]


def settle(relation: Relation, gold: Form, answer: Form, question: str) -> Relation:
    """Return the relation of two answers to a question that may tell more than they do."""
    chosen = _by_option(gold, answer, read_options(question))
    if chosen:
        return chosen
    if answer.unit and not gold.unit:
        unit = _asked_unit(question)
        if unit:
            return compare(replace(gold, unit=unit), answer)
    if relation is Relation.SAME and ORDER.search(question) and not _is_in_order(gold, answer):
        return Relation.UNKNOWN
    asked = next(
        (unspaced(normalise(m[1] or m['value'])) for m in reversed(list(ASKED.finditer(question)))),
        '',
    )
    told = unspaced(normalise(question))
    if isinstance(answer, Equation) and answer.operators == '=' and len(answer.terms) == 2:
        left = unspaced(answer.terms[0].text)  # m + n = 5
        # factor x^2 - 9: x^2 - 9 = (x - 3)(x + 3)
        same = len(left) > 2 and left in told and unspaced(answer.text) not in told
        return compare(gold, answer.terms[1]) if same or left == asked else relation
    if relation is Relation.SAME and asked not in ('', answer.name) and not gold.name:
        other = answer.name in letters(' '.join(MATH.findall(question)))  # y, where x is asked
        other = other or (len(answer.name) > 2 and unspaced(answer.name) in told)
        return Relation.UNKNOWN if other else relation
    return relation
