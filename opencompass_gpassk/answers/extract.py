"""Extract the final answer of a response."""

from __future__ import annotations

import re
from typing import NamedTuple

from opencompass_gpassk.answers.braces import command_spans
from opencompass_gpassk.answers.frames import (
    CLOSED,
    STATEMENT_END,
    is_lead,
    is_plain_lead,
    is_tail,
    is_taken_back,
)

__all__ = ['boxed', 'extract_answer', 'last_statement', 'spoken', 'without_boxes']

THINK_TAG = re.compile(
    r'<(/?)(?:think|thinking|thought|reasoning)>'
    r'|<\|(begin|end)_of_thought\|>'
    r'|◁(/?)think▷',
    re.IGNORECASE,
)
# Replies in channels; the last channel called final is meant for the user.
CHANNEL = re.compile(r'<\|channel\|>\s{0,3}(\w{1,40})[^<>]{0,80}<\|message\|>')
CHANNEL_END = re.compile(r'<\|(?:end|return|start|channel)\|>')


def spoken(response: str) -> str:
    """Return the text outside thinking blocks; the opening or closing tag of one may be missing.

    A block that is never closed extends to the end. Of a reply in channels the last final channel
    is returned. The time is linear in the length of the response.
    """
    response = _final_channel(response)
    kept: list[str] = []
    position, level = 0, 0
    for tag in THINK_TAG.finditer(response):
        closing = '/' in tag.group(1, 3) or (tag.group(2) or '').lower() == 'end'
        if not closing:
            if level == 0:
                kept.append(response[position : tag.start()])
            level += 1
        elif level:
            level -= 1
            position = tag.end()
        else:  # the opening tag is in the prompt
            kept.clear()
            position = tag.end()
    if level == 0:
        kept.append(response[position:])
    return ''.join(kept)


def _final_channel(response: str) -> str:
    """Return a reply's last final channel, '' if there is none; without channels, all of it."""
    channels = list(CHANNEL.finditer(response))
    if not channels:
        return response
    final = next((one for one in reversed(channels) if one.group(1).lower() == 'final'), None)
    if final is None:
        return ''
    end = CHANNEL_END.search(response, final.end())
    return response[final.end() : end.start() if end else len(response)]


BOXES = frozenset({'\\boxed', '\\fbox'})
# Text that may separate the boxes of one list of answers.
BETWEEN_BOXES = re.compile(
    r'(?:[\s$,;、，；和及与或]|\\[()\[\],;:!]|\\q?quad|and|or|\\text\{\s*,?\s*(?:and|or)\s*\}|以及|或者)*'
    r'(?:[a-zA-Z](?:_\{?\w\}?)?\s*=\s*)?'
)
# A box without braces around its one word: \\boxed 7.
BARE_BOX = re.compile(r'\\(?:boxed|fbox)\s{1,3}([^\s\\{}$.,;]{1,50})')
EMPTY_BOX = re.compile(r'\$?\\(?:boxed|fbox)\s{0,3}\{\s{0,3}\}\$?')
EMPTY_TAIL = re.compile(rf'(?:(?:and|or|so the answer is)\s)?{EMPTY_BOX.pattern}')
PERCENT = re.compile(r'\s?\\?%')
# The name of a box's value: y_2 = \\boxed{…}.
BOX_NAME = re.compile(r'(?<![a-zA-Z\\])([a-zA-Z](?:_\{?\w\}?)?)\s*=\s*$')
BETWEEN_LIMIT = 60
# Phrases before a final answer: #### of GSM8K, <answer>, "the final answer is", "correct option:",
# a heading that says "Answer", 答案是, 答：, 故选.
PHRASE = re.compile(
    r'####|<answer>'
    r'|\b(?:final\s{1,3})?(?:answers?|results?)\*{0,2}\s{0,3}(?:is|are|=|:|：)(?=[\s:：*$\\\d(\[{-])'
    r'|\b(?:correct|right)\s{1,3}(?:option|choice)\*{0,2}\s{0,3}(?:is|:|：)'
    r'|\banswer\s{1,3}(?:should|must|would)\s{1,3}be\b'
    r'|(?:^|\n)[#* ]{0,8}(?:final )?answer[*: ]{0,4}\n'
    r'|(?:最终|最后|正确)?(?:答案|结果)\*{0,2}(?:应该|应)?(?:是|为|：|:|等于)'
    r'|\banswer\s{0,3}(?=\$|\\\(|\\\[)'
    r'|故答案为|故选'
    r'|(?:应|應|所以|因此|答案|[,，。])\s?(?:选|選)择?\s?[:：]?\s?(?=[(（]?[A-J])'
    r'|(?:^|[\n。])\s?答\s?[:：]',
    re.IGNORECASE,
)
PHRASE_FILL = re.compile(r'[\s:：*]*(?:therefore|thus|simply|为|是)?[\s:：*]*', re.IGNORECASE)
QUOTED = re.compile(r'\A\\?["“](.*?)\\?["”]\Z', re.DOTALL)
MATH_START = re.compile(r'\$\$?|\\\(|\\\[')
MATH_END = {
    '$': re.compile(r'(?<!\\)\$'),
    '$$': re.compile(r'(?<!\\)\$\$'),
    '\\(': re.compile(r'\\\)'),
    '\\[': re.compile(r'\\\]'),
}
SENTENCE_END = re.compile(
    r'\n|[。！？]|[.!?](?=\s|$|\*)|<\||</answer>|,?\s(?:because|since)\s', re.IGNORECASE
)
PHRASE_LIMIT = 1000
LEAD_END = re.compile(r'[。！？।؟]|[.!?](?=\s|$)|\n\s*\n')
LEAD_OPEN = re.compile(r'[^\s.!?。！？]\s*(?:\\\[|\$\$|\*\*)?\s*$')
LEAD_LIMIT = 300
BLANK = ' \t$*\\[(])'
VALUE = re.compile(r'\d|\\|^\W*[A-J]\W*$')
COURTESY = re.compile(
    r'(?:I )?hope (?:it|this|that) (?:is correct|helps)[.!]?(?=\s*\Z)', re.IGNORECASE
)
SPECIAL_TOKEN = re.compile(r'<\|')


def extract_answer(response: str) -> str | None:
    """Return the final answer of a response, LaTeX or plain text, or None if it gives none.

    The answer is in the last box ``\\boxed{…}`` or ``\\fbox{…}`` with balanced braces outside
    thinking blocks (with its neighbours, if boxes form a list); without a box, or behind it, it is
    the text after the last of the usual phrases (*the answer is*, *答案是*, …). Where the words
    around do not let it stand (*not 7*, *7 is wrong*), the whole statement is the answer. A
    thinking block that is never closed extends to the end. The time is linear in the response.
    """
    text = spoken(response)
    box = _last_box(_without_ending(text))
    if box is None:
        return _after_phrase(EMPTY_BOX.sub('', text))
    later = _after_phrase(EMPTY_BOX.sub('', box.text[box.end : box.end + LEAD_LIMIT]))
    if later is not None and VALUE.search(later):
        return later
    before, after = box.text[max(0, box.start - LEAD_LIMIT) : box.start], box.text[box.end :]
    lead, tail = STATEMENT_END.split(before)[-1], STATEMENT_END.split(after[:LEAD_LIMIT])[0]
    if not lead.strip(BLANK) and LEAD_OPEN.search(before):  # a box on a line of its own
        lead = next((one for one in reversed(LEAD_END.split(before)) if one.strip(BLANK)), '')
    asked = after[len(tail) :].startswith(('?', '？'))
    stands = is_lead(lead) and is_tail(EMPTY_TAIL.sub('', tail)) and not asked
    if stands and not is_taken_back(after[len(tail) :], box.content):
        return box.content
    return f'{lead}{box.text[box.start : box.end]}{after[:LEAD_LIMIT]}'.strip()


class _Box(NamedTuple):
    """The last box of a text, or list of boxes: its place and its content."""

    text: str
    start: int
    end: int
    content: str


def boxed(text: str) -> str | None:
    """Return the content of the last balanced box or list of boxes; None if there is none."""
    box = _last_box(text)
    return box.content if box else None


def _last_box(text: str) -> _Box | None:
    found: list[tuple[int, int, str]] = []
    for command, start, end in command_spans(text, BOXES):
        if found and command < found[-1][1]:  # inside the previous box
            continue
        content = text[start:end].strip()  # after the check, so that nested boxes aren't copied
        if content:
            percent = PERCENT.match(text, end + 1)  # \\boxed{50}\\%
            behind = percent.end() if percent else end + 1
            found.append((command, behind, content + (percent.group() if percent else '')))
    if not found:
        bare = list(BARE_BOX.finditer(text))
        if bare:
            return _Box(text, *bare[-1].span(), bare[-1][1])
        # a response that was JSON-encoded once too often
        return _last_box(text.replace('\\\\', '\\')) if '\\\\boxed' in text else None
    listed = [found.pop()]
    while found:
        between = text[found[-1][1] : listed[-1][0]]
        if len(between) > BETWEEN_LIMIT or not BETWEEN_BOXES.fullmatch(between):
            break
        listed.append(found.pop())
    contents = [without_boxes(content) for *_, content in reversed(listed)]
    names = [BOX_NAME.search(text[max(0, start - 30) : start]) for start, *_ in reversed(listed)]
    if len(listed) > 1 and all(names):  # x = \\boxed{1}, y = \\boxed{2}
        contents = [f'{n[1]} = {content}' for n, content in zip(names, contents, strict=True) if n]
    content = ', '.join(dict.fromkeys(filter(None, contents)))
    return _Box(text, listed[-1][0], listed[0][1], content) if content else None


def last_statement(response: str) -> str:
    """Return the last sentence outside thinking blocks; '' if there is none."""
    text = _without_ending(spoken(response))
    return next((s.strip() for s in reversed(STATEMENT_END.split(text)) if s.strip()), '')


def _without_ending(text: str) -> str:
    """Return a text up to its first special token, without a courtesy at the end."""
    return COURTESY.sub('', SPECIAL_TOKEN.split(text.strip(), maxsplit=1)[0])


def without_boxes(content: str) -> str:
    """Return a text with the content of each box in its place."""
    spans = command_spans(content, BOXES)
    skip = {index for command, start, _ in spans for index in range(command, start)}
    skip |= {end for _, _, end in spans}
    if not skip:
        return content
    kept = [char for position, char in enumerate(content) if position not in skip]
    return ''.join(kept).strip()


def _after_phrase(text: str) -> str | None:
    last = max(PHRASE.finditer(text), key=lambda match: match.start(), default=None)
    if last is None:
        return None
    lead = STATEMENT_END.split(text[max(0, last.start() - LEAD_LIMIT) : last.start()])[-1]
    rest = text[last.end() : last.end() + PHRASE_LIMIT]
    statement = text[last.start() - len(lead) : last.end() + LEAD_LIMIT].strip()
    filler = PHRASE_FILL.match(rest)
    rest = rest[filler.end() if filler else 0 :]
    math = MATH_START.match(rest)
    if math:
        closing = MATH_END[math.group()].search(rest, math.end())
        end = closing.start() if closing else -1
        tail = rest[closing.end() :] if closing else ''
        # "$3$ or $5$": the sentence goes on; "$12$." and "$12$, since …" don't
        said = STATEMENT_END.split(tail)[0]
        if end >= 0 and not CLOSED.sub('', said) and rest[math.end() : end].strip():
            answer = rest[math.end() : end].strip()
            return answer if _stands(lead, tail[len(said) :]) else statement
    stop = SENTENCE_END.search(rest)
    answer = rest[: stop.start() if stop else len(rest)].strip().strip('*').strip()
    answer = QUOTED.sub(r'\1', answer)
    if not answer or '\\boxed{' in answer:
        return None
    return answer if _stands(lead, rest[stop.start() :] if stop else '') else statement


def _stands(lead: str, after: str) -> bool:
    """Tell whether the words before the phrase, and what follows the answer, let it stand."""
    asked = after.startswith(('?', '？'))
    return is_plain_lead(lead) and not asked and not is_taken_back(after)
