"""Taking an answer apart, down to its numbers and expressions."""

from __future__ import annotations

import re
from functools import partial

from opencompass_gpassk.answers.braces import balanced, split_top
from opencompass_gpassk.answers.brackets import (
    LIST,
    read_bracketed,
    read_list,
    read_matrix,
    read_ratio,
    read_signs,
    read_union,
)
from opencompass_gpassk.answers.equations import read_relation
from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.numbers import parse_number
from opencompass_gpassk.answers.units import split_unit

__all__ = ['parse_form', 'words']

TEXT_COMMAND = re.compile(r'\\text\{([^{}]*)\}')
# The letter of a choice alone: A, (A), [A], A., (A):
CHOICE = re.compile(r'[(\[]?\s*([A-J])\s*[)\]]?[.:]?')
# A choice before what it stands for: (A) 5, B. 5, C: 5, \\text{(D) } 5; and a choice called one.
CHOICE_LEAD = re.compile(
    r'(?:\(([A-J])\)|\\text\{\s?\(([A-J])\)\s?\}|([A-J])(?:[.)]|:\s))\s*\S'
    r'|(?:[Oo]ption|[Cc]hoice|选项?|選項?)\s?\(?([A-J])\)?$'
)
# Three letters or more that are no command, or a letter of another script but Greek.
WORD = re.compile(r'(?<![\\a-zA-Z])[a-zA-Z]{3,}|[^\W\d_a-zA-Z\u0370-\u03ff]')
WORD_BANG = re.compile(r'([^\W\d_]{3})!+(?=\s|$)')  # an exclamation, not a factorial
# What is no part of words; a point, comma or colon between digits is: 1.5 is not 15.
PUNCTUATION = re.compile(r"(?:(?!(?<=\d)[.,:](?=\d))[^\w\\^+*/=<>()\[\]|'%!-])+")
CLOCK = re.compile(r'\d\s?[ap]\.?m\.?$', re.IGNORECASE)
FUNCTIONS = frozenset(
    'sin cos tan cot sec csc log exp max min gcd lcm mod arcsin arccos arctan sinh cosh tanh '  # noqa: SIM905
    'det'.split()
)
NUMBER_WORDS = {
    word: str(number)
    for words_ in (
        'zero one two three four five six seven eight nine ten eleven twelve',
        '零 一 二 三 四 五 六 七 八 九 十 十一 十二',
    )
    for number, word in enumerate(words_.split())
} | {'两': '2'}
ENVIRONMENT = re.compile(r'\\(?:begin|end)\{\w*\}(?:\{\w*\})?')


def parse_form(text: str, level: int = 0) -> Form:
    """Take an answer in its normal spelling apart."""
    text = _unwrapped(text.strip())
    whole = TEXT_COMMAND.fullmatch(text)
    if whole:
        text = whole.group(1).strip()
    choice = CHOICE.fullmatch(text)
    if choice:
        return Form(Kind.CHOICE, choice.group(1))
    number = parse_number(NUMBER_WORDS.get(text.lower(), text))
    if number:
        return Form(Kind.NUMBER, number=number)
    if level > 6:
        return Form(Kind.EXPRESSION, text)
    bare, unit = split_unit(text)
    if unit:
        form = parse_form(bare, level + 1)
        if form.kind in (Kind.NUMBER, Kind.EXPRESSION):
            return Form(form.kind, form.text, form.parts, form.number, form.name, unit)
    lead = CHOICE_LEAD.match(text)
    if lead:
        return Form(Kind.CHOICE, next(letter for letter in lead.groups() if letter))
    if _is_words(text):
        return Form(Kind.TEXT, words(text))
    for read in READERS:
        found = read(text, partial(parse_form, level=level + 1))
        if found:
            return found
    return Form(Kind.EXPRESSION, text)


def words(text: str) -> str:
    """Return a text's words in lower case without punctuation and articles."""
    text = TEXT_COMMAND.sub(r' \1 ', text).lower()
    text = PUNCTUATION.sub(' ', text)
    found = WORD_BANG.sub(r'\1', text).split()
    return ' '.join(word for word in found if word not in {'the', 'a', 'an'})


def _is_words(text: str) -> bool:
    bare = ENVIRONMENT.sub(' ', text)
    bare = TEXT_COMMAND.sub(lambda m: f' {m.group(1)} ', bare)
    found = [
        word
        for word in WORD.findall(LIST.sub(' ', bare))
        if word.lower() not in FUNCTIONS
        and not (word.isupper() and word.isascii() and len(word) < 6)
    ]
    clock = CLOCK.search(text)
    return bool(found or clock or text.lower() == 'no') and '\\operatorname' not in text


def _unwrapped(text: str) -> str:
    """Take away braces and parentheses around the whole of a single value."""
    while len(text) > 1 and text[0] in '{(' and text[-1] == {'{': '}', '(': ')'}[text[0]]:
        inner = text[1:-1]
        if not balanced(inner) or len(split_top(inner, LIST)) > 1:
            break
        if text[0] == '(' and CHOICE.fullmatch(text):
            break
        text = inner.strip()
    return text


READERS = (
    read_list,
    read_relation,
    read_ratio,
    read_union,
    read_bracketed,
    read_matrix,
    read_signs,
)
