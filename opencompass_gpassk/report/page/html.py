"""The report page as one HTML file that loads nothing and only runs its own scripts.

Texts of results are data; the page's script inserts them as text, never as HTML. A content-security
policy lists the hashes of that script and of the plotting library, so that a browser runs nothing
else, and forbids the page to fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.report.page.data import PageData

TEMPLATES = Path(__file__).with_name('templates')
SECTIONS = {
    'leaderboard': 'Leaderboard',
    'curves': 'Curves',
    'map': 'Stability map',
    'problem': 'Problem',
    'pair': 'Two models',
    'facts': 'Run facts',
}
TITLE = 'G-Pass@k report'
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
        part.write_text(text, encoding='utf-8')


def render_page(data: PageData) -> str:
    """Return the page.

    Plotly draws the curves. Mathematics is MathML, which browsers render by themselves. Tables are
    plain HTML, which screen readers read best.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    style = (TEMPLATES / 'page.css').read_text('utf-8')
    parts = [path.read_text('utf-8') for path in sorted(TEMPLATES.glob('*.js'))]
    script = "'use strict';\n(() => {\n" + ''.join(parts) + '})();\n'
    plotting, packed = _plotting()
    shown = data.document['benchmarks']
    return environment.get_template('page.html.jinja').render(
        title=TITLE,
        policy=_policy([script, plotting], style),
        sections=list(SECTIONS.items()) if shown else [('facts', SECTIONS['facts'])],
        document=data.document,
        style=Markup(style),
        script=Markup(script),
        plotting=Markup(packed),
        data=Markup(json_in_html(data.document)),
        texts=[Markup(json_in_html(texts)) for texts in data.texts],
    )


def json_in_html(value: Any) -> str:
    """Return JSON for a script element; nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(',', ':'))
    return text.translate(IN_HTML)


def _policy(scripts: list[str], style: str) -> str:
    allowed = ' '.join(_hash(script) for script in scripts)
    # Plotly sets inline styles; they can fetch nothing.
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=1)
def _plotting() -> tuple[str, str]:
    """Return the source of Plotly, and the source compressed and in base 64."""
    from plotly.offline import get_plotlyjs

    source = get_plotlyjs()
    return source, base64.b64encode(zlib.compress(source.encode(), 9)).decode('ascii')
