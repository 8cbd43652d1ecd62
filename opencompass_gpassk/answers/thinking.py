"""What a model says outside its thoughts."""

from __future__ import annotations

import re

__all__ = ['spoken']

THINK_TAG = re.compile(
    r'<(/?)(?:think|thinking|thought|reasoning)>'
    r'|<\|(begin|end)_of_thought\|>'
    r'|◁(/?)think▷',
    re.IGNORECASE,
)
# Replies in channels, of which the last one called final is meant for the user.
CHANNEL = re.compile(r'<\|channel\|>\s{0,3}(\w{1,40})[^<>]{0,80}<\|message\|>')
CHANNEL_END = re.compile(r'<\|(?:end|return|start|channel)\|>')


def spoken(response: str) -> str:
    """Return the text outside thinking blocks, of which the last may be open at either end.

    A block that was never closed swallows the rest; of a reply in channels the last final one is
    spoken. The time taken is linear in the length of the response.
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
        else:  # the opening tag stands in the prompt
            kept.clear()
            position = tag.end()
    if level == 0:
        kept.append(response[position:])
    return ''.join(kept)


def _final_channel(response: str) -> str:
    """Return the last final channel of a reply in channels, '' if none is; else all of it."""
    channels = list(CHANNEL.finditer(response))
    if not channels:
        return response
    final = next((one for one in reversed(channels) if one.group(1).lower() == 'final'), None)
    if final is None:
        return ''
    end = CHANNEL_END.search(response, final.end())
    return response[final.end() : end.start() if end else len(response)]
