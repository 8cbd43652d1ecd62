"""The report page as one HTML file that loads nothing and only runs its own script.

All of it is rendered here; the script only sorts, filters and opens. Texts of problems and
responses are rendered too, and compressed; they are escaped like everything else. A
content-security policy lists the hash of the script, so that a browser runs nothing else, and
forbids the page to fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.compare.claims import p_text, signed
from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.report.page.data import PageData
from opencompass_gpassk.report.page.drawings import DARK, LIGHT, MARKERS, percent
from opencompass_gpassk.report.page.formulas import with_mathematics
from opencompass_gpassk.report.page.panels import markup, sections, tone
from opencompass_gpassk.report.page.problems import LONGEST_QUESTION, Answer, PageProblem

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name('templates')
TOGETHER = 16  # problems that are compressed together
# Characters that could end a script element, begin a comment in it, or break a line in it.
IN_HTML = {ord(char): f'\\u{ord(char):04x}' for char in '<>&\u2028\u2029'}


def write_page(path: Path, data: PageData) -> None:
    """Write the page to a file, whole or not at all.

    Raises:
        ValueError: If the path is a folder.
    """
    if path.is_dir():
        raise ValueError(f'{path} is a folder; name a file, such as {path / "report.html"}')
    text = render_page(data)
    with written_whole(path) as part:
        part.write_text(text, encoding='utf-8', errors='replace')


def render_page(data: PageData) -> str:
    """Return the page.

    Mathematics is MathML, which browsers render by themselves. Tables are plain HTML, which screen
    readers read best.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {'percent': percent, 'markup': markup, 'p_text': p_text}
    environment.globals['signed'] = lambda value: signed(math.nan if value is None else value)
    script = (TEMPLATES / 'page.js').read_text('utf-8')
    shown = sections(data.document)
    texts = [
        json_in_html(_texts(environment, one['benchmark'], one['index'], problems))
        for one, problems in zip(shown, data.problems, strict=True)
    ]
    return environment.get_template('page.html.jinja').render(
        policy=_policy(script),
        sections=shown,
        document=data.document,
        markers=MARKERS,
        style=Markup(_style(shown)),
        script=Markup(script),
        texts=map(Markup, texts),
    )


def _style(shown: Sequence[Mapping[str, Any]]) -> str:
    """Return the style, with the models' colours, and the rules that show what is chosen."""
    light = ''.join(f'--c{i}:{colour};' for i, colour in enumerate(LIGHT))
    dark = ''.join(f'--c{i}:{colour};' for i, colour in enumerate(DARK))
    rules = [
        f':root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}'
        '@media print{:root{' + light + '}}',
        *(f'.m{i}{{--m:var(--c{i})}}' for i in range(len(LIGHT))),
    ]
    for one in shown if len(shown) > 1 else ():
        rules.append(f':root:has(#d{one["index"]}:not(:checked)) #s{one["index"]}{{display:none}}')
    for one in shown:
        s = one['index']
        for k in one['ks'] if len(one['ks']) > 1 else ():
            rules.append(f'#s{s}:has(#s{s}k{k}:not(:checked)) #s{s}p{k}{{display:none}}')
    chosen = {curve.index for one in shown for panel in one['panels'] for curve in panel['more']}
    rules += [f'.pick{i}:checked~svg .s{i}{{--g:1;--m:var(--c{i % len(LIGHT)})}}' for i in chosen]
    return (TEMPLATES / 'page.css').read_text('utf-8') + '\n'.join(rules)


def _texts(
    environment: Environment,
    benchmark: Mapping[str, Any],
    index: int,
    problems: Sequence[PageProblem],
) -> dict[str, Any]:
    """Return a benchmark's questions, for the filter, and its problems as HTML, compressed."""
    template = environment.get_template('problem.html.jinja')
    labels = [entry['label'] for entry in benchmark['entries']]
    texts = [
        template.render(_problem(one, told, labels), section=f's{index}')
        for one, told in zip(problems, benchmark['problems'], strict=True)
    ]
    return {
        'questions': _packed([one.question for one in problems]),
        'each': TOGETHER,
        'texts': [_packed(texts[i : i + TOGETHER]) for i in range(0, len(texts), TOGETHER)],
    }


def _problem(
    problem: PageProblem, told: Mapping[str, Any], labels: Sequence[str]
) -> dict[str, Any]:
    version = told['version']
    return {
        'name': f'Problem {told["id"]}' + (f', {version}' if version else ''),
        'groups': ' · '.join(f'{name}: {value}' for name, value in told['groups'].items()),
        'tags': told['tags'],
        'suspect': problem.suspect,
        'agreeing': [labels[place] for place in problem.suspect.models] if problem.suspect else [],
        'question': with_mathematics(problem.question),
        'question_out': max(0, len(problem.problem.question) - LONGEST_QUESTION),
        'gold': with_mathematics(problem.gold, bare=True),
        'gold_out': max(0, len(problem.problem.gold) - LONGEST_QUESTION),
        'entries': [
            {
                'place': place,
                'label': labels[place],
                'c': solved.c,
                'n': solved.n,
                'missing': solved.missing,
                'tone': tone(solved.c, solved.n) if solved.n else -1,
                'answers': [_answer(one) for one in solved.answers],
            }
            for place, solved in sorted(problem.solved.items())
        ],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    parts = answer.response.parts if answer.response else []
    return {
        **vars(answer),
        'shown': with_mathematics(answer.text or '', bare=not answer.left_out),
        'parts': [with_mathematics(part) for part in parts],
    }


def _packed(texts: list[str]) -> str:
    """Return texts as JSON, deflated, in base 64."""
    text = json.dumps(texts, ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode('utf-8', 'replace'), 9)).decode('ascii')


def json_in_html(value: Any) -> str:
    """Return JSON for a script element; nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(',', ':'))
    return text.translate(IN_HTML)


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
