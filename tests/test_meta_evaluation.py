"""Meta-evaluation: the authors' metrics from their recorded scores, made data, bad files."""

from __future__ import annotations

import gzip
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from real_data import DATA, needs_data
from sklearn.metrics import f1_score

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.reasoneval.meta_evaluation import (
    evaluate_files,
    find_scores,
    labelled_rate,
    read_scores,
    threshold_rows,
)
from opencompass_gpassk.reasoneval.mr_math import ErrorKind, find_sets, read_set

REAL = Path(DATA or '') / 'reasoneval'
RECORDED = ('math-shepherd_mistral-7b', 'reasoneval_llemma-34b', 'reasoneval_wizardmath-7b-v1.1')
HEADING = re.compile(r'\*+(invalid|redundant) errors\*+(solution|step) level\*+(.*?)\*+')
CASES = json.loads((Path(__file__).parent / 'cases' / 'reasoneval_meta.json').read_text())
COLUMNS = {
    ('solution', 'macro f1 score'): 2,
    ('solution', 'AUC'): 3,
    ('step', 'macro f1 score'): 4,
    ('step', 'AUC'): 5,
}


def reference() -> dict[tuple[str, str, str, str], str]:
    """Return what the authors' script prints: (kind, level, metric, evaluator) → three decimals."""
    metrics, heading = {}, ('', '', '')
    for line in (REAL / 'reference_output.txt').read_text().splitlines():
        if found := HEADING.fullmatch(line):
            heading = found[1], found[2], found[3]
        elif (evaluator := line.split(':')[0]) in RECORDED:
            metrics[(*heading, evaluator)] = line.split(': ')[1]
    return metrics


@needs_data
def test_authors_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    """All 24 metrics that the authors' script prints for the recorded evaluators are printed."""
    scores = str(REAL / 'recorded_scores')
    assert main(['reasoneval', 'meta', '--data', str(REAL), '--scores', scores]) == 0
    printed, kind = {}, ''
    for line in capsys.readouterr().out.splitlines():
        cells = line.split()
        if ' errors: ' in line:
            kind = cells[0]
        elif ': right answers by' in line:
            kind = ''
        elif kind and cells and cells[0] in RECORDED:
            for (level, metric), column in COLUMNS.items():
                printed[kind, level, metric, cells[0]] = cells[column]
    wanted = reference()
    assert len(wanted) == 24
    assert printed == wanted


@needs_data
def test_real_sets() -> None:
    """MR-MATH is read whole: solutions, errors, labelled steps, steps of several lines."""
    sets = {kind: read_set(path, kind) for kind, path in find_sets(REAL).items()}
    counts = {
        kind.value: (
            len(rows),
            sum(any(one.errors) for one in rows),
            sum(len(one.errors) for one in rows),
            sum(len(lines) > 1 for one in rows for lines in one.steps),
        )
        for kind, rows in sets.items()
    }
    assert counts == {'invalid': (159, 83, 729, 313), 'redundant': (300, 150, 2995, 0)}


@needs_data
def test_real_threshold_rows() -> None:
    """At the threshold of Table 4 the 34B model finds nearly as many false positives as people."""
    found = {
        one.evaluator: one
        for one in evaluate_files(REAL, [REAL / 'recorded_scores'])
        if one.kind is ErrorKind.INVALID
    }
    evaluation = found['reasoneval_llemma-34b']
    (row,) = threshold_rows(evaluation, [0.25])
    assert labelled_rate(evaluation) == 83 / 159
    assert row.false_positive_rate == 75 / 159
    assert (row.precision, row.recall) == (63 / 75, 63 / 83)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return path


def invalid_row(number: int, first: int | str, lines: list[int], **more: Any) -> dict[str, Any]:
    """Return a row of the invalid set with so many lines in each step."""
    return {
        'id': number,
        'question': f'question {number}',
        'model_output_step_format': [[f'line {i}' for i in range(n)] for n in lines],
        'model_output_solution_first_error_step': first,
        'model_output_answer_correctness': 'correct',
        **more,
    }


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Three solutions of the invalid set, two of the redundant one, in a folder."""
    write(
        tmp_path / 'sets' / 'mr-math_invalid_errors.json',
        [invalid_row(0, 2, [1, 2, 1]), invalid_row(1, 'N/A', [1]), invalid_row(2, 1, [2, 1])],
    )
    rows = [
        {'id': 'a', 'question': '', 'model_output_step_format': [['x'], ['y']], 'rating': [1, 0]},
        {'id': 'b', 'question': '', 'model_output_step_format': [['x'], ['y']], 'rating': [1, 1]},
    ]
    write(tmp_path / 'sets' / 'mr-math_redundant_errors.json', rows)
    return tmp_path / 'sets'


def scores_file(folder: Path, scores: dict[Any, Any], name: str = 'me_invalid_errors') -> Path:
    """Write a file of scores."""
    rows = [{'id': key, 'scores': value} for key, value in scores.items()]
    return write(folder / f'{name}.jsonl', rows)


def test_lines_steps_and_solutions(made: Path, tmp_path: Path) -> None:
    """A step is as bad as its worst line; after the first wrong step only solutions are scored."""
    path = scores_file(tmp_path, {0: [0.9, 0.8, 0.3, 0.1], 1: [0.7], 2: [0.6, 0.9, 0.0]})
    (found,) = evaluate_files(made, [path])
    assert found.values.tolist() == [0.1, 0.7, 0.0]
    assert found.errors.tolist() == [True, False, True]
    # Steps with a label: 0.9 right, 0.3 wrong; 0.7 right; 0.6 wrong.
    assert (found.step.units, found.step.errors) == (4, 2)
    labels, said = [0, 1, 0, 1], [0, 1, 0, 0]
    assert found.step.macro_f1 == pytest.approx(f1_score(labels, said, average='macro'))
    assert found.step.auc == 1
    assert (found.solution.macro_f1, found.solution.auc) == (1, 1)


def test_threshold_rows_by_hand(made: Path, tmp_path: Path) -> None:
    """Right answers alone are counted, and what no threshold finds has no precision."""
    path = made / 'mr-math_invalid_errors.json'
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows.append(invalid_row(3, 'N/A', [1], model_output_answer_correctness='wrong'))
    write(path, rows)
    given = {0: [0.9, 0.8, 0.3, 0.2], 1: [0.1], 2: [0.6, 0.9, 0.6], 3: [0.0]}
    (found,) = evaluate_files(made, [scores_file(tmp_path, given)])
    low, middle = threshold_rows(found, [0.1, 0.3])
    assert (low.false_positive_rate, low.recall) == (0, 0)
    assert math.isnan(low.precision)
    assert middle.false_positive_rate == 2 / 3
    assert (middle.precision, middle.recall) == (0.5, 0.5)
    assert labelled_rate(found) == 2 / 3


@pytest.mark.parametrize(
    ('name', 'evaluator'),
    [
        ('mr-math_invalid_errors/me-7b_eval_results.json', 'me-7b'),
        ('MR-MATH_invalid_errors/me.v1.1_eval_results.json', 'me.v1.1'),
        ('me_invalid_errors.jsonl', 'me'),
        ('me/mr-math_invalid_errors.jsonl', 'me'),
        ('me/invalid_errors.json', 'me'),
    ],
)
def test_names_of_files(tmp_path: Path, name: str, evaluator: str) -> None:
    """Names of files and folders tell evaluator and set."""
    found = read_scores(write(tmp_path / name, [{'id': 0, 'scores': [0.5]}]))
    assert (found.evaluator, found.kind) == (evaluator, ErrorKind.INVALID)


def test_folders_may_hold_other_files(made: Path, tmp_path: Path) -> None:
    """In a folder, what holds no scores of steps is left out aloud; named, it is an error."""
    folder = tmp_path / 'recorded'
    scores_file(folder, {0: [0.5], 1: [0.5], 2: [0.5]})
    other = write(folder / 'gpt_invalid_errors.json', [{'id': 0, 'correctness_pred': 'Wrong'}])
    write(folder / 'elsewhere.json', [{'id': 0, 'scores': [0.5]}])
    packed = folder / 'packed_redundant_errors.jsonl.gz'
    packed.write_bytes(gzip.compress(b'{"id": "a", "scores": [0.5, 0.5]}\n'))
    said: list[str] = []
    found = find_scores([folder], said.append)
    assert [one.evaluator for one in found] == ['me', 'packed']
    assert len(said) == 2
    with pytest.raises(ValueError, match='no scores of steps'):
        find_scores([other])
    with pytest.raises(ValueError, match='there are no scores;'):
        find_scores([write(tmp_path / 'empty' / 'x.txt', []).parent])


def test_two_files_of_one_evaluator(tmp_path: Path) -> None:
    """Two files of one evaluator for a set are refused; the same file twice is one."""
    first, second = (scores_file(tmp_path / name, {0: [0.5]}) for name in 'ab')
    assert len(find_scores([first, first.parent])) == 1
    with pytest.raises(ValueError, match='both of me'):
        find_scores([first, second])


@pytest.mark.parametrize('case', CASES, ids=[case['id'] for case in CASES])
def test_bad_rows(case: dict[str, Any], made: Path, tmp_path: Path) -> None:
    """A row that makes no sense is refused with the name of its field and what to do."""
    line = case.get('line') or json.dumps(case['row'])
    path = scores_file(tmp_path, {0: [0.5] * 4, 1: [0.5], 2: [0.5] * 3})
    if case['file'] == 'scores':
        replaced = '"id": 0' in line
        rest = [] if case.get('drop') else path.read_text().splitlines()[replaced:]
        path.write_text('\n'.join([line, *rest]) + '\n')
    else:
        (made / f'mr-math_{case["file"]}_errors.json').write_text(line + '\n')
    with pytest.raises(ValueError, match=case['words']):
        evaluate_files(made, [path])


def test_sets_are_found(tmp_path: Path) -> None:
    """A folder without sets, with two of a kind, or a set without a row is refused."""
    with pytest.raises(ValueError, match='holds neither set'):
        find_sets(tmp_path)
    write(tmp_path / 'MR-MATH_Invalid_errors.json', [])
    with pytest.raises(ValueError, match='no solution in it'):
        read_set(find_sets(tmp_path)[ErrorKind.INVALID], ErrorKind.INVALID)
    write(tmp_path / 'my_invalid_errors.jsonl', [])
    with pytest.raises(ValueError, match='two sets'):
        find_sets(tmp_path)


def test_one_id_twice(made: Path, tmp_path: Path) -> None:
    """An id that stands twice is refused, in a set and in scores."""
    row = invalid_row(0, 'N/A', [1])
    with pytest.raises(ValueError, match='line 2: id is 0, which stands twice'):
        read_set(write(tmp_path / 'invalid_errors.json', [row, row]), ErrorKind.INVALID)
    twice = [{'id': 0, 'scores': [0.5]}] * 2
    with pytest.raises(ValueError, match='line 2: id is 0, which stands twice'):
        read_scores(write(tmp_path / 'me_invalid_errors.json', twice))


def test_command_writes_json(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The JSON holds all metrics with their thresholds, null where undefined."""
    invalid = scores_file(tmp_path, {0: [0.9, 0.8, 0.3, 0.1], 1: [0.7], 2: [0.6, 0.4, 0.0]})
    idle = {'a': [[0, 0.1, 0.9], [0, 0.6, 0.4]], 'b': [[0, 0.1, 0.9], [0, 0.05, 0.95]]}
    redundant = scores_file(tmp_path, idle, 'me_redundant_errors')
    output = tmp_path / 'out.json'
    command = ['reasoneval', 'meta', '--data', str(made), '--scores', str(invalid), str(redundant)]
    assert main([*command, '-o', str(output)]) == 0
    out, err = capsys.readouterr()
    assert 'the score of a solution is that of its worst step' in out
    assert 'out.json written' in err
    found = json.loads(output.read_text())['evaluators']['me']
    assert found['redundant']['solution']['threshold'] == 0.15
    assert found['redundant']['solution']['macro_f1'] == 1
    assert found['redundant']['step']['auc'] == 1
    row = found['invalid']['thresholds'][0]
    assert (row['threshold'], row['false_positive_rate'], row['recall']) == (0.05, 1 / 3, 0.5)
    assert found['invalid']['labelled_false_positive_rate'] == 2 / 3


def test_command_wants_the_set_that_was_scored(made: Path, tmp_path: Path) -> None:
    """Scores of a set that isn't in the folder are an error that says so."""
    (made / 'mr-math_redundant_errors.json').unlink()
    path = scores_file(tmp_path, {'a': [0.5, 0.5]}, 'me_redundant_errors')
    with pytest.raises(ValueError, match='has no set of redundant errors, which me scored'):
        evaluate_files(made, [path])
