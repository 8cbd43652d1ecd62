"""What a response says: its texts outside of thoughts, whatever marks a model sets around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Marks: <name>, </name>, <|name|> with a role behind it, ◁name▷, [NAME]; what is left of the
# channels of gpt-oss when its special tokens are removed.
MARK = re.compile(
    r'<(?P<tag>/?[^\W\d][\w:-]{0,40})\s?/?>|◁(?P<moon>/?\w{1,20})▷|\[(?P<bracket>/?[A-Z_]{3,20})\]'
    r'|<[|｜](?P<token>/?[\w▁/ -]{1,40})[|｜]?>(?:\s*(?P<role>[a-z]{4,20})(?=\s*(?:<|\n|\Z)))?'
    r'|<(?P<closing>channel)\|>'
    r'|(?P<left>assistant\s?final)(?=[^a-z\s])|\A(?P<analysis>analysis)(?=[A-Z])'
)
# What a mark does, by its name and role; any other name is a border. HTML is no mark.
THOUGHT = '(?:think|thought|reason|reflect|scratch|monologue|analysis|commentary|思考|推理)'
KIND = re.compile(
    rf'(?P<unthought>(?:/|.*end).*{THOUGHT}.*|.*final|/inst)|(?P<thought>.*{THOUGHT}.*)'
    r'|(?P<user>.*(?:user|human|system)|inst)|(?P<assistant>.*(?:assistant|model))'
    r'|(?P<end>eot.*|eos.*|im_end.*|.*end.?of.*|end|return|/s)'
    r'|(?P<answer>(?:[^/]*[_ ])?(?:answer|result|solution|response|output|ans|答案))'
    r'|(?P<border>/.*)',
    re.IGNORECASE,
)
HTML = re.compile(
    r'</?(?:[abiu]|[bh]r|p|em|strong|div|span|font|center|code|pre|[uo]l|li|t[drh]|tbody|table|h\d'
    r'|details|summary|img|image\d*|(?P<kept>su[bp]))(?:\s[^<>]*)?/?>',
    re.IGNORECASE,
)
SAID = ('said', 'answer')
SPOKEN = ('unthought', 'assistant', 'answer')  # these marks end a thought
BOX_TOKENS = re.compile(r'<\|begin_of_box\|>(.*?)<\|end_of_box\|>', re.DOTALL)  # of GLM


def segments(response: str) -> list[tuple[str, str]]:
    """Return the texts between the marks of a response, each with its kind.

    The kind is ``thought``, ``answer`` in the tag of an answer, ``further`` behind the end of the
    model's turn, or ``said``.
    """
    text = BOX_TOKENS.sub(r'\\boxed{\1}', response)
    found: list[tuple[str, str]] = []
    start, state = 0, 'said'
    for begin, end, kind in _marks(text):
        piece, start = text[start:begin], end
        if piece.strip():
            found.append((state, piece))
        if kind == 'unthought' and state == 'said':  # the opening mark is in the prompt
            found = [('thought', one) for _, one in found]
        if kind in ('end', 'user') and state in ('said', 'answer') and found:
            state = 'further'
        elif state != 'further' and (state != 'thought' or kind in SPOKEN):
            state = {'thought': 'thought', 'user': 'thought', 'answer': 'answer'}.get(kind, 'said')
    return [(text, kind) for kind, text in found]


def _marks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where each mark begins and ends, and what it does; the last one is the text's end."""
    kinds: dict[str, str] = {}
    for mark in MARK.finditer(text):
        if mark[0] not in kinds:
            kinds[mark[0]] = _kind(mark)
        if kinds[mark[0]]:
            yield *mark.span(), kinds[mark[0]]
    yield len(text), len(text), 'end'


def _kind(mark: re.Match[str]) -> str:
    """Return what a mark does; '' if it is none."""
    name = '/thought' if mark['closing'] else ' '.join(filter(None, mark.groups()))
    known = KIND.fullmatch(name)
    plain = (mark['bracket'] or name.isupper()) and not known  # <CORRECT>, [A_B]
    if plain or HTML.fullmatch(mark[0]):
        return ''
    return (known.lastgroup if known else None) or 'border'


def spoken(response: str) -> str:
    """Return what a response says: its texts outside of thoughts, without marks around them.

    A thought that never ends extends to the end of the response. The time is linear in its length.
    """
    pieces = [text for text, kind in segments(response) if kind in SAID]
    return pieces[0] if len(pieces) == 1 else '\n'.join(one.strip() for one in pieces)


def ending(response: str) -> str:
    """Return what a response says; of one that says nothing, its thoughts without their marks."""
    pieces = [text for text, _ in segments(response)]
    return spoken(response).strip() or '\n'.join(pieces).strip()
