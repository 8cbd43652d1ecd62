"""``gpassk score``: files, standard input and old runs, malformed rows, what is written."""

from __future__ import annotations

import gzip
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from real_data import DATA, needs_data

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.trials import read_trials


def rows(n: int = 4) -> list[dict[str, Any]]:
    """Three problems of which 0, 2 and 4 of four samples are right."""
    return [
        {
            'question': f'{i} + 1 = ?',
            'answer': str(i + 1),
            'samples': [f'\\boxed{{{i + 1 if s < 2 * i else 90 + s}}}' for s in range(n)],
            'split': 'A' if i else 'B',
        }
        for i in range(3)
    ]


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    """A file of JSON lines, gzipped if its name says so."""
    text = ''.join(json.dumps(line) + '\n' for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == '.gz' else text.encode())
    return str(path)


@pytest.mark.parametrize('name', ['a.jsonl', 'a.jsonl.gz'])
def test_a_file_is_scored(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table stands on screen, result and trials in files."""
    output = tmp_path / 'a new folder/result.json'
    argv = ['score', write(tmp_path / name, rows()), '-k', '2', '--tau', '0.5,1']
    assert main([*argv, '-o', str(output)]) == 0
    result = json.loads(output.read_text())
    assert [row['c'] for row in result['details']] == [0, 2, 4]
    # Of two drawn from four of which two are right: 5/6 at least one, 1/6 both.
    assert result['pass@2'] == pytest.approx(100 * (0 + 5 / 6 + 1) / 3)
    assert result['G-Pass@2_1.0'] == pytest.approx(100 * (0 + 1 / 6 + 1) / 3)
    assert read_trials(output.with_name(result['trials_file']))[0].counts()[1].tolist() == [0, 2, 4]
    told = capsys.readouterr().out
    assert '61.1' in told and 'G-Pass@2_0.5' not in told and len(told.splitlines()) <= 16
    assert f'gpassk plan {shlex.quote(str(output))}' in told
    # Its trials tell other k, what it holds itself does not.
    assert main(['score', str(output)]) == 1
    trials = shlex.quote(str(output.with_name(result['trials_file'])))
    assert f'gpassk score {trials} -k' in capsys.readouterr().err
    assert main([*argv, '--all']) == 0
    assert 'G-Pass@2_0.5' in capsys.readouterr().out


def test_generated_questions_with_samples_are_scored_as_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `gpassk rv generate` wrote and another engine answered: the original alone is right."""
    generated, output = tmp_path / 'rv.jsonl', tmp_path / 'result.json'
    command = ['rv', 'generate', '--name', 'LampsInStep', '--language', 'both']
    assert main([*command, '-o', str(generated)]) == 0
    posed = [json.loads(line) for line in generated.read_text().splitlines()]
    answered = [
        {**row, 'samples': [f'\\boxed{{{row["answer"] if row["original"] else 77777}}}']}
        for row in posed
    ]
    assert main(['score', write(tmp_path / 'a.jsonl', answered), '-o', str(output)]) == 0
    result = json.loads(output.read_text())
    assert (result['accuracy'], result['SP accuracy'], result['OOR']) == (0.0, 100.0, 100.0)
    assert result['versions']['groups'] == 2  # one in each language
    assert 'Questions with random variables' in capsys.readouterr().out
    for row in answered:  # other engines may number versions from 0, or leave them unnumbered
        row['version'] = None if row['original'] else int(row['version']) - 1
    assert main(['score', write(tmp_path / 'b.jsonl', answered), '-o', str(output)]) == 0
    again = json.loads(output.read_text())
    assert (again['versions'], again['OOR']) == (result['versions'], 100.0)
    del answered[0]['group']
    assert main(['score', write(tmp_path / 'c.jsonl', answered)]) == 1
    assert "problem '1' has no group and version, but others have" in capsys.readouterr().err


def test_standard_input_is_scored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dash reads standard input, gzipped or not."""
    data = gzip.compress(''.join(json.dumps(row) + '\n' for row in rows()).encode())
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))  # type: ignore[arg-type]
    monkeypatch.setattr('sys.stdin', stdin)
    assert main(['score', '-']) == 0
    assert 'n = 4' in capsys.readouterr().out


def test_a_malformed_row_names_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error with line and field; --skip-bad goes on and tells."""
    bad = [*rows(), {'question': '?', 'answer': '1', 'samples': 'one text'}]
    path = write(tmp_path / 'bad.jsonl', bad)
    assert main(['score', path]) == 1
    error = capsys.readouterr().err
    assert 'line 4: field samples' in error
    assert 'the fields there are question, answer, samples' in error
    assert '--skip-bad' in error
    assert main(['score', path, '--skip-bad']) == 0
    assert 'left out' in capsys.readouterr().err


def test_other_names_of_columns_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option that the error names is the one that works."""
    names = {'question': 'input', 'answer': 'reference', 'samples': 'generations'}
    renamed = [{names.get(key, key): value for key, value in row.items()} for row in rows()]
    path = write(tmp_path / 'theirs.jsonl', renamed)
    assert main(['score', path]) == 1
    option = 'question=input answer=reference samples=generations'
    assert f'--columns {option}' in capsys.readouterr().err
    assert main(['score', path, '--columns', *option.split(), '-k', '2']) == 0


@pytest.mark.parametrize(
    ('ks', 'kept'),
    [
        (['2,4,8,16'], [2, 4]),
        (['2', '4', '8', '16'], [2, 4]),
        (['2,', '4', '8,16'], [2, 4]),
        (['8,16'], [4]),
    ],
)
def test_k_beyond_n_are_left_out(
    ks: list[str], kept: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a warning; commas and blanks both part numbers; if none is left, k is n."""
    path, output = write(tmp_path / 'a.jsonl', rows()), tmp_path / 'r.json'
    assert main(['score', path, '-o', str(output), '-k', *ks]) == 0
    assert json.loads(output.read_text())['k'] == kept
    assert 'k = 8, 16 is left out: n is only 4' in capsys.readouterr().err


def test_a_word_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, as for any misuse, and what is needed."""
    with pytest.raises(SystemExit, match='2'):
        main(['score', 'a.jsonl', '-k', '4,many'])
    assert '4,many: numbers are needed, such as 4,8' in capsys.readouterr().err


def test_what_cannot_be_written_or_read_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An output that is a folder, k beyond n, no such file: exit code 1 and a line."""

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError('judged')

    monkeypatch.setattr('opencompass_gpassk.judging.pipeline.judge_responses', work)
    path = write(tmp_path / 'a.jsonl', rows())
    for argv, message in (
        ([path, '-o', str(tmp_path)], 'is a folder'),
        ([path, '-k', '0'], 'k is 0 and n is 4'),
        ([path, '--tau', '1.5'], 'taus holds 1.5'),
        ([str(tmp_path / 'none.jsonl')], 'No such file'),
    ):
        assert main(['score', *argv]) == 1
        assert message in capsys.readouterr().err


def make_run(folder: Path, datasets: list[str]) -> Path:
    """A run of OpenCompass's own inferencer on data sets repeated four times."""
    model = folder / '20260101_000000/predictions/demo'
    model.mkdir(parents=True)
    for dataset in datasets:
        records = [
            {
                'origin_prompt': row['question'],
                'prediction': row['samples'][s],
                'gold': row['answer'],
            }
            for s in range(4)
            for row in rows()
        ]
        (model / f'{dataset}.json').write_text(json.dumps(dict(enumerate(records))))
    return folder


def test_several_results_become_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file for each model and data set, and a table for each."""
    run = make_run(tmp_path / 'run', ['d', 'e'])
    assert main(['score', str(run), '-o', str(tmp_path / 'r.json')]) == 0
    assert sorted(p.name for p in (tmp_path / 'r/demo').glob('*.json')) == ['d.json', 'e.json']
    told = capsys.readouterr().out
    assert 'd: 3 problems' in told
    assert f'gpassk plan {shlex.quote(str(tmp_path / "r"))}  #' in told


def test_data_sets_of_a_run_that_cannot_be_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those without repetition are passed over, broken ones are an error or left out."""
    run = make_run(tmp_path / 'run', ['d'])
    model = run / '20260101_000000/predictions/demo'
    once = {'0': {'origin_prompt': 'a', 'prediction': 'b', 'gold': 'c'}}
    (model / 'once.json').write_text(json.dumps(once))
    (model / 'torn.json').write_text('{"0": {"origin')
    assert main(['score', str(run)]) == 1
    assert 'torn.json' in capsys.readouterr().err
    assert main(['score', str(run), '--skip-bad', '-o', str(tmp_path / 'r')]) == 0
    told = capsys.readouterr()
    assert 'left out: demo, once: one response per problem' in told.err
    assert 'd: 3 problems' in told.out
    assert [path.name for path in (tmp_path / 'r/demo').glob('*.json')] == ['d.json']
    (model / 'd.json').unlink()
    assert main(['score', str(run), '--skip-bad']) == 1
    assert 'have one response per problem' in capsys.readouterr().err


def test_a_run_that_has_not_ended_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing and the remedy; left out by --skip-bad, the others are scored."""
    run = make_run(tmp_path / 'run', ['d', 'e_0'])
    model = run / '20260101_000000/predictions/demo'
    (model / 'tmp_e_1.jsonl').write_text('{}\n')
    assert main(['score', str(run)]) == 1
    error = capsys.readouterr().err
    for told in ('demo, e: missing e_1.json, unfinished tmp_e_1.jsonl', 'CONFIG -r', '--skip-bad'):
        assert told in error
    assert main(['score', str(run), '--skip-bad']) == 0
    told = capsys.readouterr()
    assert 'left out: demo, e: missing e_1.json' in told.err
    assert 'd: 3 problems' in told.out
    assert 'e: 3 problems' not in told.out


def test_a_model_whose_name_holds_a_slash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its results lie in folders of that name."""
    run = make_run(tmp_path / 'run', ['d', 'e'])
    (run / '20260101_000000/predictions/org').mkdir()
    (run / '20260101_000000/predictions/demo').rename(run / '20260101_000000/predictions/org/demo')
    assert main(['score', str(run), '-o', str(tmp_path / 'r')]) == 0
    assert 'org/demo' in capsys.readouterr().out
    table, _ = read_trials(tmp_path / 'r/org/demo/d.trials.jsonl.gz')
    place = 'run/20260101_000000/predictions/org/demo/d.json#0'  # relative to the result
    assert table.trials[0].response == f'../../../{place}'


@needs_data
def test_recorded_responses_agree_with_their_labels(tmp_path: Path) -> None:
    """800 responses of a real model, labelled by another project's rules."""
    path = Path(DATA or '') / 'samples/qwen25math_math_100x8.jsonl'
    output = tmp_path / 'r.json'
    assert main(['score', str(path), '-k', '4', '-o', str(output)]) == 0
    recorded = [json.loads(line) for line in path.read_text('utf-8').splitlines()]
    found = {row['problem_id']: row['c'] for row in json.loads(output.read_text())['details']}
    differ = {
        str(row['id']): (sum(row['recorded_correct']), found[str(row['id'])])
        for row in recorded
        if sum(row['recorded_correct']) != found[str(row['id'])]
    }
    # Sample 7 of problem 72 answers 10000 where the gold answer is 10{,}000: the label is wrong.
    assert differ == {'72': (0, 1)}


def test_a_store_is_no_matter_where_no_judge_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither where runs lie, nor one that is damaged: people's verdicts are left out then."""
    (tmp_path / '20250101_000000' / 'configs').mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert main(['score', write(tmp_path / 'a.jsonl', rows())]) == 0
    (tmp_path / 'verdicts.sqlite').write_bytes(b'no database at all' * 100)
    output = tmp_path / 'r.json'
    assert main(['score', str(tmp_path / 'a.jsonl'), '-o', str(output)]) == 0
    assert main(['score', str(tmp_path / 'a.jsonl'), '--store', 'verdicts.sqlite']) == 0
    assert "people's verdicts are left out" in capsys.readouterr().out


def test_samples_of_two_models_meet_under_the_names_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever their files are called, they are of one data set on the report page."""
    for model in ('a', 'b'):
        row = {'question': '1 + 1 = ?', 'answer': '2', 'samples': ['\\boxed{2}'] * 4}
        path = tmp_path / f'of_{model}.jsonl'
        path.write_text(json.dumps(row) + '\n')
        options = ['--model', f'model {model}', '--dataset', 'sums', '-k', '2']
        assert main(['score', str(path), *options, '-o', str(tmp_path / f'{model}_out.json')]) == 0
    assert 'model b' in capsys.readouterr().out
    (sums,) = page_data([tmp_path]).data_sets
    assert sums.name == 'sums'
    assert [entry.model for entry in sums.entries] == ['model a', 'model b']


def undecidable(folder: Path) -> str:
    """A file of two problems: four right answers; two right ones and two that no rule can tell."""
    answers = [['1/2'] * 4, ['0.5', '1/2', 'half of it', 'half of it']]
    return write(
        folder / 'samples.jsonl',
        [
            {'question': f'q{i}', 'answer': '1/2', 'samples': [f'\\boxed{{{a}}}' for a in given]}
            for i, given in enumerate(answers)
        ],
    )


def test_what_no_rule_decides_may_count_as_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every table says so; the bounds and the coverage are those of the verdicts."""
    output = tmp_path / 'result.json'
    argv = ['score', undecidable(tmp_path), '-k', '2', '--tau', '1', '-o', str(output)]
    assert main(argv) == 0
    plain = json.loads(output.read_text())
    told = capsys.readouterr().out
    assert 'the rules could not decide' not in told and '--judge cascade  # ask' in told
    trials = str(output.with_name(plain['trials_file']))
    assert main(['score', trials]) == 0  # which hold nothing that a judge could be asked about
    assert '--judge' not in capsys.readouterr().out
    assert 99 < plain['G-Pass@2_1.0'] < 100
    assert main([*argv, '--undecided', 'incorrect', '--all']) == 0
    strict = json.loads(output.read_text())
    tables = capsys.readouterr().out.split('\n\n')
    assert all('the rules could not decide count as wrong' in one for one in tables if one.strip())
    assert strict['G-Pass@2_1.0'] == pytest.approx(100 * (1 + 1 / 6) / 2)
    assert strict['bounds'] == plain['bounds']
    assert strict['shares']['coverage'] == plain['shares']['coverage'] == 75.0
    assert strict['counts']['undecided'] == 2
    assert strict['counts']['unjudged'] == 0
    assert strict['signature']['judge'] == 'rule:undecided-incorrect'
    assert strict['judging']['reasons'] == plain['judging']['reasons']
    assert strict['judging']['reasons']['unknown: words'] == 2
    assert any('2 that no rule could decide' in warning for warning in strict['warnings'])


def test_a_comparison_says_what_counts_as_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even if it does so on both sides."""
    samples = undecidable(tmp_path)
    for name in 'ab':
        output = ['-o', str(tmp_path / f'{name}.json')]
        assert main(['score', samples, '--undecided', 'incorrect', '--dataset', 'd', *output]) == 0
    capsys.readouterr()
    assert main(['compare', str(tmp_path / 'a.json'), str(tmp_path / 'b.json')]) == 0
    assert 'A has 2 missing verdicts: 2 that no rule could decide' in capsys.readouterr().out


def test_a_judge_leaves_nothing_to_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The setting is for rules alone, and refused before any work."""
    assert main(['score', 'none.jsonl', '--judge', 'llm', '--undecided', 'incorrect']) == 1
    assert "undecided of judge is 'incorrect', but a judge is asked" in capsys.readouterr().err
