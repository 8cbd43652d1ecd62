"""The report page in a real browser: what it shows, how it is used, and what can't harm it."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from made_results import flat, make_version_result
from made_runs import MadeRun
from made_sweep import GREEDY, SAMPLED, Sweep, make_sweep
from report_browser import CHROMIUM, browser, opened, until

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.report.cells import shown_cell
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import TEMPLATES, write_page

pytest.importorskip('playwright', reason='playwright is not installed')
axe = pytest.importorskip('axe_playwright_python.sync_playwright')
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason='chromium is not installed')

MODELS = {'alpha': -0.5, 'beta': 0.5, 'gamma': 2.0}
WAYS: dict[str, dict[str, Any]] = {
    'light': {'color_scheme': 'light'},
    'dark': {'color_scheme': 'dark'},
    'phone': {'viewport': {'width': 390, 'height': 844}, 'has_touch': True},
}
VIEWS = ('leaderboard', 'curves', 'map', 'problem', 'pair')
DRAWN = "performance.getEntriesByName('curves').length > 0"


@pytest.fixture(scope='module')
def chromium() -> Iterator[Any]:
    """One Chromium for all tests."""
    with browser() as started:
        yield started


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The page of a sweep, and model → its sampled result, with the greedy accuracy."""
    folder = tmp_path_factory.mktemp('sweep')
    sweep = Sweep(problems=24, respond=lambda rng: f'{"We add one. " * rng.choice([1, 300])}')
    run = make_sweep(folder / '20260101_000000', MODELS, sweep).folder
    write_page(folder / 'report.html', page_data([run]))
    results = {}
    for model in MODELS:
        results[model] = flat(json.loads((run / f'results/{model}/{SAMPLED}.json').read_text()))
        greedy = json.loads((run / f'results/{model}/{GREEDY}.json').read_text())
        results[model]['greedy'] = greedy['accuracy']
    return folder / 'report.html', results


def board(tab: Any) -> dict[str, dict[str, str]]:
    """Model → heading → first line of the cell, of the leaderboard as it is shown."""
    rows = tab.evaluate(
        """() => [...document.querySelectorAll('#board tr')].map((row) =>
            [...row.children].map((cell) => (cell.querySelector('button') || cell)
                .childNodes[0].textContent.trim()))"""
    )
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}


def number(text: str) -> float:
    """Return the figure in a cell, without its marks."""
    return float(text.strip('★≈† ').replace('−', '-'))


@pytest.mark.slow
@pytest.mark.parametrize('way', WAYS)
def test_every_view_shows_the_results(chromium: Any, made: Any, way: str, tmp_path: Path) -> None:
    """Leaderboard, curves, map, problem and pair hold the numbers of the result JSON.

    Pictures of them are left in the folder that GPASSK_PICTURES names.
    """
    page, results = made
    with opened(chromium, page, **WAYS[way]) as tab:
        shown = board(tab)
        assert list(shown) == sorted(MODELS, key=lambda m: -results[m]['G-Pass@4_1.0'])
        assert ''.join(shown['gamma'].values()).count('★') == 1
        for k, tau, group in (('4', '1.0', ''), ('2', '0.5', 'en')):
            for name, value in (('k', k), ('tau', tau), ('group', group)):
                tab.select_option(f'#{name}', value)
            prefix = f'{group}/' if group else ''
            for model, row in board(tab).items():
                result = results[model]
                for heading, key in (
                    ('average@n', 'accuracy'),
                    (f'pass@{k}', f'pass@{k}'),
                    (f'G-Pass@{k}_{tau}', f'G-Pass@{k}_{tau}'),
                    (f'mG-Pass@{k}', f'mG-Pass@{k}'),
                ):
                    assert number(row[heading]) == pytest.approx(result[prefix + key], abs=0.051)
                # Only the primary figure is tested, on all problems.
                assert ('★' in ''.join(row.values())) <= (not group and (k, tau) == ('4', '1.0'))
                if not group:
                    assert number(row['greedy']) == pytest.approx(result['greedy'], abs=0.051)
        tab.select_option('#group', '')
        assert 'mean share of right responses' in tab.locator('#meanings').text_content()
        look_at_curves(tab, results)
        look_at_problem(tab, results)
        look_at_pair(tab, results)
        wide = tab.evaluate('document.documentElement.scrollWidth - innerWidth')
        assert wide <= 0, f'the page is {wide} pixels wider than the screen'
        assert tab.told == []
        words = tab.locator('body').inner_text().split()
        assert not {'null', 'undefined', 'NaN', '[object'} & set(words)
        check_accessibility(tab)
        take_pictures(tab, Path(os.environ.get('GPASSK_PICTURES') or tmp_path), way)


def test_questions_in_versions_lead_with_understanding(chromium: Any, tmp_path: Path) -> None:
    """And OOR stands beside what it is by chance, as (T/(m + 1)) says."""
    run = MadeRun(tmp_path / '20260101_000000', ['reciting'], ['RV-MATH-greedy-n1'])
    result = make_version_result({'a': [1, 0, 0, 0, 0, 0], 'b': [1, 1, 0, 0, 0, 0]}, greedy=True)
    run.result('reciting', 'RV-MATH-greedy-n1', without_nan(result))
    write_page(tmp_path / 'report.html', page_data([run.folder]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        headings = list(board(tab)['reciting'])
        assert headings[headings.index('n') + 1] == 'understanding'
        assert '100.0 (chance 25.0)' in tab.locator('#board').inner_text()
        assert (
            'if the original is like one of its versions' in tab.locator('#board-hint').inner_text()
        )


def take_pictures(tab: Any, folder: Path, way: str) -> None:
    """Save a picture of each view as it stands after it was clicked through."""
    folder.mkdir(parents=True, exist_ok=True)
    for view in VIEWS:
        path = folder / f'{way}_{view}.png'
        tab.locator(f'section#{view}').screenshot(path=path)
        assert path.stat().st_size > 2000


def look_at_curves(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """The curves' points are the figures; a model can be switched off."""
    until(tab, DRAWN)
    lines = tab.evaluate("document.getElementById('plot').data.map((one) => [one.name, one.y])")
    for model, values in lines:
        wanted = [results[model][f'G-Pass@2_{tau}'] for tau in results[model]['taus']]
        assert values == pytest.approx(wanted)
    swatches = tab.evaluate(
        "[...document.querySelectorAll('.swatch')].map((one) => one.innerHTML.replaceAll('#', ''))"
    )
    assert len(set(swatches)) == len(MODELS)
    tab.uncheck('#models input[value="0"]')
    until(tab, "document.getElementById('plot').data.length === 2")
    assert tab.locator('#cells thead th').all_inner_texts()[1:] == ['beta', 'gamma']
    tab.check('#models input[value="0"]')


def look_at_problem(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """The map holds c/n; a cell opens the problem, whose answers are those of the result."""
    cells = tab.evaluate(
        """() => [...document.querySelectorAll('#cells tbody tr')].map((row) => [
            row.querySelector('button').textContent,
            ...[...row.querySelectorAll('td')].map((cell) => cell.textContent)])"""
    )
    details = {m: {row['problem_id']: row for row in r['details']} for m, r in results.items()}
    assert len(cells) == 24
    for problem, *shares in cells:
        rows = [details[model][problem] for model in MODELS]
        assert shares == [f'{row["c"]}/{row["n"]}' for row in rows]
    spread = [sum(p * (1 - p) for p in map(share, row[1:])) for row in cells]
    assert spread == pytest.approx(sorted(spread, reverse=True))
    tab.fill('#filter', 'amc en')
    assert {row[0].split('/')[0] for row in cells if row[0].startswith('AMC_en')} == {
        name.split('/')[0] for name in tab.locator('#cells tbody button').all_inner_texts()
    }
    tab.fill('#filter', '')
    opened_row = details['beta'][cells[0][0]]
    tab.locator('#cells tbody tr').first.locator('td').nth(1).click()
    until(tab, 'document.activeElement.id === "problem-title"')
    assert tab.inner_text('#problem-title') == f'Problem {cells[0][0]}'
    assert tab.locator('#problem .question math mfrac').count() == 1
    assert tab.inner_text('#gold') == opened_row['gold'].strip('$')
    box = tab.locator('.entry[open]')
    assert box.locator('summary').inner_text() == (
        f'beta: {opened_row["c"]} of {opened_row["n"]} right'
    )
    answers = [row.split('\t') for row in box.locator('tbody tr').all_inner_texts()]
    wanted = opened_row['answers']
    assert answers[: len(wanted)] == [[str(v) for v in answer.values()] for answer in wanted]
    sides = box.locator('.response .text').all_inner_texts()
    assert f'boxed{{{opened_row["gold"].strip("$")}}}' in sides[0]
    assert 'boxed{9' in sides[1]
    for more in box.locator('button.more').all():
        more.click()
    assert all('We add one. ' in text for text in box.locator('.text').all_inner_texts())


@pytest.mark.slow
def test_the_page_says_who_may_be_the_most_stable(chromium: Any, tmp_path: Path) -> None:
    """As its ranks do, whatever k is shown; no other figure has ranks, and no other judge."""
    models = {'<b>low</b>': -3.0, 'near': 2.0, 'top': 2.2, 'other': 9.0}
    run = make_sweep(tmp_path / '1', models, Sweep(problems=60)).folder
    for path in (run / 'results/other').glob('*.json'):
        result = json.loads(path.read_text())
        result['signature']['judge'] = 'kind'
        path.write_text(json.dumps(result))
    write_page(tmp_path / 'report.html', page_data([run]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        rows = board(tab)
        assert rows['other']['ranks'] == '–'
        first = [name for name, row in rows.items() if row['ranks'].startswith('1')]
        first.sort(key=lambda name: -number(rows[name]['G-Pass@4_1.0']))
        assert {*first} == {'near', 'top'}
        claim = 'may be the most stable of the 3 models compared by G-Pass@4_1.0: '
        for k in ('2', '4'):
            tab.select_option('#k', k)
            assert tab.inner_text('#claim') == claim + ', '.join(first)
            tab.click('#board button[data-key="loss@{k}"]')
            rows = board(tab)
            assert not any('ranks' in row for row in rows.values())
            assert not {*'★≈'} & {*''.join(row[f'loss@{k}'] for row in rows.values())}
        tab.select_option('#group', 'en')
        assert tab.inner_text('#claim') == ''
        tab.select_option('#second', '2')
        told = tab.inner_text('#pair .claim')
        assert told.startswith('top is better than <b>low</b> in G-Pass@4_1.0')
        seen = [r.split('\t') for r in tab.locator('#differences tbody tr').all_inner_texts()]
        assert [row[5] for row in seen if 'loss' in row[0]] == ['–']
        tab.select_option('#second', '3')
        assert tab.locator('#pair .claim').count() == 0
        assert 'different judges: rule and kind' in tab.inner_text('#pair .notice')
        assert {
            row.split('\t')[5] for row in tab.locator('#differences tbody tr').all_inner_texts()
        } == {'–'}
        assert tab.told == []


def share(cell: str) -> float:
    """Return the share that a cell such as 3/8 shows."""
    right, of = map(int, cell.split('/'))
    return right / of


def look_at_pair(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """The difference of two models is that of their figures; the other way round, its negative."""
    for first, second in ((0, 2), (2, 0)):
        tab.select_option('#first', str(first))
        tab.select_option('#second', str(second))
        rows = [r.split('\t') for r in tab.locator('#differences tbody tr').all_inner_texts()]
        a, b = (results[list(MODELS)[i]] for i in (first, second))
        seen = {row[0]: row for row in rows}
        for name in ('mG-Pass@2', 'G-Pass@2_0.5'):
            assert number(seen[name][1]) == pytest.approx(a[name], abs=0.051)
            assert number(seen[name][2]) == pytest.approx(b[name], abs=0.051)
            assert number(seen[name][3]) == pytest.approx(b[name] - a[name], abs=0.051)
            assert seen[name][6] == '24'
            low, high = (number(end) for end in seen[name][4].partition(',')[0].split(' to '))
            assert low <= b[name] - a[name] <= high
    gaps = [number(row.split('\t')[3]) for row in tab.locator('#gaps tr').all_inner_texts()[1:]]
    assert [abs(gap) for gap in gaps] == sorted((abs(gap) for gap in gaps), reverse=True)


def check_accessibility(tab: Any) -> None:
    """No rule of axe-core is broken: names, labels, landmarks, contrast and the like."""
    found = axe.Axe().run(tab).response['violations']
    told = [
        f'{rule["id"]}: {node["target"]} {node.get("failureSummary", "")}'
        for rule in found
        for node in rule['nodes']
    ]
    assert told == []


@pytest.mark.slow
def test_the_keyboard_is_enough(chromium: Any, made: Any) -> None:
    """Without a mouse a column is sorted, a problem opened, and the next one."""
    page, results = made
    with opened(chromium, page) as tab:
        tab.keyboard.press('Tab')
        assert tab.evaluate('document.activeElement.className') == 'skip'
        tab.focus('#board button[data-key="greedy"]')
        for way, sign in (('descending', -1), ('ascending', 1)):
            tab.keyboard.press('Enter')
            assert tab.evaluate('document.activeElement.dataset.key') == 'greedy'
            assert tab.locator(f'#board th[aria-sort={way}]').inner_text().startswith('greedy')
            values = [results[model]['greedy'] for model in board(tab)]
            assert values == sorted(values, key=lambda value: sign * value)
        tab.locator('#cells tbody button').first.focus()
        tab.keyboard.press('Enter')
        until(tab, 'document.activeElement.id === "problem-title"')
        first = tab.inner_text('#problem-title')
        tab.focus('.steps button:not([disabled])')
        tab.keyboard.press('Enter')
        until(
            tab,
            'before => document.getElementById("problem-title").textContent !== before',
            arg=first,
        )
        assert tab.told == []


@pytest.mark.slow
def test_it_prints_and_reads_without_scripts(chromium: Any, made: Any) -> None:
    """On paper there are no controls; without scripts the run facts and a word of why remain."""
    page, _ = made
    with opened(chromium, page) as tab:
        tab.emulate_media(media='print')
        assert not tab.locator('#choices').is_visible()
        assert tab.locator('#board').is_visible()
        shut = 'document.querySelectorAll("details:not([open])").length'
        before = tab.evaluate(shut)
        assert before > 0
        tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate(shut) == 0
        assert tab.locator('.entry table').count() == len(MODELS)
        tab.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert tab.evaluate(shut) == before
        assert len(tab.pdf()) > 10_000
    with opened(chromium, page, java_script_enabled=False) as tab:
        assert 'does not run' in tab.inner_text('body')
        tab.locator('#facts summary').first.click()
        assert tab.locator('#facts dd').first.is_visible()


def test_figures_are_those_of_the_tables(chromium: Any) -> None:
    """The page rounds as the tables do, halves to the even digit."""
    script = TEMPLATES.joinpath('1_state.js').read_text()
    percent = script[script.index('function percent') :].partition('\n}\n')[0]
    values = [sign * step / 80 for step in range(2000) for sign in (1, -1)]
    values += [random.Random(0).uniform(0, 100) for _ in range(500)]
    with closing(chromium.new_page()) as tab:
        shown = tab.evaluate(
            f'(all) => {{ const isNumber = () => true; {percent}}} return all.map(percent); }}',
            values,
        )
    assert shown == [shown_cell(float(value), 1) for value in values]


@pytest.mark.slow
def test_many_and_long_answers_can_be_opened(chromium: Any, tmp_path: Path) -> None:
    """What is folded, long answers and those beyond the most frequent, opens at a button."""
    answers = [*map(str, range(30)), '7' * 900]
    row = {'question': 'What?', 'answer': '1', 'samples': [f'\\boxed{{{a}}}' for a in answers]}
    (tmp_path / 'mine.jsonl').write_text(json.dumps(row) + '\n')
    scored = tmp_path / 'mine.json'
    assert main(['score', str(tmp_path / 'mine.jsonl'), '-k', '2', '-o', str(scored)]) == 0
    write_page(tmp_path / 'report.html', page_data([scored]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        rows = tab.locator('.answers tbody tr')
        until(tab, "document.querySelectorAll('.answers tbody tr').length === 22")
        tab.get_by_role('button', name='Show all 31 answers').click()
        assert rows.count() == 31
        tab.get_by_role('button', name='Show all 900 characters').click()
        assert {text.split('\t')[0] for text in rows.all_inner_texts()} == set(answers)


class Counting(ThreadingHTTPServer):
    """A server that hands out one page and notes everything else that it is asked for."""

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), Handler)
        self.page = b''
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    """Of the server above."""

    def do_GET(self) -> None:
        """Hand out the page."""
        assert isinstance(self.server, Counting)
        self.server.asked.append(self.path)
        self.send_response(200 if self.path == '/' else 404)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.end_headers()
        if self.path == '/':
            self.wfile.write(self.server.page)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def attacks(at: str) -> list[str]:
    """Return texts that would run a script or fetch something, if they were taken for markup."""
    return [
        f'</script><script>window.hit=1;fetch("{at}/s")</script>',
        f'<img src="{at}/i" onerror="window.hit=2">',
        f'<svg onload="window.hit=3"><image href="{at}/v"/></svg>',
        f'<a href="javascript:window.hit=4">x</a> [y](javascript:window.hit=5) {at}/link',
        f'<iframe srcdoc="<script>parent.hit=6</script>"></iframe><link href="{at}/l">',
        f'<style>@import url({at}/c); body{{background:url({at}/b)}}</style>',
        f'$\\text{{<img src={at}/m onerror=hit=7>}}$ $\\href{{javascript:window.hit=8}}{{x}}$',
        f'<math><mtext></mtext><mglyph><style><img src="{at}/g" onerror="hit=9"></style></mglyph>',
        '\u202e\u2066gnp.exe\u2069 \u200f \u2028\u2029 \ud800 \x00',
        '\'"`; window.hit=10; // --> <!-- ]]> {{7*7}} ${window.hit=11}',
        '__proto__',
        'constructor',
    ]


@pytest.fixture(scope='module')
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Counting, str, int]]:
    """A server with the page of a hostile run, its address, and how many texts attack."""
    server = Counting()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f'http://127.0.0.1:{server.server_port}'
    texts = attacks(at)
    sweep = Sweep(
        problems=2 * len(texts),
        n=4,
        k=(2,),
        benchmark=f'<img src={at}/bench onerror=window.hit=12>',
        question=lambda i: texts[i % len(texts)],
        respond=lambda rng: rng.choice([*texts, 'x' * 1_000_000]),
        wrong=lambda i: '9' * 1_000_000 if i == 91 else texts[i % len(texts)],
    )
    folder = tmp_path_factory.mktemp('hostile')
    run = make_sweep(folder / '1', dict.fromkeys(NAMES, 0.0), sweep)
    change_warnings(run.folder, texts)
    write_page(folder / 'report.html', page_data([folder]))
    server.page = (folder / 'report.html').read_bytes()
    yield server, at, len(texts)
    server.shutdown()
    server.server_close()


NAMES = ('<img src=x onerror=window.hit=13>', '<b onclick=hit=14>bold %{y}<b>', '__proto__')


@pytest.mark.slow
@pytest.mark.parametrize('policy', [True, False], ids=['with its policy', 'without'])
def test_a_hostile_run_does_nothing(
    policy: bool, chromium: Any, hostile: tuple[Counting, str, int]
) -> None:
    """Texts of problems, answers, responses and names run no script and send no request.

    The policy is the second fence: without it nothing happens either.
    """
    server, at, count = hostile
    server.asked.clear()
    assert len(server.page) < 4_000_000
    with opened(chromium, at, bypass_csp=not policy) as tab:
        requests: list[str] = []
        tab.on('request', lambda request: requests.append(request.url))
        until(tab, DRAWN)
        assert {name[:10] for name in board(tab)} == {name[:10] for name in NAMES}
        seen = ''
        for index in range(0, 2 * count, 6 if policy else 2):
            tab.select_option('#order', 'given')
            row = tab.locator('#cells tbody tr').nth(index)
            title = row.locator('button').inner_text()
            row.locator('button').click()
            until(tab, TITLED, arg=f'Problem {title}')
            tab.evaluate(EXPAND)
            seen += tab.inner_text('#problem')
        tab.select_option('#first', '2')
        tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        tab.evaluate("Plotly.Fx.hover('plot', [{ curveNumber: 1, pointNumber: 0 }])")
        until(tab, HOVERED, arg='‹b onclick=hit=14›bold %{y}‹b›')
        tab.hover('#plot')
        tab.wait_for_timeout(200)
        assert tab.evaluate('window.hit') is None
        assert tab.evaluate(MARKUP) == []
        for text in ('window.hit=', '⟨U+202E⟩', 'characters are left out', '</script>'):
            assert text in seen
        assert '\u202e' not in tab.content()
        fetched = tab.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
        told = tab.told
    # Where nothing forbids it, the browser asks for an icon by itself.
    icon = [] if policy else ['/favicon.ico']
    assert {address.removeprefix(at) for address in [*fetched, *requests]} <= set(icon)
    assert set(server.asked) <= {'/', *icon}
    assert [line for line in told if not (icon and '404' in line)] == []


HOVERED = "text => document.querySelector('#plot .hoverlayer').textContent.includes(text)"
TITLED = 'title => document.getElementById("problem-title").textContent === title'
EXPAND = "document.querySelectorAll('#problem button.more').forEach((button) => button.click())"
MARKUP = """[...document.querySelectorAll('body *')].filter((one) =>
    /^(img|iframe|object|embed|link|base|image|mglyph)$/i.test(one.localName)
    || /^(javascript|http)/.test(one.getAttribute('href') || '')
    || one.getAttributeNames().some((name) => name.startsWith('on'))).map((one) => one.outerHTML)"""


def change_warnings(folder: Path, texts: list[str]) -> None:
    """Put the texts into what else of a result the page shows."""
    for path in folder.glob(f'results/*/{SAMPLED}.json'):
        result = json.loads(path.read_text())
        result['warnings'] = texts
        result['judging'] = {text: text for text in texts}
        result['signature']['sampling'] = {texts[0]: texts[1]}
        path.write_text(json.dumps(result))
