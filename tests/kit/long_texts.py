"""Long texts that repeat what readers look for, and a count of the work that reading them is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

# What the patterns of readers begin with, repeat, and end with.
BAIT = (
    # boxes and braces
    '{', '}', '\\', '\\ ', '\\boxed{', '\\boxed{}', '\\boxed', '\\\\boxed{', '\\boxed{a}, ',
    '\\boxed{a}%', '\\boxed{yes}', '\\boxed{1} ', 'x=\\boxed{', 'x_{1', '\\text{', '\\text{ and ',
    # blanks, lines and headings
    ' ', '\n', '\n ', ' \n', '#', '\n# ', '# a\n\n', '*', '**a**\n', '---\n', '_', '~', '\u2028',
    # announcements of answers and verdicts
    'answer', 'answer ', 'answer is ', 'final ', 'final final ', 'the final ', 'answer: **',
    'answer\n', 'the answer is: $', 'answer is \\(', 'Final judgment: ', 'A', 'A\n', 'Correct ',
    '答案', '答案是', '答：', '故选', '，选', '最终判断', 'I hope it ', '解\n\n', 'a:\n\n',
    # steps and sentences
    '1.', '1.\n2.\n', '①\n②\n', '1. a\n2. b\n\nc\n\n1) a\n2) b\n\nc\n\n', '# 1.\n# 2.\n#',
    'Step 1: ', 'Step 1: Step 2: ', '第一步：a。第二步：b。', '1. a\n2. b\n\nSo:\n\n', '1, ',
    'Step 1: a\nStep 2: b\n\n# c\n\n# d\n\n', '.', '. ', '. A', '!', '。', 'e.g. ', ').".',
    ' because ',
    # mathematics and code
    '$', '$a', '$$', '\\(', '\\[a', '\\begin{a}', '\\end{a}', '`', '`a', '```\n',
    # tags and tokens
    '<', '< ', '<|', '<|a', '<|a|>', '</s>', '<div>', '</a ', '<ab =', '<candidate ', '<answer>',
    '<think>', '</think>', '◁think▷', '<|end|>', '<|channel|>', '<|channel|>final', '<<SYS',
    '<|channel|>final<|message|>', '[', '[ ', '[A_', ']~', '｜', '{gold}',
    # what is no text
    '\x00', '\ud800', '\ue000',
)  # fmt: skip
SIZE = 2_500
SEARCHES = {'find', 'rfind', 'startswith', 'endswith'}  # which may end at once


def operations(function: Callable[..., Any], *arguments: Any) -> int:
    """Return the lines of Python that a call runs, plus the characters that it copies.

    Those are the lengths of the texts whose methods it calls. The work of a regular expression is
    not counted: ``benchmarks/attacks.py --times`` shows it.
    """
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == 'line'
        return line

    def method(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        text = getattr(argument, '__self__', None)
        if event == 'c_call' and isinstance(text, str) and argument.__name__ not in SEARCHES:
            count += len(text)

    tracer, profiler = sys.gettrace(), sys.getprofile()
    sys.settrace(line)
    sys.setprofile(method)
    try:
        function(*arguments)
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
    return count


def is_linear(function: Callable[[str], Any], *parts: str) -> bool:
    """Tell whether twice the text is at most 2.2 times the work.

    Args:
        function: Takes the text.
        parts: Each is repeated, to 2,500 characters and to 5,000, before the next one begins.
    """

    def work(size: int) -> int:
        return operations(function, ''.join(part * (size // len(part)) for part in parts))

    return work(2 * SIZE) <= 2.2 * work(SIZE)
