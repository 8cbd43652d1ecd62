"""Logs of lm-evaluation-harness: one that it made, and what others may hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.page.problems import read_responses
from opencompass_gpassk.samples.sample_files import LogReader, read_samples
from opencompass_gpassk.trials import read_trials

FOLDER = Path(__file__).parent / 'data/logs/lm_eval/org__scripted'
(LOG,) = FOLDER.glob('samples_*.jsonl')
RIGHT = [4, 3, 3, 1, 0]  # as the script that made the log says


def lines() -> list[dict[str, Any]]:
    """The lines of the log: five of each of two filters."""
    return [json.loads(line) for line in LOG.read_text('utf-8').splitlines()]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return str(path)


@pytest.mark.parametrize('named', [LOG, FOLDER])
def test_its_log_is_scored_by_one_command(named: Path, tmp_path: Path) -> None:
    """Each filter's copy counts once; the raw gold answer and the document's question are read."""
    output = tmp_path / 'r.json'
    assert main(['score', str(named), '-k', '2', '-o', str(output)]) == 0
    result = json.loads(output.read_text('utf-8'))
    assert [(row['n'], row['c']) for row in result['details']] == [(4, c) for c in RIGHT]
    table, _ = read_trials(output.with_name('r.trials.jsonl.gz'))
    assert [one.question for one in table.problems][:1] == ['What is 17 + 25?']
    assert [one.gold for one in table.problems] == ['42', '144', '1/2', '19', '1024']
    assert (result['model'], result['benchmark']) == ('org__scripted', 'arithmetic')
    faults: list[str] = []
    shown = read_responses(table.trials, None, tmp_path, faults)  # as the report page reads them
    assert (len(shown), faults) == (20, [])


def test_its_verdict_is_on_the_first_sample_alone() -> None:
    """By a filter that takes the first; a filter that votes says nothing of a sample."""
    responses = read_samples(str(LOG)).responses
    said = [(one.identity, one.other_verdict) for one in responses if one.other_verdict]
    kept = [row['exact_match'] == 1 for row in lines()[:5]]
    assert said == [
        ((str(i), 0), 'correct' if right else 'incorrect') for i, right in enumerate(kept)
    ]
    assert {one.other_source for one in responses if one.other_verdict} == {'lm-eval: exact_match'}


def test_a_vote_is_no_verdict_on_a_response(tmp_path: Path) -> None:
    """Its lines are read if there are no others."""
    voted = write(tmp_path / 'samples_a.jsonl', lines()[5:])
    responses = read_samples(voted).responses
    assert len(responses) == 20
    assert not any(one.other_verdict for one in responses)


def test_audit_shows_what_the_harness_calls_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.5 for 1/2: wrong to an exact match, right to the rules."""
    output = tmp_path / 'r.json'
    assert main(['score', str(LOG), '-k', '2', '-o', str(output)]) == 0
    capsys.readouterr()
    assert main(['audit', str(output), 'theirs', 'rule', '-o', str(tmp_path / 'audit')]) == 0
    told = capsys.readouterr().out
    assert 'Agreement of theirs and rule' in told
    (row,) = map(json.loads, (tmp_path / 'audit.jsonl').read_text().splitlines())
    assert (row['gold'], row['answer']) == ('1/2', '0.5')


def test_two_runs_of_a_model_are_joined(tmp_path: Path) -> None:
    """Of equal documents; samples have no keys, so all count, but those of a copy don't."""
    for name in ('a', 'b', 'copy'):
        shutil.copytree(FOLDER, tmp_path / name / FOLDER.name)
    path = tmp_path / 'b' / LOG.relative_to(FOLDER.parent)
    path.write_text(path.read_text('utf-8').replace('"resps": [["', '"resps": [["Well. '), 'utf-8')
    output = tmp_path / 'r.json'
    folders = [str(tmp_path / name) for name in ('a', 'b', 'copy')]
    assert main(['score', *folders, '-k', '2', '-o', str(output)]) == 0
    result = json.loads(output.read_text('utf-8'))
    assert [(row['n'], row['c']) for row in result['details']] == [(8, 2 * c) for c in RIGHT]
    assert '20 responses repeat those of another file' in ' '.join(result['warnings'])


def test_the_name_of_the_task_is_that_of_its_file(tmp_path: Path) -> None:
    """The model's is known if the tool's summary lies beside it."""
    path = tmp_path / 'samples_gsm8k_cot_2026-01-02T03-04-05.678.jsonl'
    shutil.copy(LOG, path)
    reader = LogReader(str(path))
    assert (reader.name, reader.model) == ('gsm8k_cot', '')


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'resps': [[-3.5, True]]}, 'likelihoods, not texts'),
        ({'resps': 7}, 'field resps'),
        ({'resps': []}, 'field samples'),
        ({'resps': [[]]}, 'field samples'),
        ({'target': None}, 'field target'),
        ({'target': ' '}, 'field target: the gold answer is missing'),
        ({'doc_id': [1]}, 'field doc_id'),
        ({'doc': 'text'}, 'field doc'),
        ({'doc': {}, 'arguments': []}, 'field arguments'),
    ],
)
def test_other_layouts_name_the_field(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    """File, line, field and what is there; --skip-bad leaves the line out."""
    rows = lines()[:3]
    rows[1].update(change)
    path = write(tmp_path / 'a.jsonl', rows)
    with pytest.raises(ValueError, match=rf'a\.jsonl, line 2: .*{message}'):
        read_samples(path)
    told: list[str] = []
    assert len(read_samples(path, skip_bad=True, report=told.append).problems) == 2
    assert len(told) == 1


def test_its_summary_is_no_log() -> None:
    """The message says which file is."""
    (summary,) = FOLDER.glob('results_*.json')
    with pytest.raises(ValueError, match='--log_samples'):
        LogReader(str(summary))


def test_a_prompt_stands_for_a_question_that_the_document_lacks(tmp_path: Path) -> None:
    """Its fields have the names that the task's author chose."""
    rows = lines()[:1]
    rows[0]['doc'] = {'frage': 'What is 17 + 25?'}
    found = read_samples(write(tmp_path / 'a.jsonl', rows))
    assert found.problems[0].question == 'Q: What is 17 + 25?\nA:'
