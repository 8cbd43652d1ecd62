"""What judging says of one response, and how it is read from a judge's reply."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from opencompass_gpassk.answers.braces import command_spans
from opencompass_gpassk.answers.extract import BOXES, spoken
from opencompass_gpassk.trials import Verdict

__all__ = ['MENUS', 'Judgement', 'Menu', 'Reading', 'read_letters', 'read_verdict']

Reading = tuple[Verdict, str]  # a verdict, and why it is none

RIGHT, WRONG = (Verdict.CORRECT, ''), (Verdict.INCORRECT, '')
INVALID = (Verdict.UNJUDGED, 'invalid: the judge finds the response incomplete or no answer at all')
YES_NO = {'yes': RIGHT, 'no': WRONG}
WORDS = {'correct': RIGHT, 'incorrect': WRONG}
LETTERS = {'a': RIGHT, 'b': WRONG, 'c': INVALID}
MEANINGS = {**WORDS, 'invalid': INVALID}

LONGEST = 200  # characters of a verdict with all that may stand around it
BOX = re.compile(r'\\(?:boxed|fbox)(?![a-zA-Z])')
BOXED_WORD = re.compile(
    r'(?:\\(?:boxed|fbox|text\w{0,2}|math\w{2})\s{0,3}\{|[{$*_\s"\'`])*'
    r'([a-z]{1,12})[}$*_\s"\'`.]*',
    re.IGNORECASE,
)
END_TOKEN = re.compile(r'(?:<\|\w{1,40}\|>|</s>)\Z')
DECORATION = ' \t\r*_`"\'“”‘’$#[](){}【】（）.。'
LABEL = re.compile(
    r'(?:(?:final|my|the|overall)\s+){0,2}(?:judge?ment|verdict|decision|assessment|grade)'
    r'(?:\s+result)?[*_ ]{0,4}(?:is\b|[:：=-])'
    r'|(?:最终)?(?:判断|判定|评判|结论)(?:结果)?(?:是|为|：|:)',
    re.IGNORECASE,
)
MEANING = re.compile(r'[-–—:：(]{1,3}\s{0,3}[<\[*]{0,3}([a-z]{1,20})[>\])*.]{0,4}')


@dataclass(frozen=True)
class Judgement:
    """A verdict with the answer it was given to.

    Attributes:
        verdict: Right, wrong or not judged.
        answer: The answer, None where the response gives none.
        reason: Why a trial is unjudged.
        source: Who judged: ``rule``, ``judge``, ``human`` or an evaluator's name.
    """

    verdict: Verdict
    answer: str | None = None
    reason: str = ''
    source: str = 'rule'


@dataclass(frozen=True)
class Menu:
    """The verdicts that a judge may give, and the one form in which it gives them.

    Attributes:
        name: As settings call it.
        read: Takes what a judge says outside its thoughts; returns None if that is no verdict.
        prompts: Built-in prompts that ask for this form; a model with a menu of its own needs the
            prompt it was trained with.
    """

    name: str
    read: Callable[[str], Reading | None]
    prompts: tuple[str, ...] = ()


def read_verdict(reply: str, menu: Menu) -> Reading | None:
    """Return the verdict of a reply, and a reason where the verdict is ``unjudged``.

    Thoughts are left out; the last verdict counts. The time taken is linear in the reply's length.

    Returns:
        None if the reply says nothing that is on the menu.
    """
    return menu.read(spoken(reply))


def read_letters(text: str) -> Reading | None:
    """Read a text that is A, B or C (or what they mean, in a word) and nothing else."""
    return (LETTERS | MEANINGS).get(_bare(text))


def _read_box(text: str) -> Reading | None:
    """Read the last box, which holds yes or no."""
    word, _ = _last_box(text)
    return YES_NO.get(word)


def _read_letter(text: str) -> Reading | None:
    """Read a reply that is a letter, or ends in a boxed or a labelled one."""
    text = _without_end_tokens(text)
    found = read_letters(text) or _meant(*_last_box(text))
    if found:
        return found
    said = _labelled(_last_line(text))
    return (_meant(said[:1], said[1:]) or MEANINGS.get(said)) if said else None


def _read_word(text: str) -> Reading | None:
    """Read the last line, which is Correct or Incorrect, with a label before it or without."""
    line = _last_line(_without_end_tokens(text))
    return WORDS.get(_bare(line)) or WORDS.get(_labelled(line))


def _last_box(text: str) -> tuple[str, str]:
    """Return the one word in the last box, lowered, and the text behind it; '' where it holds more.

    A box that is left open voids those before it.
    """
    begin, end = 0, -1
    for command, start, stop in command_spans(text, BOXES):
        if command > end:  # not inside the box before
            begin, end = start, stop
    if end < 0 or end - begin > LONGEST or BOX.search(text, end):
        return '', ''
    word = BOXED_WORD.fullmatch(text, begin, end)
    return (word.group(1).lower(), text[end + 1 :]) if word else ('', '')


def _meant(letter: str, rest: str) -> Reading | None:
    """Return what a letter means, if what follows it is nothing or the same in words."""
    rest = _bare(rest, ' \t\r\n*_`"\'$.。') if len(rest) < LONGEST else rest
    found = LETTERS.get(letter)
    if found and rest:
        told = MEANING.fullmatch(rest) if len(rest) < LONGEST else None
        return found if told and MEANINGS.get(told.group(1)) is found else None
    return found


def _labelled(line: str) -> str:
    """Return what follows a label such as 'Final judgment:', bare; '' where there is none."""
    line = line.lstrip(DECORATION)
    label = LABEL.match(line)
    return _bare(line[label.end() :], DECORATION + ':：') if label else ''


def _last_line(text: str) -> str:
    """Return the last line, '' if it is longer than any verdict."""
    line = text[text.rfind('\n') + 1 :]
    return line if len(line) <= LONGEST else ''


def _bare(text: str, decoration: str = DECORATION + '\n') -> str:
    return text.strip(decoration).lower()


def _without_end_tokens(text: str) -> str:
    """Leave out white space and tokens that end a turn, which some servers leave in."""
    text = text.rstrip()
    for _ in range(3):
        token = END_TOKEN.search(text, max(0, len(text) - 50))
        if not token:
            break
        text = text[: token.start()].rstrip()
    return text


MENUS = {
    menu.name: menu
    for menu in (
        Menu('boxed', _read_box, ('default', 'opencompass')),
        Menu('compassverifier', _read_letter),
        Menu('xverify', _read_word),
    )
}
