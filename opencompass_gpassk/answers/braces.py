"""Brackets, environments and words of LaTeX text, found in one pass over it."""

from __future__ import annotations

import re

BRACE = re.compile(r'\\[a-zA-Z]+|\\.|[{}]', re.DOTALL)
BRACKET = re.compile(r'\\[a-zA-Z]+|\\.|[][(){}]', re.DOTALL)
# Words in mathematics; the beginning and the end of an environment, with the columns of an array.
TEXT_COMMAND = re.compile(r'\\(?:text|mathrm|mbox)\{([^{}]*)\}')
ENVIRONMENT = re.compile(r'\\(?:begin|end)\{\w*\}(?:\{\w*\})?')
BOXES = frozenset({'\\boxed', '\\fbox', '\\framebox'})
OPEN, CLOSE = frozenset('([{') | {'\\{'}, frozenset(')]}') | {'\\}'}


def command_spans(text: str, commands: frozenset[str]) -> list[tuple[int, int, int]]:
    """Find ``\\command{…}`` with balanced braces: (start of the command, start, end of content).

    Spans are ordered by start; the content excludes its braces. The time is linear in the text.
    """
    spans = []
    stack: list[tuple[int, int]] = []
    pending = pending_end = -1
    for token in BRACE.finditer(text):
        word = token.group()
        if word in commands:
            pending, pending_end = token.start(), token.end()
        elif word == '{':
            at_command = pending >= 0 and text[pending_end : token.start()].isspace()
            at_command |= pending_end == token.start()
            stack.append((pending if at_command else -1, token.end()))
            pending = pending_end = -1
        elif word == '}':
            if stack:
                command, start = stack.pop()
                if command >= 0:
                    spans.append((command, start, token.start()))
        elif word[0] == '\\':
            pending = pending_end = -1
    return sorted(spans)


def without_boxes(content: str) -> str:
    """Return a text with the content of each box in its place."""
    spans = command_spans(content, BOXES)
    skip = {index for command, start, _ in spans for index in range(command, start)}
    skip |= {end for _, _, end in spans}
    if not skip:
        return content
    kept = [char for position, char in enumerate(content) if position not in skip]
    return ''.join(kept).strip()


def depth(text: str) -> int:
    """Return the depth of nested brackets of any kind, whether or not they match."""
    deepest = level = 0
    for token in BRACKET.finditer(text):
        level = max(level + _step(token[0]), 0)
        deepest = max(deepest, level)
    return deepest


def balanced(text: str) -> bool:
    """Tell whether all brackets close; one kind may close another."""
    level = 0
    for token in BRACKET.finditer(text):
        level += _step(token[0])
        if level < 0:
            return False
    return level == 0


def _step(token: str) -> int:
    return (token in OPEN) - (token in CLOSE)


def split_top(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split at the separators outside brackets and environments; the parts have no outer spaces."""
    return split_with(text, separator)[0]


def split_with(text: str, separator: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """Split as :func:`split_top` does, and return the parts and the separators between them."""
    parts, separators = [], []
    start = level = position = 0
    while position < len(text):
        match = separator.match(text, position) if level == 0 else None
        if match and match[0]:
            parts.append(text[start : match.start()].strip())
            separators.append(match[0])
            start = position = match.end()
            continue
        token = BRACKET.match(text, position)
        if token:
            level += _step(token[0]) + (token[0] == '\\begin') - (token[0] == '\\end')
        position = token.end() if token else position + 1
    return [*parts, text[start:].strip()], separators
