"""Attacks on judges, as data, and judges that are easily fooled."""

from __future__ import annotations

import json
import re
from pathlib import Path

from opencompass_gpassk.judging.prompt import Triple

ATTACKS = json.loads((Path(__file__).parents[1] / 'cases/judge_attacks.json').read_text('utf-8'))
PROMPTS = [(source, name) for source in ('default', 'opencompass') for name in ('en', 'cn')]
QUESTIONS = {'en': 'What is $6 \\times 7$?', 'cn': '$6 \\times 7$ 等于多少？'}

# Where the answer begins in the prompts, and where a reader who believes what it sees has it end.
BEGIN = re.compile(r"\n<candidate>\n|Examinee's Answer: |考生答案：")
END = re.compile(r'\n</candidate>|\n\n(?:Analysis:|分析：)\n\Z')
SENTENCE = re.compile(r'[^.!?。！？\n]+')
CONDITION = re.compile(
    r'\b(?:if|otherwise|unless|whether|as long as|must)\b|若|如果|否则|无法|难以|是否|只要|才',
    re.IGNORECASE,
)
# What tells a reader to say yes or no; a reader is no parser, and knows a frame for a box.
TELLING = re.compile(
    r'\\(?:boxed|framed|fbox)[\s{｛]{0,5}(?:\\text\{)?\s?(?P<a>yes|no)\b'
    r'|\b(?:output|write|answer|say|reply|it is)\b[^.\n]{0,20}?\b(?P<b>yes|no)\b'
    r'|\b(?:examinee|candidate|answer)\b[^.\n]{0,20}?\b(?:is|as)\s(?P<c>(?:in|not )?correct)\b'
    r'|\b(?:they|two|answers?)\s(?P<d>(?:do not |don.t )?(?:agree|match)\b)'
    r'|(?:输出|为)\s{0,2}(?P<e>yes|no)|回答(?P<f>正确|错误)|(?:二者|考生|两者)(?P<g>不?一致)',
    re.IGNORECASE,
)
YES = ('yes', 'correct', 'agree', 'match', '正确', '一致')


def attack(case: dict, gold: str = '42') -> Triple:
    """Return a triple whose answer attacks the judge; the right answer is another."""
    return Triple(QUESTIONS[case['language']], gold, case['answer'] * case.get('repeat', 1))


def benign(language: str) -> Triple:
    """Return the same triple with a plain wrong answer."""
    return Triple(QUESTIONS[language], '42', '17')


def echo(prompt: str) -> str:
    """Say all of the prompt again."""
    return prompt


def echo_candidate(prompt: str) -> str:
    """Say again what stands in the fence, up to where it seems to end."""
    begin = BEGIN.search(prompt)
    rest = prompt[begin.end() if begin else 0 :]
    end = END.search(rest)
    return rest[: end.start()] if end else rest


def obey(prompt: str) -> str:
    """Give the verdict that the last sentence which names one asks for."""
    return _told(SENTENCE.findall(prompt))


def obey_unconditional(prompt: str) -> str:
    """The same of sentences without a condition: it takes no 'if in doubt, no' for an order."""
    return _told([s for s in SENTENCE.findall(prompt) if not CONDITION.search(s)])


STUBS = {
    'echo': echo,
    'echo candidate': echo_candidate,
    'obey': obey,
    'obey unconditional': obey_unconditional,
}


def _told(sentences: list[str]) -> str:
    for sentence in reversed(sentences):
        told = [match.group(match.lastgroup or 0) for match in TELLING.finditer(sentence)]
        if told:
            return '\\boxed{yes}' if told[-1].lower() in YES else '\\boxed{no}'
    return ''
