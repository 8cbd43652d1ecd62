"""``gpassk audit``: tables, files, labels; hostile texts stay in their place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from audit_trials import make_table, write_table
from judge_server import JudgeServer
from store_writer import put_human

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_store import StoredVerdict, VerdictStore
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

C, W = Verdict.CORRECT, Verdict.INCORRECT

HOSTILE = [
    '<script>alert(1)</script>',
    '| a | b |\n| --- | --- |\n# head',
    '\\boxed{yes} $x$ ![i](http://h/i.png) [l](javascript:1)',
    'line\u2028break\x1b[2J\u202e\ud800',
    '`x` ``` <!-- -->\n\n- item',
    'x' * 100_000,
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run with two models, in an environment without judge and store."""
    for name in ('GPASSK_VERDICT_STORE', 'OC_JUDGE_MODEL', 'OC_JUDGE_API_BASE'):
        monkeypatch.delenv(name, raising=False)
    write_table(tmp_path / 'work', 'a', 'd')
    return write_table(tmp_path / 'work', 'org/b', 'd', make_table(8))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text('utf-8').splitlines()]


def test_metrics_are_shown_and_written(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong answers recorded as right are found by the rule."""
    table = make_table(8)
    for trial in table.trials[:2]:  # answers -1 and 0 to problem 0
        trial.verdict = {'0': W, '-1': C}[trial.answer or '']
    write_table(tmp_path / 'work', 'org/b', 'd', table)
    output = tmp_path / 'audit.v1'
    assert main(['audit', str(run.parent), '-m', '1000', '-o', str(output), '--all']) == 0
    told = capsys.readouterr().out
    assert 'Agreement of recorded and rule' in told
    assert re.search(r'org/b +48 +\d+ +95\.\d +\d', told)
    assert 'org/b: recorded (rows) and rule (columns)' in told
    assert 'left out: 8 without an answer, 8 lost' in told
    recorded = [t.verdict for t in table.trials if t.answer is not None]
    right, wrong = recorded.count(C) - 1, recorded.count(W) - 1
    told = told.partition('org/b: recorded')[2]
    assert re.search(rf'^correct +{right} +1 +0$', told, re.MULTILINE)
    assert re.search(rf'^incorrect +1 +{wrong} +0$', told, re.MULTILINE)
    rows = read_rows(output.with_name('audit.v1.jsonl'))
    assert [(row['model'], row['problem_id'], row['answer']) for row in rows] == [
        ('org/b', '0', '-1'),
        ('org/b', '0', '0'),
    ]
    assert rows[0].keys() >= {'question', 'gold', 'data_set', 'replica', 'first', 'second'}
    assert {row['human'] for row in rows} == {''}
    assert all(row['response'].startswith('predictions/m/d.json#') for row in rows)


def test_blind_labels(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drawn sample tells no verdict; labelled it is a source, and is never overwritten."""
    file = tmp_path / 'labels.jsonl'
    draw = ['audit', str(run), '-m', '40', '--seed', '3', '--draw', str(file)]
    assert main(draw) == 0
    first = file.read_bytes()
    assert main(draw) == 0  # nothing is labelled yet
    assert file.read_bytes() == first
    rows = read_rows(file)
    assert [set(row) for row in rows] == [{'question', 'gold', 'answer', 'human'}] * len(rows)
    keys = [(row['question'], row['answer']) for row in rows]
    assert len(set(keys)) == len(keys)
    assert keys != sorted(keys)
    for row in rows:
        row['human'] = 'correct' if row['answer'] == row['gold'] else False
    file.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    assert main(draw) == 1
    assert 'may hold labels; name another file' in capsys.readouterr().err
    assert main(['audit', str(run), 'rule', str(file), '-m', '40', '--seed', '3']) == 0
    told = capsys.readouterr()
    assert re.search(r'org/b +40 +40 +100\.0', told.out)
    assert 'labels are about' not in told.err
    assert main(['audit', str(run), 'rule', str(file), '-m', '40', '--seed', '4', '--all']) == 0
    told = capsys.readouterr()
    assert re.search(r'\d+ labels match no answer .* 0 of these', told.err)
    assert re.search(r'unjudged by .*labels.jsonl: not labelled \(\d+\)', told.out)
    file.write_text(file.read_text() + '{"human": \n')
    assert main(['audit', str(run), 'rule', str(file)]) == 1
    assert f'labels.jsonl, line {len(rows) + 1}: not JSON' in capsys.readouterr().err
    assert main(draw) == 1  # a slip in it is no reason to overwrite the labels


def test_filled_in_disagreements_are_not_overwritten(run: Path, tmp_path: Path) -> None:
    """They are what ``gpassk verdicts import`` takes."""
    output = tmp_path / 'o'
    assert main(['audit', str(run), '-o', str(output)]) == 0
    assert main(['audit', str(run), '-o', str(output)]) == 0
    (tmp_path / 'o.jsonl').write_text('{"human": "correct"}\n')
    assert main(['audit', str(run), '-o', str(output)]) == 1
    assert (tmp_path / 'o.jsonl').read_text() == '{"human": "correct"}\n'


def test_judges_and_people_from_the_store(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run's store by default; the judge's words are in the files."""
    output = tmp_path / 'o'
    argv = ['audit', str(run), 'store:judge', 'human', '--model', 'org/b', '-o', str(output)]
    assert main(argv) == 1
    assert f'{run}/verdicts.sqlite: there is no verdict store' in capsys.readouterr().err
    with VerdictStore(run / 'verdicts.sqlite') as store:
        for i in range(8):
            triple = Triple(f'{i} = ?', str(i), str(i))
            store.put(JudgeIdentity('judge', 'p'), triple, StoredVerdict(W, reply='<b>no</b>'))
            put_human(store, triple, C if i else W)
    assert main(argv) == 0
    rows = read_rows(tmp_path / 'o.jsonl')
    assert rows
    assert {(row['first'], row['second'], row['first_reply']) for row in rows} == {
        ('incorrect', 'correct', '<b>no</b>')
    }
    assert re.search(r'^org/b .* 0\.000 ', capsys.readouterr().out, re.MULTILINE)


def test_the_store_may_be_named_by_its_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said which it is, and only read; what is none is not begun beside the runs."""
    (run / 'configs').mkdir()
    with VerdictStore(run / 'verdicts.sqlite') as store:
        put_human(store, Triple('1 = ?', '1', '1'), C)
    (run / 'verdicts.sqlite.lock').unlink()
    before = sorted(run.parent.rglob('*'))
    for given in (run, run.parent):
        assert main(['audit', str(run), 'rule', 'human', '--store', str(given)]) == 0
        told = capsys.readouterr()
        assert f'human: verdicts in {run}/verdicts.sqlite' in told.err
        assert re.search(r'org/b +48 +[1-9]', told.out)
        assert 'agreement: 95 %' in told.out and 'kappa: 95 %' in told.out
    settings = run.parents[1] / 'judge.json'
    settings.write_text('{"model": "m", "api_base": "http://h/v1"}')
    argv = ['audit', str(run), 'recorded', f'judge:{settings}', '--store', str(run.parent / 'x')]
    assert main(argv) == 1
    assert 'name ends in .sqlite' in capsys.readouterr().err
    assert sorted(run.parent.rglob('*')) == before


def test_a_judge_that_is_asked(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings come from the environment or a file; what is wrong is told before it is asked."""
    assert main(['audit', str(run), 'recorded', 'judge']) == 1
    assert 'OC_JUDGE_MODEL' in capsys.readouterr().err
    assert main(['audit', str(run), 'recorded', 'judge:none.json']) == 1
    assert 'none.json' in capsys.readouterr().err
    settings = run.parent / 'judge.json'
    settings.write_text('{"model": "m", "api_base": "http://h/v1", "candidate": "response"}')
    assert main(['audit', str(run), 'recorded', f'judge:{settings}']) == 1
    assert 'only final answers' in capsys.readouterr().err
    write_table(run.parent, 'a', 'e', TrialTable([Problem('0')], [Trial('0', 0, C, answer='1')]))
    assert main(['audit', str(run), 'recorded', 'judge']) == 1
    assert 'e: the trials do not hold their questions' in capsys.readouterr().err
    assert main(['audit', str(run), 'judge', 'no-such-file']) == 1
    assert 'no-such-file: there is no such file of labels' in capsys.readouterr().err
    assert not (run / 'verdicts.sqlite').exists()


def test_a_judge_over_http(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each answer is asked about once, for good; what the judge said can be looked up."""
    argv = ['audit', str(run), 'recorded', 'judge', '-m', '10', '-o', str(tmp_path / 'o')]
    with JudgeServer() as server:
        monkeypatch.setenv('OC_JUDGE_MODEL', 'stub')
        monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)
        assert main(argv) == 0
        told = capsys.readouterr()
        calls = int(re.search(r'judge: (\d+) calls', told.err)[1])  # type: ignore[index]
        assert 0 < calls <= 20
        assert main(argv) == 0
        again = capsys.readouterr()
        assert 'judge: 0 calls' in again.err
        assert again.out == told.out
    argv[3] = 'store:stub'
    assert main(argv) == 0
    row = r'^\S+ +10 +\d+ +100\.0 .*$'  # the stub compares texts, as these trials were made
    looked_up = re.findall(row, capsys.readouterr().out, re.MULTILINE)
    assert len(looked_up) == 2 and looked_up == re.findall(row, told.out, re.MULTILINE)


def test_a_person_overrules(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is filled in is imported, and a source of its own; one of several alike will do."""
    table = make_table(8, say=lambda problem, replica: C)
    for trial in table.trials[:4]:
        trial.verdict = W
    write_table(tmp_path / 'work', 'org/b', 'd', table)
    argv = ['audit', str(run), '--model', 'org/b', '-o', str(tmp_path / 'o')]
    assert main([*argv, '-m', '1000', '--all']) == 0
    rows = read_rows(tmp_path / 'o.jsonl')
    assert len(rows) == 4
    rows[0]['human'] = 'correct'
    filled = tmp_path / 'filled.jsonl'
    filled.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    store = run / 'verdicts.sqlite'
    assert main(['verdicts', 'import', str(filled), '--store', str(store)]) == 0
    for source in ('human', str(filled)):
        assert main([*argv[:2], 'rule', source, *argv[2:], '--all']) == 0
        assert re.search(r'^correct +6 ', capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize(
    ('argv', 'told'),
    [
        (['rule'], 'sources are rule; name two different ones'),
        (['rule', 'rule'], 'sources are rule rule'),
        (['rule', 'store:'], 'store:: there is no such file'),
        (['-m', '0'], 'trials is 0'),
        (['--model', 'c'], 'there are a on d, org/b on d'),
    ],
)
def test_misuse_is_told(
    argv: list[str], told: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong and what there is."""
    assert main(['audit', str(run), *argv]) == 1
    assert told in capsys.readouterr().err


def test_hostile_texts_stay_in_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In questions, answers, replies and names: no further lines, no escapes."""
    problems = [
        Problem(f'<i>{i}', text, text[::-1], {'level': text}) for i, text in enumerate(HOSTILE)
    ]
    trials = [
        Trial(p.problem_id, s, C, answer=f'{HOSTILE[-s]}{s}', response='<a>#|')
        for p in problems
        for s in range(2)
    ]
    run = write_table(tmp_path / 'work', '<b>|m', '`d`', TrialTable(problems, trials))
    labels = [
        {'question': p.question, 'gold': p.gold, 'answer': t.answer, 'human': False}
        for p in problems
        for t in trials
    ]
    file = tmp_path / '<u>.jsonl'
    file.write_text(''.join(json.dumps(row) + '\n' for row in labels))
    assert main(['audit', str(run), 'recorded', str(file), '-o', str(tmp_path / 'o')]) == 0
    told = capsys.readouterr().out
    assert not re.search('[\x1b\u2028\u202e\ud800]', told)
    rows = read_rows(tmp_path / 'o.jsonl')
    assert sorted(row['answer'] for row in rows) == sorted(t.answer or '' for t in trials)


def test_a_person_can_read_what_is_to_be_labelled(tmp_path: Path) -> None:
    """Chinese stands there as Chinese; what would break a line or UTF-8 is escaped."""
    row = {'question': '房间里有多少人？', 'answer': 'x\u2028y\ud800z\x85'}
    line = row_line(row)
    assert '房间里有多少人？' in line
    assert line.encode('utf-8').count(b'\n') == len(line.splitlines()) == 1
    assert json.loads(line) == row
