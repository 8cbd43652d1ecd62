"""The report page in a real browser: what it shows, how it is used, and what can't harm it."""

from __future__ import annotations

import json
import math
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

from opencompass_gpassk.commands.main import main
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
    """The rows of a table, each cell's own text without its interval."""
    found: list[list[str]] = tab.evaluate(
        """table => [...document.querySelectorAll(`${table} tr`)]
            .map((row) => [...row.children].filter((cell) => !cell.hidden).map((cell) => {
                const copy = cell.cloneNode(true);
                copy.querySelectorAll('td > span, svg, title').forEach((one) => one.remove());
                return copy.textContent.trim();
            }))""",
        table,
    )
    return found


def board(tab: Any) -> dict[str, dict[str, str]]:
    """Model → what its row shows: rank, counts of the strip, numbers."""
    rows: list[dict[str, str]] = tab.evaluate(
        """[...document.querySelectorAll('.set .board tbody tr')]
            .filter((row) => row.checkVisibility()).map((row) => Object.fromEntries(
                ['th', '.rk', '.big', '.n', '.n ~ .n'].map((part) =>
                    [part, row.querySelector(part)?.innerText.trim() ?? ''])
                .concat([['strip', row.querySelector('.strip')?.title ?? ''],
                    ['axis', [...row.querySelectorAll('.axis title')].find((title) =>
                        title.parentElement.checkVisibility())?.textContent ?? '']])))"""
    )
    return {row['th'].split('\n')[0].strip(' †'): row for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize('way', WAYS)
def test_every_view_shows_the_results(chromium: Any, made: Any, way: str) -> None:
    """Board, problems, groups and what is folded hold the numbers of the result JSON.

    All but the responses stand there without scripts.
    """
    page, results = made
    scripted = way != 'without script'
    with opened(chromium, page, **WAYS[way]) as tab:
        wide = tab.evaluate('document.documentElement.scrollWidth - innerWidth')
        assert wide <= 0, f'the page is {wide} pixels wider than the screen'
        order = sorted(MODELS, key=lambda m: -results[m]['G-Pass@4_1.0'])
        for k in (4, 2):
            tab.click(f'label[for=s0k{k}]')
            look_at_board(tab, results, k, order)
        look_at_problems(tab, results, order)
        look_at_groups(tab, results, order)
        tab.evaluate(OPEN_ALL)
        look_at_what_is_folded(tab, results, order)
        if scripted:
            look_at_problem(tab, results, order)
        else:
            assert not tab.locator('.choices').is_visible()
        words = tab.locator('body').inner_text().split()
        assert not {'null', 'undefined', 'NaN', 'None', '[object'} & set(words)
        assert tab.told == []
        if scripted:
            check_accessibility(tab)


def near(shown: str, wanted: float | None) -> bool:
    """Tell whether a number, whole or with a decimal, is a metric."""
    if wanted is None or math.isnan(wanted):
        return shown == '–'
    if shown in ('<1', '>99'):
        return 0 < wanted < 1 if shown == '<1' else 99 < wanted < 100
    return abs(float(shown) - wanted) <= (0.051 if '.' in shown else 0.501)


def look_at_board(tab: Any, results: dict[str, dict[str, Any]], k: int, order: list[str]) -> None:
    """Numbers, both intervals and the counts of the strips are the results'; k 4 has ranks."""
    rows = board(tab)
    assert list(rows) == order
    for model, row in rows.items():
        found, key = results[model], f'G-Pass@{k}_1.0'
        assert bool(row['.rk']) is (k == 4)
        assert near(row['.big'].removesuffix('%').strip(), found[key])
        assert near(row['.n'], found[f'pass@{k}'])
        assert near(row['.n ~ .n'], found['accuracy'])
        wanted = [found[key], *found['intervals'][key], *found['intervals_fixed'][key]]
        numbers = [float(one) for one in re.findall(r'[\d.]+', row['axis'])]
        assert numbers == pytest.approx(wanted, abs=0.051)
        shares = [one['c'] / one['n'] for one in found['details']]
        counts = [shares.count(1), 0, sum(0 < one < 1 for one in shares), shares.count(0)]
        assert [int(one) for one in re.findall(r'\d+', row['strip'])] == counts


def look_at_problems(tab: Any, results: dict[str, dict[str, Any]], order: list[str]) -> None:
    """A cell holds the right samples of a model; the easiest problem comes first."""
    details = {m: {row['problem_id']: row for row in r['details']} for m, r in results.items()}
    (_, *names), *rows = rows_of(tab, '.heat')
    assert [row[0] for row in rows] == order
    for model, *cells in rows:
        assert cells == [f'{details[model][name]["c"]}' for name in names]
    means = [sum(details[model][name]['c'] for model in MODELS) for name in names]
    assert len(means) == 24 and means == sorted(means, reverse=True)


def look_at_groups(tab: Any, results: dict[str, dict[str, Any]], order: list[str]) -> None:
    """Every group has a column, with the metric of each model."""
    _, (_, *labels), *rows = rows_of(tab, '.where table')
    assert {*labels} == {*results['alpha']['groups']}
    assert [row[0] for row in rows] == order
    for model, *cells in rows:
        for label, cell in zip(labels, cells, strict=True):
            assert near(cell.removesuffix(' ▼'), results[model][f'{label}/G-Pass@4_1.0'])


def look_at_what_is_folded(tab: Any, results: dict[str, dict[str, Any]], order: list[str]) -> None:
    """Points of the curves, metrics at every k, and differences of every two models."""
    titles = tab.locator('.cv title').all_text_contents()
    points = [re.fullmatch(r'(.+), τ = (.+): (.+) \[(.+), (.+)\]', title) for title in titles]
    assert len(points) == 5 * len(MODELS)
    for found in points:
        assert found
        model, tau, *numbers = found.groups()
        key = f'G-Pass@4_{tau}'
        wanted = [results[model][key], *results[model]['intervals'][key]]
        assert [float(one) for one in numbers] == pytest.approx(wanted, abs=0.051)
    (_, *models), *rows = rows_of(tab, '.all table')
    assert models == order
    assert {'pass@2', 'pass@4', 'G-Pass@20.5', 'average@n'} <= {row[0] for row in rows}
    for name, *cells in rows:
        key = {'average@n': 'accuracy'}.get(name, name)
        key = re.sub(r'^(.*G-Pass@\d)(\d\.\d+)$', r'\1_\2', key)
        for model, cell in zip(order, cells, strict=True):
            assert near(cell, results[model].get(key, results[model]['shares'].get(key)))
    (_, *others), *rows = rows_of(tab, '.pairs table')
    for model, *cells in rows:
        for other, cell in zip(others, cells, strict=True):
            gap = results[model]['G-Pass@4_1.0'] - results[other]['G-Pass@4_1.0']
            assert cell == '' if gap <= 0 else near(cell.removesuffix(' ?'), gap)


def look_at_problem(tab: Any, results: dict[str, dict[str, Any]], order: list[str]) -> None:
    """A cell opens its problem, its model first; a right and a wrong response are side by side."""
    details = {row['problem_id']: row for row in results['beta']['details']}
    (_, *names), *_ = rows_of(tab, '.heat')
    place = next(i for i, name in enumerate(names) if 0 < details[name]['c'] < details[name]['n'])
    wanted = details[names[place]]
    tab.locator('.heat tbody tr').nth(order.index('beta')).locator('td').nth(place).click()
    until(tab, TITLED, arg=f'Problem {names[place]}')
    assert tab.locator('#problem .question math mfrac').count() == 1
    assert tab.inner_text('#problem .gold') == wanted['gold'].strip('$')
    box = tab.locator('#problem .entry').first
    assert box.locator('summary').first.inner_text() == (
        f'beta: {wanted["c"]} of {wanted["n"]} right'
    )
    beside = box.locator('.beside .answer')
    assert beside.locator('.verdict').all_inner_texts() == ['right', 'wrong']
    left, right = (one.bounding_box() for one in beside.all())
    assert (left['y'] == right['y']) is (tab.viewport_size['width'] > 400)
    texts = [
        tuple(one.locator(part).first.inner_text() for part in ('.given', '.times', '.verdict'))
        for one in box.locator('.answer').all()
    ]
    words = {'correct': 'right', 'incorrect': 'wrong'}
    assert {(a['answer'], f'{a["count"]} ×', words[a['verdict']]) for a in wanted['answers']} == {
        one for one in texts if one[1] != 'greedy'
    }
    for one in beside.all():
        text = one.locator('.response').inner_text()
        assert 'We add one.' in text
        assert one.locator('.given').inner_text() in text.partition('So it is')[2]
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


def test_questions_in_versions_have_the_same_frame(chromium: Any, tmp_path: Path) -> None:
    """A bar is a question, versions stand side by side, and the drop is told."""
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
            '.set > h2'
        )
        (row,) = board(tab).values()
        assert row['.big'] == '10 %' and row['.n'] == '100'
        assert row['strip'].endswith('1 sometimes, 1 never')
        (_, *names), (_, *cells) = rows_of(tab, '.heat')
        assert [name[0] for name in names] == ['b'] * 6 + ['a'] * 6
        assert names[0] == 'b/0 (version original)' and cells == ['1', '1', *'0000', '1', *'00000']
        tab.locator('.heat tbody td').nth(3).click()
        until(tab, TITLED, arg='Problem b/3, 3')


@pytest.mark.slow
def test_the_page_says_who_may_be_the_most_stable(chromium: Any, tmp_path: Path) -> None:
    """As its ranks do; other k have no ranks, another judge's model has none."""
    models = {'<b>low</b>': -3.0, 'near': 2.0, 'top': 2.2, 'other': 9.0}
    run = make_sweep(tmp_path / '1', models, Sweep(problems=60)).folder
    for path in (run / 'results/other').glob('*.json'):
        result = json.loads(path.read_text())
        result['signature']['judge'] = 'kind'
        path.write_text(json.dumps(result))
    write_page(tmp_path / 'report.html', page_data([run]))
    with opened(chromium, tmp_path / 'report.html') as tab:
        rows = board(tab)
        assert rows['other']['.rk'] == '–'
        first = {name for name, row in rows.items() if row['.rk'].startswith('1')}
        assert first == {'near', 'top'}
        every, other = (rows[name]['.big'] for name in ('top', 'near'))
        assert tab.inner_text('.set > h2') == (
            'On these 60 problems top is more stable than all but near of the 3 models compared: '
            f'it solves {every} in all 4 attempts, that {other}.'
        )
        # Nothing could overturn it, and the sign at a name opens its explanation.
        assert tab.locator('.check').count() == 0
        tab.locator('.board a', has_text='†').first.click()
        assert 'other judge' in tab.inner_text('#s0-notes')
        tab.click('label[for=s0k2]')
        assert not any(row['.rk'] for row in board(tab).values())
        tab.evaluate(OPEN_ALL)
        assert tab.locator('.pairs .notes li').count() == 1
        assert 'different judges: rule and kind' in tab.inner_text('.pairs .notes')
        assert tab.told == []


@pytest.mark.slow
def test_what_could_overturn_the_sentence_leads_to_its_problems(
    chromium: Any, tmp_path: Path
) -> None:
    """Missing verdicts and wrong gold answers: each link shows the problems that are meant."""
    for model, sure in (('a', 40), ('b', 20)):
        rows = []
        for i in range(40):
            given = [f'{i}'] * 7 + ['half of it' if i >= 20 and model == 'a' else f'{i}']
            given = given if i < sure else [*given[:7], f'{i + 100}']
            samples = [f'Of {model}, {i} and {j}: \\boxed{{{one}}}' for j, one in enumerate(given)]
            gold = f'{i + 1}' if i in (3, 8, 9) else f'{i}'
            rows.append({'id': f'p{i}', 'question': f'{i}?', 'answer': gold, 'samples': samples})
        path = tmp_path / f'{model}.jsonl'
        path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
        out = str(tmp_path / f'out/{model}.json')
        path.parent.joinpath('out').mkdir(exist_ok=True)
        assert main(['score', str(path), '-k', '4', '-o', out, '--dataset', 'sums']) == 0
    write_page(tmp_path / 'report.html', page_data([tmp_path / 'out']))
    with opened(chromium, tmp_path / 'report.html') as tab:
        links = tab.locator('.check a')
        assert links.all_inner_texts() == ['see the problems'] * 2
        for place, count in enumerate((20, 3)):
            links.nth(place).click()
            until(tab, COUNTED, arg=f'{count} of 40')
        assert 'gpassk score … --judge cascade' in tab.inner_text('.check')
        tab.locator('.heat tbody td:visible').first.click()
        until(tab, '!document.querySelector("#problem").hidden')
        assert 'The gold answer may be wrong: 16 of 16 responses' in tab.inner_text('#problem')


@pytest.mark.slow
def test_the_keyboard_is_enough(chromium: Any, made: Any) -> None:
    """Without a mouse a cell is found and opened, problems are stepped through, Esc leads back."""
    with opened(chromium, made[0]) as tab:
        tab.keyboard.press('Tab')
        assert tab.evaluate('document.activeElement.className') == 'skip'
        tab.locator('.heat td[tabindex]').focus()
        for key in ('ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft'):
            tab.keyboard.press(key)
        names = tab.locator('.heat thead th').all_text_contents()
        assert tab.inner_text('.pointed').startswith(f'{names[1]} · beta: ')
        tab.keyboard.press('Enter')
        for key, place in (('', 1), ('ArrowRight', 2), ('ArrowRight', 3), ('ArrowLeft', 2)):
            tab.keyboard.press(key) if key else None
            until(tab, TITLED, arg=f'Problem {names[place]}')
        tab.keyboard.press('Escape')
        assert tab.locator('#problem').is_hidden()
        assert tab.evaluate('document.activeElement.title').startswith(f'{names[2]} · beta: ')
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
        assert tab.inner_text('.meta:visible').startswith('first')
        tab.get_by_text('a second', exact=True).click()
        tab.locator('.set:visible .tabs label', has_text='2').click()
        tab.locator('.heat:visible tbody td').nth(3).click()
        until(tab, '!document.querySelector("#problem").hidden')
        title, address = tab.inner_text('#problem-title'), tab.url
    with opened(chromium, address) as tab:
        until(tab, TITLED, arg=title)
        assert tab.inner_text('.meta:visible').startswith('a second')
        assert tab.locator('.set:visible .tabs input:checked').get_attribute('value') == '2'
        assert tab.told == []


@pytest.mark.slow
def test_a_sheet_of_paper_holds_a_data_set(chromium: Any, made: Any) -> None:
    """Sentence, board, problems and groups are on one page of A4, and nothing is cut."""
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
        for part in ('.set > h2', '.board', '.heat', '.where'):
            assert tab.locator(f'{part}:visible').count() == 1
        assert not tab.locator('.fold').first.is_visible()


@pytest.mark.slow
def test_filters_find_every_problem(chromium: Any, tmp_path: Path) -> None:
    """Their counts are the results'; questions, groups by name and value, and whole words."""
    sweep = Sweep(
        problems=24, question=lambda i: f'Case {i}: {"a triangle" if i % 3 else "triangles"}'
    )
    run = make_sweep(tmp_path / '1', {'a': 0, 'b': 0}, sweep)
    write_page(tmp_path / 'report.html', page_data([run.folder]))
    stored = [json.loads((run.folder / f'results/{m}/{SAMPLED}.json').read_text()) for m in 'ab']
    pairs = list(zip(*([one['c'] / 8 for one in of['details']] for of in stored), strict=True))
    wanted = {
        'always': sum(min(pair) == 1 for pair in pairs),
        'never': sum(max(pair) == 0 for pair in pairs),
        'every': sum(min(pair) > 0 and max(pair) < 1 for pair in pairs),
        'some': sum(any(0 < one < 1 for one in pair) for pair in pairs),
        'differ': sum(abs(pair[0] - pair[1]) >= 0.5 for pair in pairs),
    }
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
            tab.fill('.words', text)
            told = f'{count} of 24' if count else 'No problem fits these filters.'
            until(tab, COUNTED, arg=told)
            assert len(rows_of(tab, '.heat')[0]) - 1 == count
        for tag, count in wanted.items():
            option = tab.locator(f'.rows option[value={tag}]')
            assert option.count() == bool(count)
            if count:
                assert option.inner_text().endswith(f'({count})')
                tab.select_option('.rows', tag)
                until(tab, COUNTED, arg=f'{count} of 24')
        tab.select_option('.rows', '')
        tab.select_option('.group', label='cn')
        until(tab, COUNTED, arg='12 of 24')


@pytest.mark.slow
def test_a_page_without_texts_holds_none(chromium: Any, tmp_path: Path) -> None:
    """Neither questions, answers nor responses, and it says so; numbers and filters remain."""
    sweep = Sweep(
        problems=8,
        question='secret {}'.format,
        respond=lambda rng: 'unspoken',
        wrong=lambda i: 'guess',
    )
    run = make_sweep(tmp_path / '1', {'a': 0, 'b': 1}, sweep)
    path = tmp_path / 'report.html'
    for more in ([], ['--no-texts']):
        assert main(['report', str(run.folder), '-o', str(path), *more]) == 0
        with opened(chromium, path) as tab:
            held = tab.inner_text('footer')
            assert ('holds no questions, gold answers or responses' in held) is bool(more)
            assert len(rows_of(tab, '.heat')[0]) == 9
            tab.locator('.heat tbody td').first.click()
            tab.fill('.words', 'language cn')
            until(tab, COUNTED, arg='4 of 8')
            assert tab.locator('#problem').is_hidden() is bool(more)
            assert ('application/json' in path.read_text()) is not more
            assert tab.told == []
    text = path.read_text()
    assert not any(word in text for word in ('secret', 'unspoken', 'guess', '$1$'))


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
        heads = tab.locator('.heat thead th').all_text_contents()
        for index in range(0, 2 * count, 6 if policy else 2):
            tab.locator('.heat tbody td').nth(index).click()
            until(tab, TITLED, arg=f'Problem {heads[index]}')
            tab.evaluate(OPEN_ALL)
            seen += tab.inner_text('#problem')
        tab.fill('.words', 'window')
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
