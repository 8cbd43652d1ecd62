"""The report page as one HTML file that loads nothing and only runs its own script.

All of it is rendered here; the script only filters and opens. Texts of problems and
responses are rendered too, and compressed; they are escaped like everything else. A
content-security policy lists the hash of the script, so that a browser runs nothing else, and
forbids the page to fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk import __version__
from opencompass_gpassk.report.page.data import DataSet, PageData, run_facts
from opencompass_gpassk.report.page.drawings import DARK, LIGHT
from opencompass_gpassk.report.page.formulas import with_mathematics
from opencompass_gpassk.report.page.panels import markup, sections, tone
from opencompass_gpassk.report.page.problems import LONGEST_QUESTION

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).with_name('templates')
VERDICTS = {'correct': 'right', 'incorrect': 'wrong'}
TOGETHER = 16  # problems that are compressed together


def write_page(path: Path, data: PageData) -> None:
    """Write the page to a file."""
    path.write_text(render_page(data), encoding='utf-8', errors='replace')


def render_page(data: PageData) -> str:
    """Return the page.

    Mathematics is MathML, which browsers render by themselves. Tables are plain HTML, which screen
    readers read best. Every text that is not markup of ours passes :meth:`PageData.shown`.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup, escape

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: data.shown(value) if type(value) is str else value,
    )
    environment.globals |= {
        'markup': markup,
        'tone': tone,
        'VERDICTS': VERDICTS,
        'mathematics': with_mathematics,
        'run_facts': run_facts,
        'LONGEST_QUESTION': LONGEST_QUESTION,
    }
    script = (TEMPLATES / 'page.js').read_text('utf-8')
    shown = sections(data)
    template = environment.get_template('problem.html.jinja')
    texts = [_texts(template, one['of']) for one in shown if data.texts]
    return environment.get_template('page.html.jinja').render(
        policy=escape(_policy(script)),
        sections=shown,
        data=data,
        package=__version__,
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
            rules.append(f'#s{s}:has(#s{s}k{k}:not(:checked)) .k{k}{{display:none}}')
    return (TEMPLATES / 'page.css').read_text('utf-8') + '\n'.join(rules)


def _texts(template: Template, one: DataSet) -> str:
    """Return a data set's questions, for the filter, and its problems as HTML, compressed.

    It is JSON for a script element; nothing in base 64 can end the element.
    """
    labels = [entry.label for entry in one.entries]
    texts = [
        template.render(problem=problem, labels=labels, order=one.order) for problem in one.problems
    ]
    document = {
        'questions': _packed([problem.question for problem in one.problems]),
        'each': TOGETHER,
        'texts': [_packed(texts[i : i + TOGETHER]) for i in range(0, len(texts), TOGETHER)],
    }
    return json.dumps(document, separators=(',', ':'))


def _packed(texts: list[str]) -> str:
    """Return texts as JSON, deflated, in base 64."""
    text = json.dumps(texts, ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode('utf-8', 'replace'), 9)).decode('ascii')


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
