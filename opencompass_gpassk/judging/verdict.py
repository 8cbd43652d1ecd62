"""The judgement of one response, and how it is read from a judge's reply."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from opencompass_gpassk.answers.braces import BOXES, command_spans
from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.trials import Verdict

Reading = tuple[Verdict, str]  # a verdict, and the reason if it is unjudged

RIGHT, WRONG = (Verdict.CORRECT, ''), (Verdict.INCORRECT, '')
INVALID = (Verdict.UNJUDGED, 'invalid: the judge finds the response incomplete or no answer at all')
YES_NO = {'yes': RIGHT, 'no': WRONG}
WORDS = {'correct': RIGHT, 'incorrect': WRONG}
LETTERS = {'a': RIGHT, 'b': WRONG, 'c': INVALID}
MEANINGS = {**WORDS, 'invalid': INVALID}

LONGEST = 200  # characters of a line with a verdict, including decoration and labels
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
    """A verdict with the answer that it judges.

    Attributes:
        verdict: Correct, incorrect or unjudged.
        answer: The answer; None if the response gives none.
        end: Without a recognised answer, the end of a response that may hold one; '' otherwise.
        reason: Why the trial is unjudged, or why the rules decided so.
        source: Who judged, as in a :class:`~opencompass_gpassk.trials.Trial`.
        passing: Whether it is unjudged by a temporary failure of the judge.
    """

    verdict: Verdict
    answer: str | None = None
    reason: str = ''
    source: str = 'rule'
    passing: bool = False
    end: str = ''


@dataclass(frozen=True)
class Menu:
    """The verdicts that a judge may give, and their form in its replies.

    Attributes:
        read: Takes a reply without its thoughts; returns None if it holds no verdict.
        expects: What a reply must say, for messages.
        prompts: Built-in prompts that ask for this form. A model with its own menu needs the prompt
            it was trained with.
    """

    read: Callable[[str], Reading | None]
    expects: str
    prompts: tuple[str, ...] = ()


def read_verdict(reply: str, menu: Menu) -> Reading | None:
    """Return the verdict in a reply, and a reason if the verdict is ``unjudged``.

    Thoughts are left out; the last verdict counts. The time is linear in the reply's length.

    Returns:
        The verdict and reason; None if the reply holds no verdict from the menu.
    """
    return menu.read(spoken(reply))


def read_letters(text: str) -> Reading | None:
    """Read a text that is only A, B or C, or the word that one of these means."""
    return (LETTERS | MEANINGS).get(_bare(text))


def _read_box(text: str) -> Reading | None:
    """Read yes or no in the last box."""
    word, _ = _last_box(text)
    return YES_NO.get(word)


def _read_letter(text: str) -> Reading | None:
    """Read a reply that is a letter, or ends in a boxed or a labelled letter."""
    text = _without_end_tokens(text)
    found = read_letters(text) or _meant(*_last_box(text))
    if found:
        return found
    said = _labelled(_last_line(text))
    return (_meant(said[:1], said[1:]) or MEANINGS.get(said)) if said else None


def _read_word(text: str) -> Reading | None:
    """Read Correct or Incorrect in the last line, with or without a label before it."""
    line = _last_line(_without_end_tokens(text))
    return WORDS.get(_bare(line)) or WORDS.get(_labelled(line))


def _last_box(text: str) -> tuple[str, str]:
    """Return the last box's only word, lowered ('' if it holds more), and the text after the box.

    A box that is never closed voids those before it.
    """
    begin, end = 0, -1
    for command, start, stop in command_spans(text, BOXES):
        if command > end:  # not inside the previous box
            begin, end = start, stop
    if end < 0 or end - begin > LONGEST or BOX.search(text, end):
        return '', ''
    word = BOXED_WORD.fullmatch(text, begin, end)
    return (word.group(1).lower(), text[end + 1 :]) if word else ('', '')


def _meant(letter: str, rest: str) -> Reading | None:
    """Return the meaning of a letter, if nothing or the same meaning in words follows it."""
    rest = _bare(rest, ' \t\r\n*_`"\'$.。') if len(rest) < LONGEST else rest
    found = LETTERS.get(letter)
    if found and rest:
        told = MEANING.fullmatch(rest) if len(rest) < LONGEST else None
        return found if told and MEANINGS.get(told.group(1)) is found else None
    return found


def _labelled(line: str) -> str:
    """Return the bare text after a label such as 'Final judgment:'; '' if there is no label."""
    line = line.lstrip(DECORATION)
    label = LABEL.match(line)
    return _bare(line[label.end() :], DECORATION + ':：') if label else ''


def _last_line(text: str) -> str:
    """Return the last line; '' if it is longer than any verdict."""
    line = text[text.rfind('\n') + 1 :]
    return line if len(line) <= LONGEST else ''


def _bare(text: str, decoration: str = DECORATION + '\n') -> str:
    return text.strip(decoration).lower()


def _without_end_tokens(text: str) -> str:
    """Remove white space and end-of-turn tokens, which some servers leave in."""
    text = text.rstrip()
    for _ in range(3):
        token = END_TOKEN.search(text, max(0, len(text) - 50))
        if not token:
            break
        text = text[: token.start()].rstrip()
    return text


MENUS = {
    'boxed': Menu(_read_box, r'\boxed{yes} or \boxed{no}', ('default', 'opencompass')),
    'compassverifier': Menu(_read_letter, 'A, B or C'),
    'xverify': Menu(_read_word, 'Correct or Incorrect in the last line'),
}
