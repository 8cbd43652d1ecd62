"""Balanced braces of LaTeX text, found in one pass over it."""

from __future__ import annotations

import re

__all__ = ['balanced', 'command_spans', 'depth', 'split_top']

BRACE = re.compile(r'\\[a-zA-Z]+|\\.|[{}]', re.DOTALL)
BRACKET = re.compile(r'\\[a-zA-Z]+|\\.|[][(){}]', re.DOTALL)
OPEN, CLOSE = frozenset('([{') | {'\\{'}, frozenset(')]}') | {'\\}'}


def command_spans(text: str, commands: frozenset[str]) -> list[tuple[int, int, int]]:
    """Find ``\\command{…}`` with balanced braces: (start of the command, start, end of content).

    Spans are ordered by start; the content excludes its braces. The time is linear in the text.
    """
    spans = []
    stack: list[tuple[int, int]] = []
    pending = -1
    pending_end = -1
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


def depth(text: str) -> int:
    """Return the depth of nested brackets of any kind, whether or not they match."""
    deepest = level = 0
    for token in BRACKET.finditer(text):
        if token.group() in OPEN:
            level += 1
            deepest = max(deepest, level)
        elif token.group() in CLOSE:
            level = max(level - 1, 0)
    return deepest


def split_top(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split at the separators outside brackets and environments."""
    parts, start, level, position = [], 0, 0, 0
    while position < len(text):
        match = separator.match(text, position) if level == 0 else None
        if match and match.end() > position:
            parts.append(text[start : match.start()])
            start = position = match.end()
            continue
        token = BRACKET.match(text, position)
        if not token:
            position += 1
            continue
        word = token.group()
        if word in OPEN or word == '\\begin':
            level += 1
        elif word in CLOSE or word == '\\end':
            level -= 1
        position = token.end()
    return [*parts, text[start:]]


def balanced(text: str) -> bool:
    """Tell whether all brackets close; one kind may close another."""
    level = 0
    for token in re.finditer(r'\\.|[][(){}]', text):
        word = token.group()
        if word in '([{' or word == '\\{':
            level += 1
        elif word in ')]}' or word == '\\}':
            level -= 1
            if level < 0:
                return False
    return level == 0
