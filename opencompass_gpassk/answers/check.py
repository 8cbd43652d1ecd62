"""Compare an answer with the gold answer: same, different, or unknown if no rule can tell."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from opencompass_gpassk.answers.algebra import UnreadableError
from opencompass_gpassk.answers.braces import depth, split_top, without_boxes
from opencompass_gpassk.answers.conditions import read_conditions
from opencompass_gpassk.answers.forms import FORMS, Number, Text
from opencompass_gpassk.answers.forms.form import COMMA, Form, compare, parse
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.question_rules import read_options, settle
from opencompass_gpassk.answers.reader import behind_link, boxed, stated
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.speech import ending

LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
PAIRS_LIMIT = 10_000  # greatest number of element pairs compared without a time limit
COMMA_SPACE = re.compile(r',\s')
NUMBERED = re.compile(r'(?:\(\d\)\s?){2,}')
# The number of one of several answers: (1) 3; (2) 5.
TARGETS = re.compile(r'\s*\\#\s*\\#\s*')  # between several gold answers
ANY = 'any of ["'  # begins a list of gold answers each of which is right
ITEM = re.compile(r'(?:^|(?<=[\s;,.]))\(([1-9a-h])\)\s?')
NAMED = re.compile(
    r"^[a-zA-Z]\w*'?(?:_\{?\w+\}?)?(?:\(\w\))?(?:_\{?\\?m(?:in|ax)\s?\}?)?\s?=(?=[^=]*$)|^[^=]*=(?=.*=)"
)
END_LENGTH = 400  # characters at the end of a response that are read for the gold answer's value
NUMERAL = re.compile(r'\d+(?:,\d{3})*(?:\.\d+)?')
# Numbers in words, and what is computed only by whoever reads it.
SPELLED = re.compile(
    r'\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|half|thirds?'
    r'|quarters?|hundred|thousand|million|dozen|once|twice|no|none|nothing|never)\b|[零一二两三四五六七八九十百千半无]'
    r'|\\(?:sqrt|pi|binom|log|sum)|[!^]',
    re.IGNORECASE,
)
# Text and control symbols, in which spaces count; a command before a letter or a digit before a
# digit, between which they count too; other spaces.
SPACES = re.compile(
    r'(\\(?:text[a-z]{0,2}|mbox)\s*\{[^{}]*\}|\\[^a-zA-Z])'
    r'|(\\[a-zA-Z]+(?=\s+[a-zA-Z])|\d(?=\s+\d))?\s+'
)

# What a question may have said already: how large the units are, that it is a percentage.
SCALE = re.compile(r'\s?(?:[mb]illion|thousand|[万亿]|%)$')
TRUTH = {'T': 'true', 'F': 'false'}

# With these reasons nothing was compared: it is not the rules that could not decide.
NOT_COMPARED = frozenset(
    {'gold empty', 'too large', 'timeout', 'memory', 'crash', 'stalled', 'budget'}
)
# Why a verdict was given: the form of the gold answer if the two were compared as such, else what
# was decisive. docs/checking.md explains them.
REASONS = NOT_COMPARED | {
    *(form.__name__.lower() for form in FORMS),
    *('words', 'no answer', 'gold too long', 'answer too long', 'gold too deep', 'answer too deep'),
    *('gold unparsable', 'answer unparsable', 'failed'),
}

Result = tuple[Relation, str]
Texts = tuple[str, str]  # of the gold answer and the answer


def compare_thoroughly(gold: str, answer: str, question: str | None = None) -> Result:
    """Compare two answers with computer algebra, if :func:`compare_quickly` couldn't decide.

    An input may hang a parser or exhaust the memory here: for a model's answers use
    :func:`opencompass_gpassk.answers.worker_pool.check_pairs`.

    Args:
        gold: The gold answer, or several as a list in JSON: all values of one answer, or spellings
            of it; or those of :func:`accepted`. Of a solution that ends in ``#### 72`` or in a box,
            that is the gold answer.
        answer: The answer.
        question: The question, if it is known; some rules need it.

    Returns:
        The relation and its reason, one of :data:`REASONS`.
    """
    return _of_golds(gold, [_thoroughly(one, answer, question) for one in _golds(gold)])


def accepted(golds: list[str]) -> str:
    """Return gold answers of which any is right as one, as people, a judge and rules read it."""
    return golds[0] if len(golds) == 1 else ANY[:-2] + json.dumps(golds, ensure_ascii=False)


def compare_quickly(gold: str, answer: str, question: str | None = None) -> Result | None:
    """Compare two answers without computer algebra, fast for any texts; None if undecided.

    Arguments and result are those of :func:`compare_thoroughly`.
    """
    found = [_quickly(one, answer, question) for one in _golds(gold)]
    known = [one for one in found if one is not None]
    right = gold.startswith(ANY) and any(one[0] is Relation.SAME for one in known)
    return _of_golds(gold, known) if right or len(known) == len(found) else None


def _golds(gold: str) -> list[str]:
    """Return the gold answers of a raw one; of several their list first, unless any is right."""
    some = gold.startswith(ANY)
    gold = gold.removeprefix(ANY[:-2]) if some else gold.rpartition('####')[2].strip()
    try:
        listed = json.loads(gold) if gold.startswith('[') and '"' in gold else None
    except ValueError:
        listed = None
    several = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
    golds = [str(one) for one in listed] if several and listed else TARGETS.split(gold)
    golds = [boxed(one) or one for one in golds]
    return golds if some or len(golds) == 1 else [', '.join(golds), *golds]


def _of_golds(gold: str, found: list[Result]) -> Result:
    """Return the result for several gold answers, of which the first is the list of all.

    What is one of them is right only if it is not different from the others: then these spell it.
    Of :func:`accepted` ones any is right, and what is different from all of them is wrong.
    """
    if gold.startswith(ANY):
        order = (Relation.SAME, Relation.UNKNOWN, Relation.DIFFERENT)
        return min(found, key=lambda one: order.index(one[0]))
    whole, *single = found
    relations = {relation for relation, _ in single}
    if not single or whole[0] is Relation.SAME or relations == {whole[0]}:
        return whole
    if Relation.SAME in relations and Relation.DIFFERENT not in relations:
        return next(one for one in single if one[0] is Relation.SAME)
    return Relation.UNKNOWN, whole[1]


def _thoroughly(gold: str, answer: str, question: str | None) -> Result:
    texts = normalise(gold), normalise(answer)
    found = _compare(*_read(texts), texts, (gold, answer), question)
    value = stated(without_boxes(answer)) if found[1] == 'words' else None
    if not value or value == answer.strip() or len(ITEM.findall(texts[1])) > 1:
        return found
    texts = texts[0], normalise(value)
    return _compare(*_read(texts), texts, (gold, value), question)


def _quickly(gold: str, answer: str, question: str | None) -> Result | None:
    if not gold.strip():
        return Relation.UNKNOWN, 'gold empty'
    if not answer.strip():
        return Relation.DIFFERENT, 'no answer'
    for text, side in ((gold, 'gold'), (answer, 'answer')):
        if len(text) > LENGTH_LIMIT:
            if gold.split() == answer.split():
                return Relation.SAME, 'text'
            return Relation.UNKNOWN, f'{side} too long'
        if depth(text) > DEPTH_LIMIT:
            return Relation.UNKNOWN, f'{side} too deep'
    texts = normalise(gold), normalise(answer)
    if not texts[0]:
        return Relation.UNKNOWN, 'gold empty'
    if unspaced(texts[0]) == unspaced(texts[1]):
        return Relation.SAME, 'text'
    left, right = _read(texts)
    forms = (left, right, *(read_options(question or '').values()))
    if _leaves(left) * _leaves(right) > PAIRS_LIMIT or not all(f.is_plain() for f in forms):
        return None
    found = _compare(left, right, texts, (gold, answer), question)
    return None if found[0] is Relation.UNKNOWN else found


def is_settled(gold: str, response: str) -> bool:
    """Tell whether a response without a recognised answer can't be right, whoever reads its end.

    It is so if the gold answer is a number and its value stands nowhere in the last characters: as
    a number, in words, as a quotient of two numbers, or as a percentage.
    """
    values = [parse(normalise(one)) for one in _golds(gold)]
    golds = {abs(one.constant()) for one in values if isinstance(one, Number)}
    if not golds or len(golds) < len(values):
        return False
    end = normalise(ending(response)[-END_LENGTH:])
    if SPELLED.search(end):
        return False
    read = (parse(found[0]) for found in NUMERAL.finditer(end))
    found = {abs(one.constant()) for one in read if isinstance(one, Number)}
    found |= {a / b for a in found for b in found if b}
    return golds.isdisjoint(found | {one / 100 for one in found} | {one * 100 for one in found})


def compare_exactly(gold: str, answer: str) -> Result:
    r"""Tell whether two answers are the same text, except for spaces that LaTeX ignores.

    Spaces count in ``\text{…}``, as the command ``\ ``, and between two digits: ``1 2`` is not 12.
    """
    *golds, second = (
        SPACES.sub(lambda found: found[1] or (f'{found[2]} ' if found[2] else ''), text.strip())
        for text in (*(_golds(gold) if gold.startswith(ANY) else [gold]), answer)
    )
    return Relation.SAME if second in golds else Relation.DIFFERENT, 'text'


def canonical(answer: str) -> str:
    """Return a text that is equal for equivalent answers, as far as rules can tell."""
    found = canonical_quickly(answer)
    return parse(normalise(answer)).canonical() if found is None else found


def canonical_quickly(answer: str) -> str | None:
    """Return the canonical form if it needs no computer algebra (this is fast); else None."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return ' '.join(answer.split())
    form = parse(normalise(answer))
    return form.canonical() if form.is_plain() else None


def _read(texts: Texts) -> tuple[Form, Form]:
    """Read two answers in their normal spelling, without the conditions behind them."""
    first, second = (_listed(text) for text in texts)
    if first != texts[0] and second[:1] != '(':  # the parts of the answer have no numbers
        second = f'({second})' if second.count(',') == first.count(',') else second
    if first.lower() in TRUTH.values():
        second = TRUTH.get(second, second)
    if NUMBERED.fullmatch(second) and ',' in first:  # ①② as (1)(2)
        second = second.replace(')', '),')
    first, second = read_conditions(first, second)
    return parse(first), parse(second)


def _listed(text: str) -> str:
    """Return several numbered answers, (1) 3; (2) 5, as coordinates: (3, 5)."""
    marks = list(ITEM.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    order = ''.join(mark[1] for mark in marks)
    if len(marks) < 2 or not '123456789 abcdefgh'.startswith(order, 0 if order[0] == '1' else 10):
        return text
    pieces = [text[m.end() : end].strip(' ;,.') for m, end in zip(marks, ends, strict=True)]
    pieces = [NAMED.sub('', behind_link(piece) or piece) for piece in pieces]
    pieces = [f'\\{{{p}\\}}' if len(split_top(p, COMMA)) > 1 else p for p in pieces]
    return f'({", ".join(pieces)})' if all(pieces) else text


def _compare(left: Form, right: Form, texts: Texts, raw: Texts, question: str | None) -> Result:
    """Compare two answers; of their texts it matters how commas are spaced and cases written."""
    reason = type(left).__name__.lower()
    try:
        relation = compare(left, right)
    except UnreadableError as error:
        side = 'answer' if error.text in right.text else 'gold'
        relation, reason = Relation.UNKNOWN, f'{side} unparsable'
    cases = {'\\begin{cases}' in text for text in raw}
    partial = len(ITEM.findall(texts[0])) > 1 and not right.parts()  # one of several parts
    if relation is Relation.DIFFERENT and (
        partial or len(cases) > 1 or _respaced(*texts) or _rescaled(*texts)
    ):
        relation = Relation.UNKNOWN
    if question:
        with suppress(UnreadableError):  # an option of the question
            relation = settle(relation, left, right, question)
    worded = relation is Relation.UNKNOWN and (_has_words(left) or _has_words(right))
    return relation, 'words' if worded else reason


def _respaced(gold: str, answer: str) -> bool:
    """Tell whether only commas differ: 100,200 and 100, 200, one number or two? 1,5 or 1.5?"""
    first, second = (COMMA_SPACE.sub(',', text) for text in (gold, answer))
    return first.replace('.', ',') == second.replace('.', ',')


def _rescaled(gold: str, answer: str) -> bool:
    """Tell whether two values may be the same where one is said in millions, or in percent."""
    found = [SCALE.search(text) for text in (gold, answer)]
    if [one and one[0] for one in found] in ([None, None], ['%', '%']):
        return False
    bare = [parse(SCALE.sub('', text)) for text in (gold, answer)]
    return compare(*bare) is not Relation.DIFFERENT


def _leaves(form: Form) -> int:
    return sum(_leaves(part) for part in (*form.parts(), *form.sides)) or 1


def _has_words(form: Form) -> bool:
    return isinstance(form, Text) or any(_has_words(part) for part in (*form.parts(), *form.sides))
