"""The report page in a real browser: what it shows, how it is used, and what can't harm it."""

from __future__ import annotations

import json
import math
import os
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from made_results import flat, make_version_result
from made_runs import MadeRun
from made_sweep import GREEDY, SAMPLED, Sweep, make_sweep
from report_browser import CHROMIUM, browser, opened, until

from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page

pytest.importorskip('playwright', reason='playwright is not installed')
axe = pytest.importorskip('axe_playwright_python.sync_playwright')
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason='chromium is not installed')

MODELS = {'alpha': -0.5, 'beta': 0.5, 'gamma': 2.0}
WAYS: dict[str, dict[str, Any]] = {
    'light': {'color_scheme': 'light'},
    'dark': {'color_scheme': 'dark'},
    'phone': {'viewport': {'width': 390, 'height': 844}, 'has_touch': True},
    'without script': {'java_script_enabled': False},
}
VIEWS = ('.panel', '.groups', '.map', '.pairs', '#problem')


@pytest.fixture(scope='module')
def chromium() -> Iterator[Any]:
    """One Chromium for all tests."""
    with browser() as started:
        yield started


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The page of a sweep, and model → its sampled result, with the greedy accuracy."""
    folder = tmp_path_factory.mktemp('sweep')
    sweep = Sweep(
        problems=24, respond=lambda rng: f'{rng.random()} {"We add one. " * rng.choice([1, 300])}'
    )
    run = make_sweep(folder / '20260101_000000', MODELS, sweep).folder
    write_page(folder / 'report.html', page_data([run]))
    results = {}
    for model in MODELS:
        results[model] = flat(json.loads((run / f'results/{model}/{SAMPLED}.json').read_text()))
        greedy = json.loads((run / f'results/{model}/{GREEDY}.json').read_text())
        results[model]['greedy'] = greedy['accuracy']
    return folder / 'report.html', results


def rows_of(tab: Any, table: str) -> list[list[str]]:
    """The shown rows of a table, each cell's own text without its interval."""
    found: list[list[str]] = tab.evaluate(
        """table => [...document.querySelectorAll(`${table} tr`)]
            .filter((row) => row.checkVisibility())
            .map((row) => [...row.children].map((cell) => {
                const shown = cell.querySelector('button') || cell;
                const copy = shown.cloneNode(true);
                copy.querySelectorAll('span, svg, title').forEach((one) => one.remove());
                return copy.textContent.trim();
            }))""",
        table,
    )
    return found


def board(tab: Any) -> dict[str, dict[str, str]]:
    """Model → heading → cell of the board that is shown."""
    heads, *rows = rows_of(tab, '.board')
    place = heads.index('model')
    return {row[place].strip(' †'): dict(zip(heads, row, strict=True)) for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize('way', WAYS)
def test_every_view_shows_the_results(chromium: Any, made: Any, way: str, tmp_path: Path) -> None:
    """Board, curves, groups, map, pairs and problem hold the numbers of the result JSON.

    All but the problem stand there without scripts. Pictures of the views are left in the folder
    that GPASSK_PICTURES names.
    """
    page, results = made
    scripted = way != 'without script'
    with opened(chromium, page, **WAYS[way]) as tab:
        wide = tab.evaluate('document.documentElement.scrollWidth - innerWidth')
        assert wide <= 0, f'the page is {wide} pixels wider than the screen'
        look_at_the_panel(tab, results, 4, ranked=True, phone=way == 'phone')
        look_at_groups(tab, results)
        look_at_map(tab, results)
        look_at_pairs(tab, results)
        tab.click('label[for=s0k2]')
        look_at_the_panel(tab, results, 2, ranked=False, phone=way == 'phone')
        tab.click('label[for=s0k4]')
        if scripted:
            look_at_problem(tab, results)
        else:
            assert not tab.locator('.choices').is_visible()
        words = tab.locator('body').inner_text().split()
        assert not {'null', 'undefined', 'NaN', 'None', '[object'} & set(words)
        assert tab.told == []
        take_pictures(tab, Path(os.environ.get('GPASSK_PICTURES') or tmp_path), way)
        if scripted:
            check_accessibility(tab)


def take_pictures(tab: Any, folder: Path, way: str) -> None:
    """Save a picture of each view."""
    folder.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=folder / f'{way}_first_screen.png')
    for view in VIEWS:
        shown = [one for one in tab.locator(view).all() if one.is_visible()]
        for one in shown[:1]:
            path = folder / f'{way}_{view.strip(".#")}.png'
            one.screenshot(path=path)
            assert path.stat().st_size > 2000


def look_at_the_panel(
    tab: Any, results: dict[str, dict[str, Any]], k: int, *, ranked: bool, phone: bool
) -> None:
    """The board's metrics are the results', and so are the curves' points and the whole table."""
    panel = f'#s0p{k}'
    if not phone:  # there the headings are inside of the cells
        shown = board(tab)
        assert list(shown) == sorted(MODELS, key=lambda m: -results[m][f'G-Pass@{k}_1.0'])
        for model, row in shown.items():
            assert ('rank' in row) is ranked
            for heading, key in (
                ('average@n', 'accuracy'),
                (f'G-Pass@{k}1.0', f'G-Pass@{k}_1.0'),
                (f'stability gap@{k}', f'stability gap@{k}'),
            ):
                assert float(row[heading]) == pytest.approx(results[model][key], abs=0.051)
    titles = tab.locator(f'{panel} .cv title').all_text_contents()
    points = [re.fullmatch(r'(.+), τ = (.+): (.+) \[(.+), (.+)\]', title) for title in titles]
    assert len(points) == 5 * len(MODELS)
    for found in filter(None, points):
        model, tau, *numbers = found.groups()
        key = f'G-Pass@{k}_{tau}'
        wanted = [results[model][key], *results[model]['intervals'][key]]
        assert [float(one) for one in numbers] == pytest.approx(wanted, abs=0.051)
    assert all(points)
    tab.evaluate('panel => document.querySelector(`${panel} .all`).setAttribute("open", "")', panel)
    heads, *rows = rows_of(tab, f'{panel} .all table')
    for name, *cells in rows:
        key = {'average@n': 'accuracy'}.get(name, name)
        key = re.sub(r'^(.*G-Pass@\d)(\d\.\d+)$', r'\1_\2', key)
        for model, cell in zip(heads[1:], cells, strict=True):
            wanted = results[model].get(key, results[model]['shares'].get(key))
            shown = math.nan if cell == '–' else float(cell)
            assert shown == pytest.approx(
                math.nan if wanted is None else wanted, abs=0.051, nan_ok=True
            )


def look_at_groups(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """Every group has a row, with the metric of each model and its interval."""
    heads, *rows = rows_of(tab, '.groups table')
    found = {row[0]: row[2:] for row in rows if len(row) > 1}
    assert set(found) == set(results['alpha']['groups'])
    for label, cells in found.items():
        for model, cell in zip(heads[2:], cells, strict=True):
            wanted = results[model][f'{label}/G-Pass@4_1.0']
            assert float(cell.split()[0]) == pytest.approx(wanted, abs=0.051)


def look_at_map(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """A cell holds c/n, the most unstable problem first."""
    details = {m: {row['problem_id']: row for row in r['details']} for m, r in results.items()}
    rows = rows_of(tab, '.map tbody')
    assert len(rows) == 24
    for name, *cells in rows:
        problem = next(one for one in details['alpha'] if name.startswith(one))
        wanted = [details[model][problem] for model in MODELS]
        assert cells == [f'{row["c"]}/{row["n"]}' for row in wanted]
    spread = [sum(p * (1 - p) for p in map(share, row[1:])) for row in rows]
    assert spread == pytest.approx(sorted(spread, reverse=True))


def share(cell: str) -> float:
    """Return the share that a cell such as 3/8 shows."""
    right, of = map(int, cell.split('/'))
    return right / of


def look_at_pairs(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """The difference of two models is that of their metrics."""
    boxes = tab.locator('.pairs details')
    assert boxes.count() == 3
    for place in range(3):
        tab.evaluate(
            'i => document.querySelectorAll(".pairs details")[i].setAttribute("open", "")', place
        )
        table = boxes.nth(place).locator('table').first
        heads = table.locator('thead th').all_inner_texts()
        first, second = (results[name.strip()] for name in heads[1:3])
        for row in table.locator('tbody tr').all_inner_texts():
            name, *numbers = row.split('\t')
            key = re.sub(r'(\d)(\d\.\d+)$', r'\1_\2', {'average@n': 'accuracy'}.get(name, name))
            if key not in first:
                continue
            one, other, difference = map(float, numbers[:3])
            assert one == pytest.approx(first[key], abs=0.051)
            assert other == pytest.approx(second[key], abs=0.051)
            assert difference == pytest.approx(second[key] - first[key], abs=0.051)


def look_at_problem(tab: Any, results: dict[str, dict[str, Any]]) -> None:
    """A cell opens its problem, its model first, whose answers are those of the result."""
    row = tab.locator('.map tbody tr').first
    problem = row.locator('a').inner_text()
    row.locator('td').nth(1).click()
    until(tab, 'name => document.activeElement.textContent === name', arg=f'Problem {problem}')
    wanted = next(r for r in results['beta']['details'] if r['problem_id'] == problem)
    assert tab.locator('#problem .question math mfrac').count() == 1
    assert tab.inner_text('#problem .gold') == wanted['gold'].strip('$')
    box = tab.locator('#problem .entry').first
    assert box.locator('summary').first.inner_text() == (
        f'beta: {wanted["c"]} of {wanted["n"]} right'
    )
    answers = box.locator('.answer')
    texts = [
        [one.locator(part).inner_text() for part in ('.given', '.times', '.verdict', '.by')]
        for one in answers.all()
    ]
    shown = [
        [a['answer'], f'▸ {a["count"]} ×', a['verdict'], a['source']] for a in wanted['answers']
    ]
    assert [[a, t.replace('▾', '▸'), v, b] for a, t, v, b in texts][: len(shown)] in (
        shown,
        [[a, t.removeprefix('▸ '), v, b] for a, t, v, b in shown],
    )
    for place, answer in enumerate(wanted['answers']):
        answers.nth(place).locator('summary').click()
        text = answers.nth(place).locator('.response').inner_text()
        assert 'We add one.' in text and answer['answer'] in text.partition('So it is')[2]
    tab.check('#problem .source')
    assert tab.locator('#problem .question math').is_hidden()
    assert '$\\frac' in tab.inner_text('#problem .question')
    tab.uncheck('#problem .source')


def check_accessibility(tab: Any) -> None:
    """No rule of axe-core is broken: names, labels, landmarks, contrast and the like."""
    found = axe.Axe().run(tab).response['violations']
    told = [
        f'{rule["id"]}: {node["target"]} {node.get("failureSummary", "")}'
        for rule in found
        for node in rule['nodes']
    ]
    assert told == []


def test_questions_in_versions_have_their_own_board(chromium: Any, tmp_path: Path) -> None:
    """At most eight columns; a row of the map is a question, and the drop is told first."""
    run = MadeRun(tmp_path / '20260101_000000', ['reciting'], ['RV-MATH-greedy-n1'])
    counts = {'a': [1, 0, 0, 0, 0, 0], 'b': [1, 1, 0, 0, 0, 0]}
    result = make_version_result(counts, greedy=True)
    result['details'] = [
        {
            'problem_id': f'{name}/{i}',
            'version': str(i or 'original'),
            'cluster': name,
            'subject': 'algebra',
            'gold': '1',
            'n': 1,
            'c': c,
            'answers': [],
        }
        for name, row in counts.items()
        for i, c in enumerate(row)
    ]
    run.result('reciting', 'RV-MATH-greedy-n1', without_nan(result))
    write_page(tmp_path / 'report.html', page_data([run.folder]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        assert 'from 100 % on the original questions to 10 % on their versions' in tab.inner_text(
            '.claim'
        )
        (row,) = board(tab).values()
        assert len(row) <= 8 and row['original accuracy'] == '100.0'
        rows = tab.locator('.map tbody tr')
        assert rows.count() == 2
        links = rows.first.locator('td a')
        assert links.count() == 6
        links.nth(3).click()
        until(tab, '!document.querySelector("#problem").hidden')
        version = links.nth(3).get_attribute('title').partition(':')[0]
        assert version.removeprefix('version ') in tab.inner_text('#problem-title')


@pytest.mark.slow
def test_the_page_says_who_may_be_the_most_stable(chromium: Any, tmp_path: Path) -> None:
    """As its ranks do; panels of another k have no ranks, another judge's model has none."""
    models = {'<b>low</b>': -3.0, 'near': 2.0, 'top': 2.2, 'other': 9.0}
    run = make_sweep(tmp_path / '1', models, Sweep(problems=60)).folder
    for path in (run / 'results/other').glob('*.json'):
        result = json.loads(path.read_text())
        result['signature']['judge'] = 'kind'
        path.write_text(json.dumps(result))
    write_page(tmp_path / 'report.html', page_data([run]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        rows = board(tab)
        assert rows['other']['rank'] == '–'
        first = {name for name, row in rows.items() if row['rank'].startswith('1')}
        assert first == {'near', 'top'}
        claim = tab.inner_text('.claim')
        shares = (rows[name]['G-Pass@41.0'] for name in ('top', 'near'))
        every, other = (f'{float(share):.0f} %' for share in shares)
        assert claim == (
            'On these 60 problems top is more stable than all but near of the 3 models compared: '
            f'it solves {every} in all 4 attempts, that {other}.'
        )
        assert re.search(
            '\\d+ warnings?, [1-9]\\d* affects? the ranking', tab.inner_text('.warnings')
        )
        tab.click('label[for=s0k2]')
        assert not any('rank' in row for row in board(tab).values())
        pairs = tab.locator('.pairs summary').all_inner_texts()
        told = 'On these 60 problems top is more stable than <b>low</b>: G-Pass@4_1.0 +'
        assert any(one.startswith(told) for one in pairs)
        assert sum('different judges: rule and kind' in one for one in pairs) == 3
        assert tab.told == []


@pytest.mark.slow
def test_the_keyboard_is_enough(chromium: Any, made: Any) -> None:
    """Without a mouse a column is sorted, and problems and samples are stepped through."""
    page, results = made
    with opened(chromium, page) as tab:
        tab.keyboard.press('Tab')
        assert tab.evaluate('document.activeElement.className') == 'skip'
        head = tab.locator('#s0p4 .board th', has_text='average')
        head.locator('button').focus()
        for way, sign in (('descending', -1), ('ascending', 1)):
            tab.keyboard.press('Enter')
            assert head.get_attribute('aria-sort') == way
            values = [results[model]['accuracy'] for model in board(tab)]
            assert values == sorted(values, key=lambda value: sign * value)
        tab.locator('.map tbody a').first.focus()
        tab.keyboard.press('Enter')
        names = tab.locator('.map tbody a').all_inner_texts()
        for key, place in (('', 0), ('ArrowRight', 1), ('ArrowRight', 2), ('ArrowLeft', 1)):
            tab.keyboard.press(key) if key else None
            until(tab, TITLED, arg=f'Problem {names[place]}')
        answers = tab.locator('#problem .entry').first.locator('.answer')
        answers.first.locator('summary').focus()
        tab.keyboard.press('Enter')
        tab.keyboard.press('ArrowRight')
        assert [one.get_attribute('open') for one in answers.all()[:2]] == [None, '']
        assert tab.told == []


def test_the_address_holds_what_is_shown(chromium: Any, tmp_path: Path) -> None:
    """A link opens the same data set, k and problem; the title names data sets, models and date."""
    for day, name, models in ((1, 'first', ['a', 'b']), (2, 'a second', ['c'])):
        sweep = Sweep(problems=8, benchmark=name)
        make_sweep(tmp_path / f'2026010{day}_000000', dict.fromkeys(models, 0), sweep)
    write_page(tmp_path / 'report.html', page_data([tmp_path]))
    assert str(tmp_path) not in (tmp_path / 'report.html').read_text()
    with opened(chromium, tmp_path / 'report.html') as tab:
        for part in ('first', 'a second', 'a, b', '2026-01-02'):
            assert part in tab.title()
        assert tab.inner_text('.set:visible h2').startswith('first')
        tab.get_by_text('a second', exact=True).click()
        tab.locator('label:visible', has_text='k = 2').click()
        tab.locator('.map:visible tbody a').nth(3).click()
        until(tab, '!document.querySelector("#problem").hidden')
        title, address = tab.inner_text('#problem-title'), tab.url
    with opened(chromium, address) as tab:
        until(tab, TITLED, arg=title)
        assert tab.inner_text('.set:visible h2').startswith('a second')
        assert tab.locator('.panel:visible').get_attribute('data-k') == '2'
        assert tab.told == []


@pytest.mark.slow
def test_a_sheet_of_paper_holds_a_data_set(chromium: Any, made: Any) -> None:
    """Sentence, board, curves and groups are on one page of A4, and nothing is cut."""
    page, _ = made
    with opened(chromium, page) as tab:
        pdf = tab.pdf(prefer_css_page_size=True, print_background=True)
        assert len(re.findall(rb'/Type /Page\b(?!s)', pdf)) == 1
        tab.emulate_media(media='print')
        tab.set_viewport_size({'width': 703, 'height': 1000})  # 186 mm
        assert tab.evaluate('document.documentElement.scrollWidth - innerWidth') <= 0
        cut = tab.evaluate(
            """[...document.querySelectorAll('.scroll')].filter((one) => one.checkVisibility()
                && one.scrollWidth > one.clientWidth + 1).length"""
        )
        assert cut == 0
        for part in ('.claim', '.board', '.cv', '.groups'):
            assert tab.locator(f'{part}:visible').count() == 1
        assert not tab.locator('.map').is_visible()


@pytest.mark.slow
def test_words_groups_and_tags_filter(chromium: Any, tmp_path: Path) -> None:
    """Questions are searched, groups by name and value, and words are whole ones."""
    sweep = Sweep(
        problems=24, question=lambda i: f'Case {i}: {"a triangle" if i % 3 else "triangles"}'
    )
    run = make_sweep(tmp_path / '1', {'a': 0, 'b': 0}, sweep)
    write_page(tmp_path / 'report.html', page_data([run.folder]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        for text, count in (
            ('triangle', 16),
            ('language cn', 12),
            ('CN', 12),
            ('split AMC language en', 3),
            ('Case 7', 2),
            ('nowhere', 0),
            ('', 24),
        ):
            tab.fill('.filter', text)
            until(tab, COUNTED, arg=f'{count} of 24')
            assert len(rows_of(tab, '.map tbody')) == count
        tagged = tab.locator('.map tr[data-t]').count()
        assert 0 < tagged < 24
        tab.check('.tag')
        assert len(rows_of(tab, '.map tbody')) == tagged


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
        assert {name[:10] for name in board(tab)} == {name[:10] for name in NAMES}
        seen = ''
        for index in range(0, 2 * count, 6 if policy else 2):
            tab.select_option('.order', 'given')
            row = tab.locator('.map tbody tr').nth(index)
            title = row.locator('a').first.inner_text()
            row.locator('a').first.click()
            until(tab, TITLED, arg=f'Problem {title}')
            tab.evaluate(OPEN_ALL)
            seen += tab.inner_text('#problem')
        tab.fill('.filter', 'window')
        tab.evaluate(OPEN_ALL)
        tab.hover('.cv >> nth=0')
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


COUNTED = 'told => document.querySelector(".count")?.textContent === told'
TITLED = 'title => document.getElementById("problem-title")?.textContent === title'
OPEN_ALL = "document.querySelectorAll('details').forEach((box) => { box.open = true; })"
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
