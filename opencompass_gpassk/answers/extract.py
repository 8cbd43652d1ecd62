"""Extract the final answer of a response."""

from __future__ import annotations

import json
import re
from collections import Counter
from string import ascii_letters
from typing import NamedTuple

from opencompass_gpassk.answers.braces import TEXT_COMMAND, balanced, command_spans
from opencompass_gpassk.answers.units import UNITS, either, split_unit
from opencompass_gpassk.answers.words_around import (
    CLAUSE,
    CLOSED,
    CONCLUSION,
    FRAME_WORDS,
    LINK,
    SLIP,
    STATEMENT_END,
    THEN,
    is_lead,
    is_plain_lead,
    is_tail,
    is_taken_back,
    stated_value,
)

THINK_TAG = re.compile(
    r'<(/?)(?:think|thinking|thought|reasoning|思考)>'
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


def ending(response: str) -> str:
    """Return the text at whose end a reader looks for an answer that no rule recognised.

    It is what :func:`spoken` returns, without special tokens; of a response that says nothing else,
    its thoughts.
    """
    return speech(response) or _words(THINK_TAG.sub('', CHANNEL.sub('', response)))


def speech(response: str) -> str:
    """Return the text outside thinking blocks without special tokens; '' if it says nothing."""
    return _words(spoken(response))


def _words(text: str) -> str:
    return SPECIAL_TOKEN.sub('', text).strip()


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


READ = 200_000  # characters at the end of a response
BOXES = frozenset({'\\boxed', '\\fbox'})
# Text that may separate the boxes of one list of answers.
BETWEEN_BOXES = re.compile(
    r'(?:[\s$,;、，；。和及与或]|\n\s{0,4}[*-]\s|\.(?=\s)|\\[()\[\],;:!]|\\q?quad|and|or'
    r'|\\text\{\s*,?\s*(?:and|or|[或和及])\s*\}'
    r'|以及|或者|[(（](?:\d|[a-e]|i{1,3})[)）]|\b\d[.)、]\s|[①-⑨]|第[一二三四五]问[:：]?)*'
    r'(?:[a-zA-Z](?:_\{?\w\}?)?\s*=\s*)?'
)
# A box without braces around its one word: \\boxed 7.
BARE_BOX = re.compile(r'\\(?:boxed|fbox)\s{1,3}([^\s\\{}$.,;]{1,50})')
EMPTY_BOX = re.compile(r'\$?\\(?:boxed|fbox)\s{0,3}\{\s{0,3}\}\$?')
EMPTY_TAIL = re.compile(rf'(?:(?:and|or|so the answer is)\s)?{EMPTY_BOX.pattern}')
PERCENT = re.compile(r'\s?(?:\$\s?)?\\?%')
# The name of a box's value: y_2 = \\boxed{…}.
BOX_NAME = re.compile(r'(?<![a-zA-Z\\])([a-zA-Z](?:_\{?\w\}?)?)\s*=\s*$')
BETWEEN_LIMIT = 60
# Places before a final answer: #### of GSM8K, but for other headings; a tag; "answer" in JSON or at
# the start of a line; "the final answer is"; a heading that says "Answer"; "correct option:";
# 【答案】, 答案是, 故选.
PHRASE = re.compile(
    r'(?<!#)####(?!#)'
    r'(?!\s{0,3}\*{0,2}(?:\d{1,2}[.)]\s)?(?:[a-zA-Z]{3,}\W{0,2}\s\S|[\u4e00-\u9fff]{3}))'
    r'|<(?:final_?)?(?:answer|result|答案)>|<final>|\[(?:final )?answer\]|[【\[](?:最终)?答案[】\]]'
    r'|["\'](?:final[_ ]?|correct[_ ]?)?(?:answer|choice|答案)["\']\s{0,3}[:：]'
    r'|\bfinal\s{1,3}results?\*{0,2}\s{0,3}(?:is|are|:|：)'
    r'|\b(?:final\s{1,3})?answers?\*{0,2}\s{0,3}(?:is|are|=|:|：)'
    r'(?=[\s:：*$\\\d(\[{`"-])'
    r'|正确的?选项(?:应该?)?[是为:：]?(?=[\s*(（]{0,4}[A-J])'
    r'|\b(?:correct|right)\s{1,3}(?:option|choice)s?\*{0,2}\s{0,3}(?:is|are|:|：)'
    r'|\banswer\s{1,3}(?:should|must|would)\s{1,3}be\b'
    r'|(?:^|\n)[#* ]{0,8}(?:the )?(?:final )?answer[*: ]{0,4}\n'
    r'|(?:^|\n)[#* ]{0,8}答案[*:： ]{0,4}\n'
    r'|(?:^|\n)\W{0,4}(?:A(?:ns)?|Response|Output|输出)\*{0,2}\s?[:：]\n?(?=[^\n]+\s*\Z)'
    r'|(?:最终|最后|正确|参考)?答案\*{0,2}(?:应该|应)?(?:是|为|：|:|等于)|最[终后]结果(?:是|为|：|:|等于)'
    r'|\banswer\s{0,3}(?=\$|\\\(|\\\[)'
    r'|故答案为|故选'
    r'|(?:应|應|所以|因此|答案|[,，。\n]|\A)\s?(?:选|選)择?\s?[:：]?\s?(?=[(（]?[A-J])'
    r'|(?:^|[\n。])\s?答\s?[:：]',
    re.IGNORECASE,
)
PHRASE_FILL = re.compile(
    r'(?:```\w{0,12}\n|[\s:：*`#>])*(?:therefore|thus|simply|为|是)?[\s:：*`]*', re.IGNORECASE
)
# The value of a field of JSON, whose text may have escapes or lack them.
FIELD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s,}"\[][^\n,}]*|\[[^\]]*\])', re.DOTALL)
RESULT_KEY = re.compile('answer|result|value|final|output|arguments', re.IGNORECASE)
QUOTED = re.compile(r'\A\\?["“](.*?)\\?["”]\Z', re.DOTALL)
CHINESE_OPTION = re.compile(r'(?<=\A[A-J])\s?选?项\Z')
# The letter of an option and its text: B. 12 cm.
OPTION = re.compile(r'\(?[A-J]\s?[.)]\s{0,3}(?=[^\s.])')
MATH_START = re.compile(r'\$\$?|\\\(|\\\[')
MATH_END = {
    '$': re.compile(r'(?<!\\)\$'),
    '$$': re.compile(r'(?<!\\)\$\$'),
    '\\(': re.compile(r'\\\)'),
    '\\[': re.compile(r'\\\]'),
}
SENTENCE_END = re.compile(
    r'\n|[。！？]|[.!?](?=\s|$|\*)|<\||</\w+>|`|,?\s(?:because|since)\s', re.IGNORECASE
)
PHRASE_LIMIT = 1000
LEAD_END = re.compile(r'[。！？।؟]|[.!?](?=\s|$)|\n\s*\n')
LEAD_OPEN = re.compile(r'[^\s.!?。！？$\]]\s*(?:\\\[|\\\(|\$\$?|\*\*)?\s*$')
# A formula on lines of its own at the end.
DISPLAYED = re.compile(r'(\\\[|\$\$)\s*\n\s*([^\n]+?)[.,]?\s*\n\s*(\\\]|\$\$)[\s.]*\Z')
DISPLAY_END = re.compile(r'\$\$|\\\]')
LEAD_LIMIT = 300
BLANK = ' \t$*\\[(])'
VALUE = re.compile(r'\d|\\|^\W*[A-J]\W*$')
COURTESY_LIMIT = 400  # characters at the end of a text, in which a courtesy stands
COURTESY = re.compile(
    r'(?<=[.!?。！])\s{0,3}[(（][^a-zA-Z()（）\u4e00-\u9fff\n]{1,80}=[^a-zA-Z()（）\u4e00-\u9fff\n]{1,40}[)）]\s*\Z|'
    r'(?:I )?hope (?:it|this|that) (?:is correct|helps)[.!]?\s*\Z'
    r'|(?<=[.!?。！\n])[^\n.!]{0,60}\b(?:let me know|feel free|hope this'
    r'|any questions)\b[^\n]{0,160}\Z'
    r'|(?<=[.!?。！\n])[^\n.!?]{0,20}\bwould you like [^\n]{0,160}\Z'
    r'|\s\$?(?:\\q?quad)?\s?\\(?:blacksquare|square|qed)\$?\s*\Z'
    r'|\n[*_#\s]{0,6}(?:check|verification|confidence|经?检验|经?验证|验算)(?![a-z])'
    r'(?![^\n]*(?:not|n\'t|wrong|fail|but|however|should|actual|instead|[不错应但舍]))[^\n]{0,200}\Z'
    r'|(?<=[.!?。！\n])\s{0,3}(?:希望|如果[你您])[^\n]{0,60}\Z',
    re.IGNORECASE,
)
ENVIRONMENT_END = re.compile(
    r'(?:\\\\)?\s*\\end\{(?:align(?:ed)?|gather(?:ed)?|equation|split)\*?\}\s*(?:\$\$|\\\])?[\s.]*\Z'
)
# An answer with its explanation below.
EXPLAINED = re.compile(
    r'([^\n]{1,100})\s*\n\W{0,6}(?:explanation|reasoning|rationale|justification|解析|解释|理由)\W{0,3}[:：]',
    re.IGNORECASE,
)
# A question for yes or no, and an answer that begins with it.
YES_OR_NO = re.compile(
    r'yes or no|true or false|\b(?:whether|(?-i:Is|Are|Does|Do|Can|Will|Was|Did))\b[^.?]*\?\s*\Z'
    r'|是否|吗|[对正]不?[对确]|(?:能|可)不(?:能|可)',
    re.IGNORECASE,
)
TRUTH = re.compile(
    r'(?:[这该此原][^，。\n不没未非无]{1,6}?是?)?\W{0,4}(yes|no|true|false|correct|incorrect|是的?|否|不是|不正确|不成立|不对|正确|错误|对|错|不?能)(?=\*{0,2}(?:的|[.,;:!，。；：！—–\n]|\s?\Z))',
    re.IGNORECASE,
)
SECOND_THOUGHT = re.compile(
    rf'\b(?:{SLIP}|but|however|in general|let me)\b|更正|等等|重新|其实|应该?[是为]'
    r'|(?:所以|因此|故|但)[^，。\n]{0,8}(?:是|否|正确|错误?|不?对|不?成立)[的。]'
    r'|\b(?:therefore|hence|thus|so),?\s\W{0,3}(?:yes|no|true|false)\b|\bis (?:true|false)\b',
    re.IGNORECASE,
)
# What else a question may ask for.
ASKS_MORE = re.compile(
    r'\b(?:find|how many|how much|what|which|if so|if not)\b|多少|几|求', re.IGNORECASE
)
REMAINDER = re.compile(r'remainder|余数|\bmod', re.IGNORECASE)
CONGRUENT = re.compile(r'(?:\\equiv|≡)\s?(\d+)\s?\\?[(（]?\s?\\?[pb]?mod[\s{]*\d+\W*\Z')
# The values of a list at the end, and the marks of its items.
BULLETS = re.compile(
    r'(?:\A|(?:[:：]|\b(?:is|are)|[是为])\**[ \t]*\n+)'
    r'((?:[ \t]*(?:[-*•]|\d[.)])\s[^\n]{1,100}(?:\n|\Z))+)\Z'
)
LISTED = re.compile(
    r'\A(?=\s*(\S+))(?:\s*(?:[-*•]\s|[(（]\d[)）]|\d[.)]\s)[^\n]{1,150}(?:\n|\Z)){2,}\Z'
)
BULLET = re.compile(r'(?:^|\n)[ \t]*(?:[-*•]|\d[.)])\s')
# A line that begins so may be an item or a negative number: it is left to a judge.
DASH = re.compile(r'-\s+(?=\$?\d)')
# Option C is correct; I would choose C; 因此选择 C 选项.
CHOSEN = re.compile(
    rf'(?:{THEN}[\s,，]*)?(?:(?:the )?(?:option|choice|answer) \W{{0,3}}([A-J])\W{{0,3}} is'
    r' (?:the )?(?:correct|right|best)(?: answer| option| choice| one)?'
    r'|(?:the )?best (?:answer|option|choice) is \W{0,3}([A-J])\W{0,3}'
    r"|I(?: would|'d|'ll| will)? (?:choose|pick|select|go with) (?:option )?\W{0,3}([A-J])\W{0,3}"
    r'|[A-J、,，和选项]*(?:[均都]?(?:错误|不正确|不对)[,，；;]\s?)([A-J])(?:选?项)?正确'
    r'|(?:[本此]题|我)?(?:应该?|会)?选择?\s?\W{0,3}([A-J])\W{0,3}(?:选?项)?)[.。*\s]*',
    re.IGNORECASE,
)
ROW_END = re.compile(r'\\\\|\n')
ROW = re.compile(r'^[ \t]*\|([^\n]*)', re.MULTILINE)
QUOTE = re.compile(r'\A>\s(?=\*\*)')
# x: 2 and y: 3 on lines of their own.
NAMED_LINE = re.compile(r'(?:^|\n)\s*\$?([a-zA-Z])\s?[:：=]\s?([^\n=$]{1,60})\$?(?=\n|\Z)')
NAMED_LINES = re.compile(rf'(?:{NAMED_LINE.pattern}\s*){{2,6}}\Z')
ARROW = re.compile(r'\A\W{0,3}(?:[=-]{1,2}>|→|⇒|\\(?:Long)?[rR]ightarrow|\\implies)')
# Parts of an answer: (2) 5, **(b)** 6; the boxes of parts and of cases.
PART = re.compile(r'[-*\s]*\(([2-9b-f])\)')
DECORATION = re.compile(r'\*\*|^\s*-\s', re.MULTILINE)
NEXT_PART = re.compile(r'[(（]([2-9b-f])[)）]|情况[二三]|\bsecond\b|\bcase [2-5]\b', re.IGNORECASE)
# What a base model goes on with: the next question.
FURTHER = re.compile(
    r'\n\W{0,4}(?:Q|Question|Problem|Instruction|User|Human|题目|问题|问)\W{0,3}[:：]'
)
# What a tokenizer or a template puts around a message, and the names of its roles.
SECTION_END = re.compile(r'<eo\w>')
TOKEN_BOX = re.compile(r'<\|begin_of_box\|>(.{0,300}?)<\|end_of_box\|>', re.DOTALL)
CALCULATED = re.compile(r'<<[^<>\n]{1,80}>>')  # by a tool: 20 - 6 = <<20-6=14>>14
EMOJI = re.compile('[\U0001f300-\U0001faff✅]\ufe0f?')
SPECIAL_TOKEN = re.compile(r'<[|｜][^<>|｜]{0,40}(?:[|｜]>|\Z)|</s>|<end_of_turn>|\[/?INST\]|<\|')
# In Chinese the unit may stand in brackets: 12 × 5 = 60(元).
BRACKETED_UNIT = re.compile(
    r'(?:(?<=[\d%}])|(?<=\d\$)|(?<=}\$))\s?(?:\\[ ,;]\s?)?[(（]([\u4e00-\u9fff]{1,3})[)）]'
    r'(?=[\s。.,，;；$]|\Z)'
)
ROLES = ('', 'assistant', 'model')
# So many new scripts within so many characters are noise: a model that lost itself.
NOISE_SCRIPTS, NOISE_WINDOW = 3, 400
FOREIGN = re.compile(
    r'(?P<chinese>[\u3040-\u30ff\u4e00-\u9fff])|(?P<cyrillic>[\u0400-\u052f])'
    r'|(?P<hebrew>[\u0590-\u05ff])|(?P<arabic>[\u0600-\u06ff])|(?P<indic>[\u0900-\u0dff])'
    r'|(?P<thai>[\u0e00-\u0e7f])|(?P<hangul>[\uac00-\ud7a3])'
)
FENCE = re.compile(r'^[ \t]*```[^\n]*$', re.MULTILINE)
ESCAPED, COMMAND = re.compile(r'\\\\[a-zA-Z(\[]'), re.compile(r'(?<!\\)\\[a-zA-Z(\[]')
ESCAPED_LINE = re.compile(r'\\n(?![a-z])')
# A response as short as an answer, and one that speaks of its speaker.
WHOLE_LIMIT = 200
SPEAKER = re.compile(
    r"^(?:I|I'm|We|Sorry|As an AI)\b|\b(?:my|answer)\b|[我您]|答案|抱歉|很遗憾|\\boxed",
    re.IGNORECASE,
)
PROSE = re.compile(r'(?<![\\a-zA-Z{])[a-zA-Z]{3,}(?![a-zA-Z}^_])|[\u4e00-\u9fff]')
CUT_OFF = re.compile(r'\\boxed|(?:[-+*/=^_\\(\[{<>]|\\[a-z]*(?:frac|cdot|times|sqrt))\s*\$*\Z')
BOLD = re.compile(r'\*\*([^*\n]{1,80})\*\*')
PLAIN = re.compile(
    r'\$([^$\n]{1,80})\$|\\\((.{1,80}?)\\\)'
    r'|(?<![\w.,$\\^_/{:-])((?:\\?\$)?-?\d[\d,]*(?:\.\d+)?(?:/\d+|:\d\d(?:\s?[ap]\.?m\b\.?)?)?'
    r'(?:\\?%|\spercent\b)?)(?![\w/^{]|[.,:]\d)',
    re.ASCII | re.IGNORECASE,
)
# What is computed on the way to a value: she gets 50 - 18 = $32.
COMPUTED = re.compile(
    r'(?<![\w.,$])\(?\$?\d[\d.,]{0,15}%?(?:\s?[-+*/×÷−x]\s?\(?\$?\d[\d.,]{0,15}%?\)?){1,12}'
    r'\s?=\s?(?=\$?-?\d)'
)
DIGIT = re.compile(r'\d')
WORD = re.compile(r'[a-z]{3,}|[\u4e00-\u9fff]')
MEASURE = either(word for word, unit in UNITS.items() if unit != '1' and word != 'in')
MEASURED = re.compile(rf'\b(?:square |cubic )?(?:{MEASURE}|units)\b')
UNIT_BEHIND = re.compile(
    rf'[\s$*]*((?:(?:square|cubic) )?(?:{MEASURE})(?:\s?/\s?(?:{MEASURE}))?)'
    r'(?![\w^]| per )'
)


def extract_answer(
    response: str, question: str = '', *, truncated: bool | None = None
) -> str | None:
    """Return the final answer of a response, LaTeX or plain text, or None if it gives none.

    It is looked for outside thinking blocks; one that is never closed extends to the end. These
    places may hold it, the first that does counts:

    1. the last box, with its neighbours if boxes form a list, or the last phrase that announces an
       answer, if that stands behind the box: *the answer is*, *答案：*, a tag, a field of JSON;
    2. the last line, if it is a value or the row of a table;
    3. what the last sentence states in a known frame, in bold, or in the question's own words;
    4. the whole response, if it is as short as an answer.

    Where the words around do not let a value stand (*not 7*, *7 is wrong*), the whole statement is
    the answer. A response that was cut off has no last line or sentence: what it breaks off with
    is no answer. The time is linear in the response, of which the last 200,000 characters outside
    thinking blocks are read.
    """
    text = _message(spoken(response)[-READ:])
    further = FURTHER.search(text)
    first = _answer(text[: further.start()], question) if further else None
    whole = not truncated
    return first if first and VALUE.search(first) else _answer(text, question, whole=whole)


def _answer(text: str, question: str, *, whole: bool = True) -> str | None:
    box = _last_box(text, question)
    if box is None:
        shown = EMPTY_BOX.sub('', text)
        said = _after_phrase(shown)
        if said and not _is_value(said):  # Answer: Tom has 17 apples left.
            said = _marked(said, question) or said
        return said or _concluded(FENCE.sub('', shown).strip(), question, whole=whole)
    later = _after_phrase(EMPTY_BOX.sub('', box.text[box.end :]))
    if later is not None and VALUE.search(later):
        return later
    before, after = box.text[max(0, box.start - LEAD_LIMIT) : box.start], box.text[box.end :]
    lead, tail = STATEMENT_END.split(before)[-1], STATEMENT_END.split(after[:LEAD_LIMIT])[0]
    if not lead.strip(BLANK) and LEAD_OPEN.search(before):  # a box on a line of its own
        lead = next((one for one in reversed(LEAD_END.split(before)) if one.strip(BLANK)), '')
        lead = lead if PROSE.search(lead) else ''
    asked = after[len(tail) :].startswith(('?', '？'))
    rest = after[len(tail) :]
    tail = EMPTY_TAIL.sub('', tail)
    stands = is_lead(lead, question) and is_tail(tail, question) and not asked
    if stands and not is_taken_back(rest, box.content):
        return _measured(box.content, after)
    return f'{lead}{box.text[box.start : box.end]}{after[:LEAD_LIMIT]}'.strip()


def _concluded(text: str, question: str, *, whole: bool) -> str | None:
    """Return the answer with which a text begins or, if it is whole, ends without announcing it."""
    if whole and text.startswith('{'):
        return _of_json(text)
    shown = ENVIRONMENT_END.search(text) if whole else None
    if shown:
        last = ROW_END.split(text[: shown.start()])[-1].replace('&', '').strip('= ')
        return last if _is_value(last) else None
    explained = EXPLAINED.match(text)
    if (
        explained
        and _is_value(explained[1].strip('* '))
        and not is_taken_back(text[explained.end() :])
    ):
        return explained[1].strip('* ')
    asked = YES_OR_NO.search(question) and not ASKS_MORE.search(question)
    truth = TRUTH.match(text) if asked else None
    found = NAMED_LINES.search(text)
    lines = NAMED_LINE.findall(found[0]) if found and whole else []
    if len({name for name, _ in lines}) == len(lines) > 1:
        return ', '.join(f'{name} = {value.strip()}' for name, value in lines)
    if truth and not SECOND_THOUGHT.search(text[truth.end() :]):
        return truth[1]
    if not whole:
        return None
    congruent = CONGRUENT.search(text) if REMAINDER.search(question) else None
    if congruent:
        return congruent[1]
    items = BULLETS.search(text)
    if items:
        values = [one.strip(' $*.,;') for one in BULLET.split(items[1])[1:]]
        lead = STATEMENT_END.split(text[: items.start()])[-1]
        if len(values) > 1 and all(map(_is_value, values)) and is_lead(lead, question):
            return ', '.join(values)
    text = DISPLAYED.sub(r'\1\2\3', text)
    line = text[text.rfind('\n') + 1 :]
    part = PART.match(line)
    first = part and text.rfind(f'({"1" if part[1].isdigit() else "a"})')
    if part and first is not None and first >= 0:
        return DECORATION.sub('', text[first:])
    if line.lstrip().startswith('|'):
        rows = [
            [cell.strip(' *') for cell in row.strip('| ').split('|')] for row in ROW.findall(text)
        ]
        named = [row for row in rows if len(row) == 2 and row[0].lower() in question.lower()]
        if len(named) > 1 and named[-1] == rows[-1]:
            return ', '.join(f'{name.lower()} = {value}' for name, value in named)
        line = next((cell for cell in reversed(line.split('|')) if cell.strip(' *:-')), '')
    bare = (
        ARROW.sub('', QUOTE.sub('', line)).lstrip('=∴ ').strip('#*|` \t').lstrip('= ').rstrip('.。')
    )
    if _is_value(bare):
        return bare
    sentences = [one.strip() for one in STATEMENT_END.split(text) if one.strip(' *')]
    if len(sentences) > 2 and sentences[-2].startswith(sentences[-1]):  # it was stopped in a loop
        sentences.pop()
    sentence = sentences[-1] if sentences else ''
    told = Counter(sentences)
    if told[sentence] > 2 and len([n for n in told.values() if n > 1]) > 1:
        return None  # a model that repeats itself was stopped somewhere
    chosen = CHOSEN.fullmatch(sentence)
    if chosen:
        return next(filter(None, chosen.groups()))
    asked = text.endswith(('?', '？'))
    value = None if asked else stated_value(sentence)
    if not asked and not (value and _is_value(value)):
        listed = (
            BULLET.match(f'\n{line}') and len(BULLET.findall(text)) > 1
        )  # one of several values
        said = _marked(sentence, question) or _marked(CLAUSE.split(sentence)[-1], question)
        value = value if listed else said or value
    if value and (VALUE.search(value) or f'**{value}**' in sentence) and balanced(value):
        return value
    short = len(text) <= WHOLE_LIMIT and '\n\n' not in text and not SPEAKER.search(text)
    return text or None if short else None


def _of_json(text: str) -> str | None:
    """Return the value of a structured response: of a field that is named so, else of the last."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text if len(text) <= WHOLE_LIMIT else None
    while isinstance(found, dict) and found:
        key = next((key for key in found if RESULT_KEY.search(key)), list(found)[-1])
        found = found[key]
    return str(found) if isinstance(found, (str, int, float)) else text


def _is_value(text: str) -> bool:
    """Tell whether a line is a value, with a unit perhaps, and no prose."""
    value = split_unit(TEXT_COMMAND.sub(r' \1 ', text))[0]
    plain = VALUE.search(value) and not PROSE.search(value) and not CUT_OFF.search(text)
    return bool(plain) and len(text) <= WHOLE_LIMIT and balanced(value)


def _marked(sentence: str, question: str) -> str | None:
    """Return the one value of a sentence, in bold or between words that are the question's."""
    sentence = COMPUTED.sub('', sentence)
    found = list(BOLD.finditer(sentence))
    if not found:
        found = list(PLAIN.finditer(sentence))
        told = _stems(MEASURED.sub(' ', PLAIN.sub(' ', sentence)))
        asked = question and told <= _stems(question) | _stems(' '.join(FRAME_WORDS))
        if not asked and not CONCLUSION.match(sentence):
            return None
    if len(found) != 1:
        return None
    value = next(filter(None, found[0].groups())).strip(': ')
    lead, tail = sentence[: found[0].start()], sentence[found[0].end() :]
    stands = is_lead(lead, question) and is_tail(tail, question)
    if BOLD.fullmatch(found[0][0]) and LINK.search(lead.strip()) and not tail.strip('.。 '):
        return value if stands else None
    return _measured(value, tail) if _is_value(value) and stands else None


def _stems(text: str) -> set[str]:
    return {word.rstrip('s') for word in WORD.findall(text.lower())}


def _measured(value: str, after: str) -> str:
    """Return a value with the unit that stands behind it: its box holds 60, and m/s follows."""
    unit = UNIT_BEHIND.match(after)
    return f'{value} {unit[1]}' if unit and split_unit(value)[1] == '' else value


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


def _last_box(text: str, question: str = '') -> _Box | None:
    found: list[tuple[int, int, str]] = []
    for command, start, end in command_spans(text, BOXES):
        if found and command < found[-1][1]:  # inside the previous box
            continue
        content = text[start:end].strip()  # after the check, so that nested boxes aren't copied
        if content:
            percent = PERCENT.match(text, end + 1)  # \\boxed{50}\\%
            behind = percent.end() if percent else end + 1
            found.append((command, behind, content + ('\\%' if percent else '')))
    if not found:
        bare = list(BARE_BOX.finditer(text))
        if bare:
            return _Box(text, *bare[-1].span(), bare[-1][1])
        return _last_box(text.replace('\\\\', '\\')) if '\\\\boxed' in text else None
    listed = [found.pop()]
    while found:
        between = text[found[-1][1] : listed[-1][0]]
        listing = len(between) <= BETWEEN_LIMIT and BETWEEN_BOXES.fullmatch(between)
        if not listing and not _is_next_part(between, question):
            break
        listed.append(found.pop())
    contents = [without_boxes(content) for *_, content in reversed(listed)]
    names = [BOX_NAME.search(text[max(0, start - 30) : start]) for start, *_ in reversed(listed)]
    if len(listed) > 1 and all(names):  # x = \\boxed{1}, y = \\boxed{2}
        contents = [f'{n[1]} = {content}' for n, content in zip(names, contents, strict=True) if n]
    content = ', '.join(dict.fromkeys(filter(None, contents)))
    return _Box(text, listed[-1][0], listed[0][1], content) if content else None


def _is_next_part(between: str, question: str) -> bool:
    """Tell whether a text between boxes leads to the next case, or part of the question."""
    part = NEXT_PART.search(between) if len(between) <= LEAD_LIMIT else None
    asked = part and (not part[1] or part[1] in re.findall(r'[(（](\w)[)）]', question))
    return bool(asked) and not is_taken_back(between)


def _message(text: str) -> str:
    """Return the first message of a text, without special tokens and a courtesy at the end.

    What JSON escaped once too often is put right.
    """
    text = _before_noise(text)
    if ESCAPED.search(text) and not COMMAND.search(text):
        text = text.replace('\\\\', '\\')
    text = text if '\n' in text.strip() else ESCAPED_LINE.sub('\n', text)
    text = CALCULATED.sub('', text)
    text = EMOJI.sub('', TOKEN_BOX.sub(r'\\boxed{\1}', text))
    pieces = (piece.strip() for piece in SPECIAL_TOKEN.split(SECTION_END.sub('', text)))
    text = next((one for one in pieces if one not in ROLES), '')
    text = (text[:-COURTESY_LIMIT] + COURTESY.sub('', text[-COURTESY_LIMIT:])).strip()
    return BRACKETED_UNIT.sub(r' \1', text)


def _before_noise(text: str) -> str:
    """Return a text up to where tokens of many scripts follow each other without a sense."""
    if text.isascii():
        return text
    first: dict[str | None, int] = {}  # where each script begins
    for match in FOREIGN.finditer(text):
        first.setdefault(match.lastgroup, match.start())
    begins = list(first.values())
    for one, later in zip(begins, begins[NOISE_SCRIPTS - 1 :], strict=False):
        if later - one <= NOISE_WINDOW:
            return text[:one].rstrip(ascii_letters)
    return text


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
    """Return what follows the last phrase that announces an answer."""
    last = max(PHRASE.finditer(text), key=lambda match: match.start(), default=None)
    if last is None:
        return None
    start = last.end() - len(last[0].lstrip())
    lead = STATEMENT_END.split(text[max(0, start - LEAD_LIMIT) : start])[-1]
    lead = DISPLAY_END.split(lead)[-1]
    rest = text[last.end() : last.end() + PHRASE_LIMIT]
    statement = text[start - len(lead) : last.end() + LEAD_LIMIT].strip()
    if last[0][0] in '"\'':
        field = FIELD.match(rest.lstrip())
        return (field[1] or field[2] or '').strip() or None if field else None
    filler = PHRASE_FILL.match(rest)
    rest = rest[filler.end() if filler else 0 :]
    listed = LISTED.match(rest)
    if listed:  # one below the other
        marked = '(' in listed[1][:3]
        return listed[0].strip() if marked else ', '.join(BULLET.split(rest)).strip(' ,\n')
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
    option = OPTION.match(rest)
    stop = SENTENCE_END.search(rest, option.end() if option else 0)
    answer = rest[: stop.start() if stop else len(rest)].strip().strip('*').strip()
    answer += '**' * (answer.count('**') % 2)
    if text[: len(text) - len(text[last.end() :].lstrip())].endswith('\n'):
        answer = DASH.sub('• ', answer)
    answer = CHINESE_OPTION.sub('', QUOTED.sub(r'\1', answer))
    if not answer or '\\boxed{' in answer:
        return None
    return answer if _stands(lead, rest[stop.start() :] if stop else '') else statement


def _stands(lead: str, after: str) -> bool:
    """Tell whether the words before the phrase, and what follows the answer, let it stand."""
    asked = after.startswith(('?', '？'))
    return is_plain_lead(lead) and not asked and not is_taken_back(after)
