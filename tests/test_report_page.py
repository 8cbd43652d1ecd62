"""The report page: what it is made from, and that what it holds is what the results say."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
import shutil
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from math import comb
from pathlib import Path
from typing import Any

import pytest
from made_runs import MadeRun
from made_sweep import GREEDY, SAMPLED, Sweep, add_result, make_sweep, write_json
from stored_table import table_of, write_result

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.display import visible_text
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.report.charts.sweep import sweeps
from opencompass_gpassk.report.page.columns import columns_at, known
from opencompass_gpassk.report.page.data import DataSet, PageData, page_data
from opencompass_gpassk.report.page.formulas import ELEMENTS, with_mathematics
from opencompass_gpassk.report.page.headline import headline
from opencompass_gpassk.report.page.html import render_page
from opencompass_gpassk.report.page.problems import LONGEST, SHORTEST, Answer
from opencompass_gpassk.results.make_result import store
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.trials import Verdict, read_trials

MODELS = {'small': -1.0, 'large': 2.0}


@pytest.fixture(scope='module')
def work_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work dir with a finished run of two models."""
    folder = tmp_path_factory.mktemp('sweep')
    make_sweep(folder / '20260101_000000', MODELS)
    return folder


@pytest.fixture
def copied(work_dir: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(work_dir, tmp_path / 'w')


@pytest.fixture(scope='module')
def data(work_dir: Path) -> PageData:
    """What the page shows of it."""
    return page_data([work_dir])


def result_of(work_dir: Path, model: str, dataset: str) -> dict[str, Any]:
    """The result as it is stored."""
    path = next(work_dir.glob(f'*/results/{model}/{dataset}.json'))
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def answers_to(data: PageData, benchmark: int, problem: int, entry: int = 0) -> list[Answer]:
    """The answers of an entry that the page shows when a problem is opened."""
    return data.data_sets[benchmark].problems[problem].solved[entry].answers


def shown_text(answer: Answer) -> str:
    """The response that an answer opens, '' if it opens none."""
    return ''.join(answer.response.parts) if answer.response else ''


def marks_of(shown: DataSet) -> dict[str, list[str]]:
    """The words that mark each entry."""
    words = [[word for word, _ in marks] for marks in shown.marks]
    return dict(zip([entry.label for entry in shown.entries], words, strict=True))


def judged(shown: DataSet) -> list[dict[int, int]]:
    """Of each problem the number of judged responses of each entry that has it."""
    return [{i: solved.n for i, solved in one.solved.items()} for one in shown.problems]


def test_every_metric_is_the_results(work_dir: Path, data: PageData) -> None:
    """The columns' metrics are those of the result files, of each group too."""
    (shown,) = data.data_sets
    assert [entry.label for entry in shown.entries] == list(MODELS)
    columns = columns_at(shown.benchmark, 4, None)
    names = {column.heading for column in columns}
    assert {'greedy', 'average@n', 'pass@4', 'G-Pass@4_0.25', 'mG-Pass@4', 'majority vote'} <= names
    for entry in shown.entries:
        stored = result_of(work_dir, entry.model, SAMPLED)
        greedy = result_of(work_dir, entry.model, GREEDY)['metrics']
        for group in ('', *stored['groups']):
            prefix = f'{group}/' if group else ''
            metrics = stored['metrics'] | {f'{prefix}greedy': greedy[f'{prefix}accuracy']}
            metrics[f'{prefix}average@n'] = metrics[f'{prefix}accuracy']
            for column in columns:
                assert known(entry, column.metric, group) == metrics[f'{prefix}{column.heading}']


def test_every_problem_is_the_results(work_dir: Path, data: PageData) -> None:
    """Counts, answers and examples are those of the result, the trials and the predictions."""
    for column, model in enumerate(MODELS):
        details = result_of(work_dir, model, SAMPLED)['details']
        predictions = next(work_dir.glob(f'*/predictions/{model}/{SAMPLED}.json'))
        records = json.loads(predictions.read_text())
        for index, row in enumerate(details):
            problem = data.data_sets[0].problems[index]
            solved = problem.solved[column]
            assert problem.question.startswith('What is $')
            assert (problem.problem.problem_id, solved.n, solved.c) == (
                row['problem_id'],
                row['n'],
                row['c'],
            )
            assert [one.greedy for one in solved.answers] == [False] * len(row['answers']) + [True]
            for answer, wanted in zip(solved.answers, row['answers'], strict=False):
                given = answer.text, answer.count, answer.verdict, answer.source
                assert given == tuple(wanted.values())
                assert answer.response
                record = records[answer.response.location.rpartition('#')[2]]
                assert shown_text(answer) == record['prediction']
                assert f'boxed{{{answer.text}}}' in record['prediction']
                assert record['problem_id'] == row['problem_id']


def test_pairs_are_differences_of_the_metrics(data: PageData) -> None:
    """A difference is that of the two metrics in the table, and lies in its interval."""
    (shown,) = data.data_sets
    tested = shown.ranked.tested[0, 1]
    low, high = tested.these[:2]
    assert low <= tested.difference <= high
    first, second = (entry.metric(tested.metric) for entry in shown.entries)
    assert first is not None and second is not None
    wanted = first, second, second - first
    assert (tested.first, tested.second, tested.difference) == pytest.approx(wanted)
    assert tested.units == 12
    assert tested.metric.key == 'G-Pass@4_1.0'
    claim = tested.claim
    assert bool(claim) is (0 < tested.these.p_value <= 0.05)
    ranks = [shown.ranked.rank(place) for place in (0, 1)]
    assert [rank and rank[0] for rank in ranks] == ([2, 1] if claim else [1, 1])


def test_failed_partial_and_double_results_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A failed task, a partial run, two versions of a result, a damaged one: none is hidden."""
    old = make_sweep(tmp_path / '20260101_000000', {'large': 2.0}, seed=1)
    new = make_sweep(tmp_path / '20260202_000000', {'large': 2.0, 'small': -1, 'bad': 0, 'cut': 0})
    for name in (SAMPLED, GREEDY):
        (new.folder / f'results/bad/{name}.json').unlink()
        (new.folder / f'predictions/bad/{name}.json').unlink()
    new.infer_log('bad', SAMPLED, [SAMPLED, GREEDY], 'RuntimeError: no memory')
    (new.folder / f'predictions/cut/{SAMPLED}.json').rename(
        new.folder / f'predictions/cut/{SAMPLED}_0.json'
    )
    new.progress('cut', f'{SAMPLED}_1')
    (new.folder / f'results/small/{SAMPLED}.json').write_text('{"accuracy": 3')
    output = tmp_path / 'out.html'
    assert main(['report', str(tmp_path), '-o', str(output)]) == 1
    (shown,) = page_data([tmp_path]).data_sets
    marks = marks_of(shown)
    assert set(marks) == {
        'large [20260101_000000]',
        'large [20260202_000000]',
        'small',
        'cut',
    }
    assert 'partial run' in marks['cut']
    assert marks['large [20260101_000000]'] == []
    ranks = {name: shown.ranked.rank(place) for place, name in enumerate(marks)}
    assert ranks.pop('small') is None  # it has no samples
    assert all(rank and 1 <= rank[0] <= rank[1] <= 3 for rank in ranks.values())
    told = capsys.readouterr().err
    assert f'bad/{SAMPLED} (20260202_000000): failed in inference: RuntimeError: no memory' in told
    assert f'bad/{GREEDY}' in told
    assert f'cut/{SAMPLED} (20260202_000000): unfinished' in told
    assert f'small/{SAMPLED} (20260202_000000): failed' in told
    assert f'results/small/{SAMPLED}.json: not readable' in told
    page = output.read_text()
    assert all(line.split(' (')[0].split(':')[0] in page for line in told.splitlines())
    assert old.folder.name in page


def test_runs_and_scores_stand_together(
    work_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result of gpassk score is a row of its own, with its responses, in a second benchmark."""
    rows = [
        {'question': f'{i} + 1', 'answer': f'{i + 1}', 'samples': ['\\boxed{2}', '\\boxed{7}']}
        for i in range(3)
    ]
    samples = tmp_path / 'mine.jsonl'
    samples.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    scored = tmp_path / 'other model.json'
    assert main(['score', str(samples), '-k', '2', '-o', str(scored)]) == 0
    found = page_data([work_dir, scored])
    assert [one.name for one in found.data_sets] == ['LiveMathBench-202412', 'mine']
    mine = found.data_sets[1]
    assert [entry.label for entry in mine.entries] == ['other model']
    assert [problem.solved[0].c for problem in mine.problems] == [0, 1, 0]
    assert shown_text(answers_to(found, 1, 1)[0]) == '\\boxed{2}'
    assert not found.faults
    capsys.readouterr()


def test_what_can_not_be_compared_is_marked(tmp_path: Path) -> None:
    """Demonstration data, missing verdicts and fewer problems are marks of a row."""
    run = make_sweep(tmp_path / '1', {'a': 0}, Sweep(benchmark='sample'))
    rng = random.Random(0)
    few = Sweep(benchmark='sample', problems=6)
    add_result(run.folder, 'b', SAMPLED, 0, few, 8, rng, unjudged=3)
    (shown,) = page_data([tmp_path]).data_sets
    assert marks_of(shown) == {
        'a': ['not the published data'],
        'b': ['not the published data', 'fewer problems'],
    }
    assert judged(shown)[0] == {0: 8, 1: 5}
    assert judged(shown)[-1] == {0: 8}


def test_what_could_overturn_the_sentence_is_checked_first(tmp_path: Path) -> None:
    """Responses that were cut off, if they could change the number; nothing if nothing could."""
    run = make_sweep(tmp_path / '1', {'a': 0})
    (shown,) = page_data([run.folder]).data_sets
    assert headline(shown).checks == []
    table = shown.trials['a', SAMPLED]
    for place, trial in enumerate(table.trials):
        table.trials[place] = replace(trial, truncated=trial.verdict is Verdict.INCORRECT)
    (check,) = headline(shown).checks
    some = sum(of.c < of.n for one in shown.problems for of in one.solved.values())
    assert f'costs it up to {100 * some / 12:.1f} points' in check.text


def scored(folder: Path, models: dict[str, list[str]], *ks: int) -> DataSet:
    """What the page shows of models with these marks of each problem; the last has the last k."""
    for place, (model, marks) in enumerate(models.items(), start=1):
        (folder / model).mkdir(parents=True)
        k = ks[-1] if place == len(models) else ks[0]
        write_result(folder / model / 'exam.json', table_of(marks), [k])
    (shown,) = page_data([folder]).data_sets
    return shown


def test_all_lines_are_about_the_models_of_the_sentence(tmp_path: Path) -> None:
    """The second is surely worse, the third with its varying samples perhaps not."""
    second = ['+' * 8] * 25 + ['-' * 8] * 35
    models = {
        'first': ['+' * 8] * 30 + ['-' * 8] * 30,
        'second': second,
        'third': ['+' * 8] * 24 + ['+' * 7 + '-'] * 36,
    }
    told = headline(scored(tmp_path / 'a', models, 8))
    assert 'first is more stable than all but third' in told.sentence
    assert 'Mean accuracy of first and third: 50 and 92 %' in told.lines[0]
    # One that has other k has no metric to lead with.
    told = headline(scored(tmp_path / 'b', {'first': models['first'], 'second': second}, 8, 4))
    assert told.sentence == ''


def test_missing_verdicts_do_not_make_a_problem_one_that_is_solved_sometimes(
    tmp_path: Path,
) -> None:
    """The number is that of the strip and of the filter; what is missing is to be checked."""
    marks = ['+' * 8] * 10 + ['+' * 7 + '?'] * 10 + ['+' * 4 + '-' * 4] * 5
    told = headline(scored(tmp_path, {'m': marks}, 4))
    assert told.lines[0].endswith('solved only sometimes: 5 problems')
    (check,) = told.checks
    assert check.text.startswith('No verdict for 10 of the 200 responses of m')
    assert check.command == 'gpassk score … --judge cascade'


def test_the_level_of_the_intervals_is_that_of_the_results(tmp_path: Path) -> None:
    """A config may ask for another one than 95 %, and for none."""
    scored(tmp_path, {'m': ['+' * 6 + '--'] * 20}, 4)
    path = tmp_path / 'm/exam.json'
    result = json.loads(path.read_text())
    for made, told in (({**result['uncertainty'], 'level': 0.9}, 'its 90 % interval'), (None, '●')):
        path.write_text(json.dumps(result | {'uncertainty': made}))
        page = render_page(page_data([tmp_path]))
        assert told in page and '95 % interval:' not in page


def test_results_of_others_are_named(tmp_path: Path) -> None:
    """What another evaluator scored has no place in the tables, but is not passed over."""
    run = MadeRun(tmp_path / '1', ['good'], ['gsm8k'])
    run.predictions('good', 'gsm8k')
    run.result('good', 'gsm8k', {'accuracy': 33.25})
    assert 'good/gsm8k (1), accuracy 33.25' in render_page(page_data([tmp_path]))


@pytest.mark.parametrize(
    ('name', 'text', 'message'),
    [
        ('nowhere', None, 'there is no such file or folder'),
        ('empty', '', 'neither a run of OpenCompass nor a result'),
        ('result.json', '{"accuracy": 1}', 'not a result of this package'),
        ('result.json', '[1', 'not readable'),
    ],
)
def test_nothing_to_show_is_an_error(
    name: str, text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can be shown, no page is written, and the reason is told."""
    path = tmp_path / name
    if text:
        path.write_text(text)
    elif text is not None:
        path.mkdir()
    assert main(['report', str(path), '-o', str(tmp_path / 'out.html')]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / 'out.html').exists()


def test_a_run_without_any_result_yet_has_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1; what is missing is told."""
    run = make_sweep(tmp_path / '20260101_000000', {'large': 2.0})
    shutil.rmtree(run.folder / 'results')
    assert main(['report', str(tmp_path), '-o', str(tmp_path / 'out.html')]) == 1
    told = capsys.readouterr().err
    assert 'there is no result to show yet' in told
    assert f'large/{SAMPLED} (20260101_000000): unfinished' in told
    assert not (tmp_path / 'out.html').exists()


HOSTILE = '</script><script>x()</script><!-- <img src=x onerror=x()> &amp; \u2028\u2029\ud800'


class Elements(HTMLParser):
    """Counts the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.others: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a script's type, and which other elements there are."""
        given = dict(attrs)
        assert not [name for name in given if name.startswith('on')]
        assert not str(given.get('href', '#')).replace('#', '', 1).startswith(('java', 'http'))
        if tag == 'script':
            self.scripts.append(given.get('type'))
        else:
            self.others.add(tag)


def test_names_are_no_markup(tmp_path: Path) -> None:
    """A model, a warning and an error that are HTML are texts of the page."""
    run = make_sweep(tmp_path / '1', {'<img src=x onerror=x()>': 0, 'b': 0})
    run.infer_log('b', SAMPLED, [SAMPLED], f'RuntimeError: {HOSTILE[:-1]}')
    for path in [*run.folder.glob('predictions/b/*'), *run.folder.glob('results/b/*')]:
        path.unlink()
    path = run.folder / f'results/<img src=x onerror=x()>/{SAMPLED}.json'
    result = json.loads(path.read_text())
    result['warnings'] = [HOSTILE]
    result['judging']['note'] = HOSTILE
    write_json(path, result)
    elements = Elements()
    page = render_page(page_data([tmp_path]))
    elements.feed(page)
    assert elements.scripts == ['application/json', None]
    assert not {'img', 'iframe', 'object', 'link', 'base'} & elements.others
    assert '&lt;img src=x onerror=x()&gt;' in page
    page.encode('utf-8')


def test_responses_outside_of_a_run_are_not_read(tmp_path: Path) -> None:
    """A file of trials can't make the page show other files."""
    run = make_sweep(tmp_path / 'w' / '1', {'a': 0}).folder
    write_json(tmp_path / 'w' / 'secret.json', {'0': {'prediction': 'secret'}})
    path = run / f'results/a/{SAMPLED}.trials.jsonl.gz'
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(
        gzip.compress(re.sub(r'predictions/a/[^#]*#\d+', '../secret.json#0', text).encode())
    )
    found = page_data([tmp_path / 'w'])
    assert not any(shown_text(one) for one in answers_to(found, 0, 0) if not one.greedy)
    assert any('../secret.json: its responses are not shown' in fault for fault in found.faults)


def test_long_responses_are_shortened(tmp_path: Path) -> None:
    """Of a response of a megabyte both ends remain, and how much is missing is told."""
    long = Sweep(problems=2, n=2, k=(2,), respond=lambda rng: f'begin {"x" * 1_000_000} end')
    make_sweep(tmp_path / '1', {'a': 0}, long)
    found = page_data([tmp_path])
    response = answers_to(found, 0, 0)[0].response
    assert response
    head, tail = response.parts
    assert head.startswith('begin x')
    assert tail.endswith('}$.')
    assert len(head) + len(tail) == LONGEST
    assert response.left_out > 980_000
    assert len(render_page(found)) < 100_000


def test_one_right_and_one_wrong_response_come_first(tmp_path: Path) -> None:
    """Where not all fit, others are left out before them; the page says how many and where."""
    sweep = Sweep(problems=40, respond=lambda rng: 'word ' * rng.randint(60, 2000))
    run = make_sweep(tmp_path / '1', {'a': 0, 'b': 1}, sweep).folder
    few, many = (page_data([run], most_text=most) for most in (60_000, 10_000_000))
    for data, whole in ((few, False), (many, True)):
        (shown,) = data.data_sets
        every = [solved for problem in shown.problems for solved in problem.solved.values()]
        answers = [one for solved in every for one in solved.answers]
        assert shown.left_out == sum(1 for one in answers if not one.response)
        assert (shown.left_out == 0) is whole
        assert sum(len(shown_text(one)) for one in answers) <= (10_000_000 if whole else 60_000)
        for solved in every:
            first = {one.verdict: one for one in reversed(solved.sampled)}
            assert all(one.response for one in first.values())
    assert f'{few.data_sets[0].left_out} answers' in render_page(few)


def test_responses_in_columns_of_other_names_are_shown(tmp_path: Path) -> None:
    """The result remembers the names that ``gpassk score`` was given."""
    row = {'task': 'x', 'reference': '1', 'outputs': ['\\boxed{1}', '\\boxed{2}']}
    (tmp_path / 'mine.jsonl').write_text(json.dumps(row))
    columns = ['--columns', 'question=task', 'answer=reference', 'samples=outputs']
    scored = tmp_path / 'scored.json'
    assert main(['score', str(tmp_path / 'mine.jsonl'), *columns, '-o', str(scored)]) == 0
    found = page_data([scored])
    assert not found.faults
    assert all(one.response for one in answers_to(found, 0, 0))
    (tmp_path / 'mine.jsonl').unlink()
    missing = page_data([scored])
    assert any('mine.jsonl: its responses are not shown' in fault for fault in missing.faults)
    assert missing.data_sets[0].left_out == 0  # it is not for lack of room


def test_moved_responses_are_found_where_the_reader_says(tmp_path: Path) -> None:
    """Only there, only if they hold the scored answers; without them the page says what to do."""
    run = make_sweep(tmp_path / 'w/1', {'a': 0}).folder
    (run / 'predictions').rename(tmp_path / 'moved')
    found = page_data([run])
    assert not any(map(shown_text, answers_to(found, 0, 0)))
    assert any('--responses' in fault for fault in found.faults)
    found = page_data([run], responses=tmp_path / 'moved')
    assert all(map(shown_text, answers_to(found, 0, 0)))
    assert not found.faults
    for path in (tmp_path / 'moved').rglob('*.json'):
        path.write_text(re.sub('"prediction": "[^"]*"', '"prediction": "no"', path.read_text()))
    found = page_data([run], responses=tmp_path / 'moved')
    assert not any(map(shown_text, answers_to(found, 0, 0)))
    assert any('not those that were scored' in fault for fault in found.faults)


def test_mathematics_becomes_mathml() -> None:
    """LaTeX between dollars is MathML beside its source; what can't be read remains text."""
    shown = with_mathematics(r'Find $\frac{1}{2}$ of it.')
    assert shown.startswith('Find <span class=f><math') and shown.endswith('</span> of it.')
    assert '<mfrac>' in shown and r'<code>$\frac{1}{2}$</code>' in shown
    assert 'display="block"' in with_mathematics('$$x$$')
    for text in (
        'It costs 5$ and \\$6, no more.',
        'With $\\frac{$ or without',
        f'${"x" * 700}$',
        '',
    ):
        assert with_mathematics(text) == text
    assert '<mfrac>' in with_mathematics(r'\frac{1}{2}', bare=True)
    assert with_mathematics(r'\frac{1}{2}') == r'\frac{1}{2}'
    assert with_mathematics('12', bare=True) == '12'


@pytest.mark.parametrize(
    'latex',
    [
        r'\text{<script>alert(1)</script>}',
        r'\text{<img src=x onerror=alert(1)>}',
        r'\href{javascript:alert(1)}{x}',
        r'\hspace{99999em}x',
        r'\color{red}x',
        '{' * 300 + 'x' + '}' * 300,
        r'\text{&lt;script&gt;}',
    ],
)
def test_mathematics_is_no_way_in(latex: str) -> None:
    """Whatever LaTeX holds, the markup is of known elements without addresses or great sizes."""

    class Markup(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag in ELEMENTS | {'span', 'code'}
            assert not {'href', 'style', 'onerror', 'src'} & {name for name, _ in attrs}
            assert not any('99' in str(value) for _, value in attrs)

    Markup().feed(with_mathematics(f'${latex}$'))


def test_unseen_characters_are_spelled_out() -> None:
    """Bidi controls and their like can't turn a text round; tabs and lines remain."""
    assert visible_text('a\u202eb\u2066c\u200bd\x1b\ud800') == (
        'a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+001B⟩⟨U+D800⟩'
    )
    assert visible_text('a\tb\r\nc\n') == 'a\tb\nc\n'
    hidden = '\xad\u034f\u3164\ufe0f\U000e0101'
    assert visible_text(hidden) == ''.join(f'⟨U+{ord(char):04X}⟩' for char in hidden)


def test_other_samples_are_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that are gone are not replaced by a file of their name, nor by a changed one."""
    (tmp_path / 'out').mkdir()
    for model, answer in (('m1', 1), ('m2', 7)):
        (tmp_path / model).mkdir()
        rows = [{'question': f'{i} + 1', 'answer': f'{i + 1}'} for i in range(3)]
        samples = [f'{model}: \\boxed{{{answer}}}'] * 2
        path = tmp_path / model / 'samples.jsonl'
        path.write_text(''.join(json.dumps(row | {'samples': samples}) + '\n' for row in rows))
        monkeypatch.chdir(tmp_path / model)
        given = str(path) if model == 'm1' else 'samples.jsonl'
        assert main(['score', given, '-k', '2', '-o', f'../out/{model}.json']) == 0

    def shown() -> list[set[str]]:
        found = page_data([Path('../out')])
        return [
            {shown_text(one) for one in solved.answers} - {''}
            for _, solved in sorted(found.data_sets[0].problems[0].solved.items())
        ]

    assert shown() == [{'m1: \\boxed{1}'}, {'m2: \\boxed{7}'}]
    monkeypatch.chdir(tmp_path / 'm1')  # from any folder: m2's samples.jsonl is not the one here
    assert shown() == [{'m1: \\boxed{1}'}, {'m2: \\boxed{7}'}]
    (tmp_path / 'm1/samples.jsonl').unlink()
    assert shown() == [set(), {'m2: \\boxed{7}'}]
    (tmp_path / 'm2/samples.jsonl').write_text(
        (tmp_path / 'm2/samples.jsonl').read_text().replace('7', '8')
    )
    assert shown() == [set(), set()]


BAD = json.loads(Path(__file__).with_name('cases').joinpath('report_bad_results.json').read_text())


@pytest.mark.parametrize('case', BAD, ids=[case['id'] for case in BAD])
def test_one_bad_result_does_not_cost_the_others(case: dict[str, Any], copied: Path) -> None:
    """A field that nobody can read takes its own result from the page, which names the file."""
    path = next(copied.glob(f'*/results/small/{SAMPLED}.json'))
    result = json.loads(path.read_text())
    inner = result
    *way, last = case['path']
    for name in way:
        inner = inner[name]
    inner[last] = case['value']
    path.write_text(json.dumps(result))
    found = page_data([copied])
    render_page(found)
    (shown,) = found.data_sets
    assert [entry.place for entry in shown.entries] == [('small', GREEDY), ('large', SAMPLED)]
    assert [fault for fault in found.faults if fault.startswith(f'{path}: not readable: ')]


@pytest.mark.parametrize(
    ('kind', 'field', 'value'),
    [
        *(('problem', 'question', 5), ('problem', 'gold', None), ('problem', 'version', 3)),
        *(('problem', 'groups', 'x'), ('trial', 'response', 5), ('trial', 'answer', {})),
        *(('trial', 'answer_class', 10**30), ('trial', 'replica', 'x')),
    ],
)
def test_bad_trials_cost_their_texts_alone(
    kind: str, field: str, value: object, copied: Path
) -> None:
    """A file of trials with a field that nobody can read is named; the metrics remain."""
    path = next(copied.glob(f'*/results/small/{SAMPLED}.trials.jsonl.gz'))
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    next(row for row in rows if row['kind'] == kind)[field] = value
    path.write_bytes(gzip.compress('\n'.join(map(json.dumps, rows)).encode()))
    found = page_data([copied])
    render_page(found)
    assert len(found.data_sets[0].entries) == 2
    assert [fault for fault in found.faults if str(path) in fault and field in fault]


def test_everything_below_a_folder_is_found(
    work_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scores beside runs, and runs however deep; a model's folder holds that model alone."""
    run = make_sweep(tmp_path / 'outputs/a/20260101_000000', {'m': 0, 'bad': 0}).folder
    (run / f'results/bad/{SAMPLED}.json').unlink()
    (run / f'predictions/bad/{SAMPLED}.json').unlink()
    rows = [{'question': f'{i}', 'answer': f'{i}', 'samples': ['\\boxed{1}'] * 2} for i in (1, 2)]
    (tmp_path / 'mine.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    scored = tmp_path / 'outputs/a/scored.json'
    assert main(['score', str(tmp_path / 'mine.jsonl'), '-k', '2', '-o', str(scored)]) == 0
    capsys.readouterr()
    scored.with_name('scored.trials.jsonl.gz').unlink()
    (tmp_path / 'outputs/package.json').write_text('{}')
    (tmp_path / 'outputs/list.json').write_text('[]')
    for path in ('outputs', 'outputs/a'):
        found = page_data([tmp_path / path])
        assert [one.name for one in found.data_sets] == ['LiveMathBench-202412', 'mine']
        assert [task[1] for task in found.tasks] == [f'bad/{SAMPLED}']
        left_out = [fault for fault in found.faults if 'list.json, package.json' in fault]
        assert len(left_out) == (path == 'outputs')
    found = page_data([run / 'results'])
    assert [task[1] for task in found.tasks] == [f'bad/{SAMPLED}']
    of_one = page_data([run / 'results/m'])
    assert (of_one.tasks, {*of_one.labels}) == ([], {'m'})
    alone = page_data([run / f'results/m/{SAMPLED}.json'])
    assert answers_to(alone, 0, 0)
    assert alone.data_sets[0].sources[0][0].time == '20260101_000000'


def test_only_what_belongs_together_stands_in_one_row(tmp_path: Path) -> None:
    """Samples and greedy answers of other folders' models, or of longer names, are rows apart."""
    long = 'x' * 90
    for folder, models in (('a/1', ['m', f'{long}1']), ('b/1', ['m']), ('c/2', [f'{long}2'])):
        make_sweep(tmp_path / folder, dict.fromkeys(models, 0))
    for folder, model, dataset in (
        ('a/1', 'm', GREEDY),
        ('b/1', 'm', SAMPLED),
        ('a/1', f'{long}1', GREEDY),
        ('c/2', f'{long}2', SAMPLED),
    ):
        (tmp_path / folder / f'results/{model}/{dataset}.json').unlink()
    make_sweep(tmp_path / 'a/2', {'m': 0})
    (tmp_path / f'a/2/results/m/{SAMPLED}.json').unlink()
    (shown,) = page_data([tmp_path]).data_sets
    cut = f'{long[:39]}…{long[:39]}'
    times = [(found.time, beside and beside.time) for found, beside in shown.sources]
    assert dict(zip([entry.label for entry in shown.entries], times, strict=True)) == {
        'm': ('1', '2'),
        f'{cut}1': ('1', None),
        'm #2': ('1', None),
        f'{cut}2': ('2', None),
    }
    greedy = [entry.greedy is not None for entry in shown.entries]
    assert greedy == [True, False, True, True]


def test_runs_that_differ_in_sampling_are_named_by_it(tmp_path: Path) -> None:
    """In work dirs of their own, or in one; and they are a sweep, with a chart."""
    for folder, top_p in (('a/1', 0.8), ('b/1', 0.9), ('b/2', 0.95)):
        make_sweep(tmp_path / folder, {'m': 0})
        path = tmp_path / folder / f'results/m/{SAMPLED}.json'
        result = json.loads(path.read_text())
        result['signature']['sampling'] = {'temperature': 1.0, 'top_p': top_p}
        path.write_text(json.dumps(result))
    found = page_data([tmp_path])
    labels = ['m (top_p 0.8)', 'm (top_p 0.9)', 'm (top_p 0.95)']
    assert sorted({*found.labels}) == labels
    (shown,) = found.data_sets
    (sweep,) = sweeps(shown.benchmark)
    assert (sweep.parameter, sweep.model) == ('top_p', 'm (top_p …)')
    assert [value for value, _ in sweep.entries] == [0.8, 0.9, 0.95]
    assert all(entry.greedy for entry in shown.entries)


def judged_by_another(path: Path) -> None:
    """Change the judge in the signature of a result and its trials."""
    stored = json.loads(path.read_text())
    stored['signature']['judge'] = 'another'
    result = Result.of(stored)
    trials = path.with_name(result.trials_file)
    table, _ = read_trials(trials)
    write_json(path, without_nan(store(trials, table, result).as_json()))


def test_pairs_and_ranks_are_of_common_problems(tmp_path: Path) -> None:
    """A partial run is compared on its problems; what another judge judged has no rank."""
    run = make_sweep(tmp_path / '1', {'a': 0, 'c': 1}, Sweep(problems=40))
    rng = random.Random(1)
    for model, problems in (('b', 24), ('other', 40)):
        add_result(run.folder, model, SAMPLED, 1, Sweep(problems=problems), 8, rng)
    judged_by_another(run.folder / f'results/other/{SAMPLED}.json')
    data = page_data([tmp_path])
    (shown,) = data.data_sets
    both = [one.solved for one in shown.problems if {0, 2} <= set(one.solved)]
    means = [100 * sum(comb(of[i].c, 4) / comb(8, 4) for of in both) / 24 for i in (0, 2)]
    one = shown.ranked.tested[0, 2]
    assert (one.first, one.second) == pytest.approx(means)
    assert one.difference == pytest.approx(means[1] - means[0])
    assert (one.units, shown.ranked.tested[0, 1].units) == (24, 40)
    assert list(marks_of(shown).values()) == [[], [], ['fewer problems'], ['other judge']]
    judges = 'different judges: rule and another'
    assert shown.ranked.apart == {(i, 3): judges for i in (0, 1, 2)}
    assert set(shown.ranked.tested) == {(0, 1), (0, 2), (1, 2)}
    assert 'of the 3 models compared' in shown.claims[0]
    assert [shown.ranked.rank(place) is None for place in range(4)] == [False, False, False, True]
    assert '<th scope="col" title="20 problems">en<' in render_page(data)


def test_names_do_not_turn_the_text_round(tmp_path: Path) -> None:
    """Bidi controls of groups, runs and data sets are no part of what the page shows."""
    run = make_sweep(tmp_path / '1\u202e', {'a': 0}).folder
    path = run / f'results/a/{SAMPLED}.json'
    text = path.read_text().replace('"AMC', '"A\\u202eMC').replace('AMC-', 'A\\u202eMC-')
    path.rename(path.with_name(f'{SAMPLED}\u2066.json')).write_text(text)
    page = render_page(page_data([tmp_path]))
    assert 'A\ufffdMC' in page
    assert not re.search('[\u202e\u2066]', page + unpacked(page))


def test_long_answers_can_be_told_apart(tmp_path: Path) -> None:
    """Many answers, long ones, and ones that begin alike are all on the page, or said not to be."""
    alike = 'y' * 9_000
    samples = [*(f'\\boxed{{{i}}}' for i in range(30)), f'\\boxed{{{"x" * 900}}}']
    samples += [f'\\boxed{{{alike}1}}', f'\\boxed{{{alike}2}}']
    row = {'question': 'What?', 'answer': 'z' * 25_000, 'samples': samples}
    path = tmp_path / 'mine.jsonl'
    path.write_text(json.dumps(row) + '\n')
    assert main(['score', str(path), '-k', '2', '-o', str(tmp_path / 'mine.json')]) == 0
    data = page_data([tmp_path / 'mine.json'])
    texts = unpacked(render_page(data))
    assert '5000 more characters are not in this page' in texts
    assert 'mine.jsonl#1/0' in texts and str(tmp_path) not in texts
    answers = answers_to(data, 0, 0)
    assert len(answers) == 33
    cut = [one for one in answers if one.left_out]
    assert {len(one.text or '') for one in cut} == {SHORTEST}
    assert sorted(one.left_out for one in cut) == [500, 9_001 - SHORTEST, 9_001 - SHORTEST]
    assert len({one.digest for one in cut}) == 3


def unpacked(page: str) -> str:
    """The texts of a page's problems."""
    stored = json.loads(re.findall('<script type="application/json".*?>(.*?)</script>', page)[0])
    parts = [json.loads(zlib.decompress(base64.b64decode(part))) for part in stored['texts']]
    return ''.join(text for part in parts for text in part)


def test_a_problem_is_the_same_by_its_question(tmp_path: Path) -> None:
    """Also beside a result without questions, and for greedy responses."""
    asked = Sweep(problems=4)
    other = Sweep(problems=4, question='What is {0} + 1, please?'.format)
    run = make_sweep(tmp_path / '1', {'a': 0}, asked)
    rng = random.Random(0)
    add_result(run.folder, 'b', SAMPLED, 0, asked, 8, rng)
    add_result(run.folder, 'c', SAMPLED, 0, other, 8, rng)
    add_result(run.folder, 'c', GREEDY, 0, asked, 1, rng)
    for path in (run.folder / 'results/a').glob('*.trials.jsonl.gz'):
        path.unlink()
    (shown,) = page_data([tmp_path]).data_sets
    assert judged(shown) == [{0: 8, 1: 8}, {2: 8}] * 4
    first, second = shown.problems[:2]
    assert first.question != second.question
    assert first.solved[0].answers[-1].greedy and 2 not in first.solved
    assert not any(one.greedy for one in second.solved[2].answers)
