"""``gpassk rescore``: new metrics from old responses, and nothing lost where that fails."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from eval_judges import judged_by
from eval_task import (
    COUNTS,
    N,
    OurSums,
    Sums,
    config,
    counts,
    data_set,
    evaluate,
    infer_in_shards,
    predict,
    question,
)
from judge_server import JudgeServer
from made_results import result_of
from opencompass.registry import TEXT_POSTPROCESSORS
from scripted_judge import ScriptedJudge, refusing, right_if
from store_writer import put_human

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.commands.rescore import Changes
from opencompass_gpassk.evaluator import GPassKEvaluator, ReasonEvalEvaluator
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.inference.server_replies import Failure
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.settings import recorded_judge
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import Verdict

pytestmark = pytest.mark.usefixtures('no_metrics')


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run by rule."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'outputs' / '20260101_000000'
    made = data_set(evaluator={'type': GPassKEvaluator, 'taus': [0.5, 1.0]})
    predict(folder, made)
    evaluate(folder, made)
    write_config(folder / 'configs' / 'run.py', folder, made)
    return folder


def write_config(path: Path, folder: Path, dataset: dict[str, Any]) -> None:
    """The config as OpenCompass writes it down."""
    whole = config(folder, dataset).to_dict()
    whole['datasets'] = whole['datasets'][0]
    path.parent.mkdir(exist_ok=True)
    path.write_text('\n'.join(f'{name} = {named(value)!r}' for name, value in whole.items()))


def named(value: Any) -> Any:
    """A config in which classes stand by name."""
    if isinstance(value, dict):
        return {key: named(one) for key, one in value.items()}
    if isinstance(value, list):
        return [named(one) for one in value]
    return f'{value.__module__}.{value.__name__}' if isinstance(value, type) else value


def result(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / 'results/demo/sums_en.json').read_text())
    return found


def answers(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to the first problem."""
    return [one for one in found['details'][0]['answers'] for _ in range(one['count'])]


def ask(monkeypatch: pytest.MonkeyPatch, judge: ScriptedJudge) -> ScriptedJudge:
    """Put a scripted judge behind the settings."""
    monkeypatch.setattr('opencompass_gpassk.judging.pipeline.make_judge', lambda settings: judge)
    return judge


def test_new_thresholds_are_computed_from_old_responses(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest of the result stays as it was, and the summary is printed."""
    before = result(run)
    assert main(['rescore', str(run.parent), '--tau', '0.25', '1', '-k', '2', '4']) == 0
    after = result(run)
    assert {name for name in after if name.startswith('G-Pass@4')} == {
        'G-Pass@4_0.25',
        'G-Pass@4_1.0',
    }
    assert counts(after) == counts(before) == COUNTS
    assert after['G-Pass@2_1.0'] == before['G-Pass@2_1.0']
    assert 'G-Pass@4_1.0' in capsys.readouterr().out


def test_it_says_what_changed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings that were asked for, and headline metrics; what was not asked for stays."""

    def told(*options: str) -> str:
        assert main(['rescore', str(run), *options]) == 0
        lines = capsys.readouterr().err.splitlines()
        return next(line for line in lines if line.startswith('demo/sums_en: rescored'))

    assert told() == 'demo/sums_en: rescored; judge rule; no headline metric changed'
    assert 'τ 0.25 instead of 0.5, 1' in told('--tau', '0.25')
    assert 'instead of' not in told()
    assert result(run)['taus'] == [0.25]
    path = run / 'results' / 'demo' / 'sums_en.json'
    key = 'accuracy'
    path.write_text(
        json.dumps({**(old := result(run)), key: 12.25, 'metrics': {**old['metrics'], key: 12.25}})
    )
    assert f'average@{N} 12.2 → {result_of_counts():.1f}' in told()


def result_of_counts() -> float:
    """The accuracy that the counts make."""
    return 100 * sum(COUNTS) / (N * len(COUNTS))


def gap(row: int, record: dict[str, Any]) -> dict[str, Any] | None:
    """A lost response, a missing one, a silent one and one that was cut off."""
    lost = {'prediction': '', 'lost': 'HTTP 500'}
    changes = {3: lost, 5: {'prediction': ''}, 6: {'truncated': True}}
    return None if row == 4 else record | changes.get(row, {})


@pytest.mark.parametrize(
    'kind', ['groups', 'shards', "OpenCompass's inferencer", 'n = 1', 'gaps', 'unjudged']
)
def test_without_changes_the_result_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """To the byte, with its trials; from the trials alone it is too, for other k and τ."""
    monkeypatch.chdir(tmp_path)
    run, theirs = tmp_path / '20260101_000000', kind == "OpenCompass's inferencer"
    evaluator: dict[str, Any] = {'type': GPassKEvaluator}
    if kind == 'gaps':
        evaluator |= {'min_coverage': 0.9, 'taus': [0.5], 'groups': ['language'], 'intervals': None}
    if kind == 'unjudged':
        evaluator = {'type': ReasonEvalEvaluator, 'reasoning': 'demo'}
    n, k = (1, 1) if kind == 'n = 1' else (N, 2)
    made = data_set(Sums if theirs else OurSums, n=n, k=k, evaluator=evaluator)
    if kind == 'shards':
        run.mkdir()
        infer_in_shards(run, made)
    else:
        change = {'gaps': gap, 'unjudged': lambda _, r: r | {'prediction': '1 + 1 = 2, so 2.'}}
        predict(run, made, ours=not theirs, change=change.get(kind, lambda _, record: record))
    evaluate(run, made)
    files = [path for path in (run / 'results').rglob('*.*') if path.suffix in ('.json', '.gz')]
    before = {path: read(path) for path in files}
    (run / 'configs').mkdir()
    assert main(['rescore', str(run)]) == 0
    assert {path: read(path) for path in files} == before
    options = ['--tau', '0.25', '1', *(['-k', '3'] if n > 1 else [])]
    trials = str(run / 'results/demo/sums_en.trials.jsonl.gz')
    assert main(['score', trials, *options, '-o', 'out.json']) == 0
    assert main(['rescore', str(run), *options]) == 0
    again, alone = result(run), json.loads(Path('out.json').read_text())
    for one in (again, alone):
        one['warnings'].sort()
        for own in ('rescored', 'trials_file', 'steps_file'):
            one.pop(own, None)
    assert without_nan(again) == alone


def read(path: Path) -> bytes:
    """The content of a file, without what gzip adds."""
    return gzip.decompress(path.read_bytes()) if path.suffix == '.gz' else path.read_bytes()


def test_a_judge_may_come_later(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its verdicts lie in the run; a second rescoring asks for none of them."""
    judge = ask(monkeypatch, right_if('0', '100'))
    for _ in range(2):
        assert main(['rescore', str(run), '--judge', 'llm']) == 0
    after = result(run)
    assert after['signature']['judge'].startswith('llm:scripted:')
    assert counts(after)[0] == N - sum(row['answer'] not in ('0', '100') for row in answers(after))
    assert after['judging']['ledger']['saved']['store'] == len(judge.asked)
    assert after['judging']['ledger']['calls'] == 0


def test_a_person_may_overrule(run: Path) -> None:
    """Without any judge; the verdict is marked in the trials."""
    with VerdictStore(run / 'verdicts.sqlite') as store:
        put_human(store, Triple(question(5), '5', '5'), Verdict.INCORRECT)
    assert main(['rescore', str(run)]) == 0
    after = result(run)
    assert counts(after) == [*COUNTS[:5], 0, *COUNTS[6:]]
    assert after['details'][5]['answers'][0]['source'] == 'human'
    assert any("6 of 80 verdicts are a person's" in text for text in after['warnings'])


def test_what_fails_leaves_the_old_result(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says so, and why."""
    before = (run / 'results/demo/sums_en.json').read_bytes()
    judge = ask(monkeypatch, right_if('0'))
    assert main(['rescore', str(run), '--judge', 'llm', '-k', str(N + 1)]) == 1
    assert f'k is {N + 1} and n is {N}' in capsys.readouterr().err
    assert not judge.asked
    ask(monkeypatch, refusing('the key is refused'))
    assert main(['rescore', str(run), '--judge', 'llm']) == 1
    assert 'demo/sums_en: not rescored: the key is refused' in capsys.readouterr().err
    assert (run / 'results/demo/sums_en.json').read_bytes() == before


@pytest.mark.parametrize('left', ['none', 'trials', 'result'])
def test_without_a_whole_result_there_is_nothing_to_rescore(
    run: Path, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    """The error says what makes one; what is left stays."""
    for name, end in (('trials', '.trials.jsonl.gz'), ('result', '.json')):
        if name != left:
            (run / f'results/demo/sums_en{end}').unlink()
    before = {path: path.read_bytes() for path in (run / 'results').rglob('*.*')}
    assert main(['rescore', str(run)]) == 1
    assert 'opencompass CONFIG -r' in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (run / 'results').rglob('*.*')}


def test_a_later_rescoring_keeps_the_judge_of_the_result(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that of the config, which an earlier rescoring may have changed; a change is told."""
    ask(monkeypatch, right_if('0'))
    assert main(['rescore', str(run), '--judge', 'llm']) == 0
    assert 'instead of rule' in capsys.readouterr().err
    judge = result(run)['signature']['judge']
    assert main(['rescore', str(run), '--tau', '1']) == 0
    assert result(run)['signature']['judge'] == judge
    assert main(['rescore', str(run), '--judge', 'rule']) == 0
    assert counts(result(run)) == COUNTS


def test_a_later_rescoring_still_counts_undecided_answers_as_wrong(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until the judge is named anew."""
    rescore = ['rescore', str(run)]
    assert main([*rescore, '--undecided', 'incorrect']) == 1
    assert '--undecided is for verdicts by rule; give --judge rule too' in capsys.readouterr().err
    assert main([*rescore, '--judge', 'rule', '--undecided', 'incorrect']) == 0
    assert main([*rescore, '--tau', '1']) == 0
    assert result(run)['signature']['judge'] == 'rule:undecided-incorrect'
    settings = result(run)['judging']['settings']
    assert recorded_judge(settings) == settings == {'mode': 'rule', 'undecided': 'incorrect'}
    ask(monkeypatch, right_if('0'))
    assert main([*rescore, '--judge', 'cascade']) == 0
    assert main([*rescore, '--judge', 'rule']) == 0
    assert result(run)['signature']['judge'] == 'rule'


def test_a_judge_from_the_environment_is_known_later(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result names it, when the variables are gone; its verdicts are in the store."""
    with JudgeServer() as server:
        monkeypatch.setenv('OC_JUDGE_MODEL', 'judge')
        monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)
        assert main(['rescore', str(run), '--judge', 'llm']) == 0
        calls = server.calls
        judging = {**result(run)['judging']['settings'], 'max_tokens': 64}
        kept = result_of(
            {},
            4,
            judging={'mode': 'llm', 'settings': judging},
            signature={'n': 4, 'judge': 'llm:x'},
        )
        for model, limit in (('judge', 64), ('another', None)):
            monkeypatch.setenv('OC_JUDGE_MODEL', model)
            asked = Changes('cascade').judge_of(kept)
            assert isinstance(asked, dict)
            assert asked.get('max_tokens') == limit
            same = Changes().judge_of(kept)
            assert isinstance(same, dict)
            assert (same['model'], 'recorded' in same) == ('judge', model == 'another')
        monkeypatch.delenv('OC_JUDGE_MODEL')
        monkeypatch.delenv('OC_JUDGE_API_BASE')
        assert main(['rescore', str(run), '--tau', '1']) == 0
        assert main(['rescore', str(run), '--judge', 'cascade']) == 0
    assert server.calls == calls > 0
    assert counts(result(run)) == COUNTS


def test_a_judge_that_is_down_says_what_helps(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To rescore again, since there is a result; a gap of everything is not accepted."""
    down = ScriptedJudge(lambda answer, _: Failure('unreachable', False, 'nobody is there'))
    ask(monkeypatch, down)
    assert main(['rescore', str(run), '--judge', 'llm']) == 1
    assert 'run gpassk rescore with the same options again' in capsys.readouterr().err
    before = result(run)
    assert main(['rescore', str(run), '--judge', 'llm', '--min-coverage', '0']) == 1
    assert 'no verdict' in capsys.readouterr().err
    assert result(run) == before


def test_one_data_set_that_fails_costs_no_other(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is wrong with its files."""
    other = data_set(abbr='other')
    predict(run, other)
    evaluate(run, other)
    (run / 'predictions/demo/other.json').write_text('{"0": {}}')
    assert main(['rescore', str(run)]) == 1
    error = capsys.readouterr().err
    assert 'demo/other: not rescored' in error
    assert 'demo/sums_en: rescored' in error


@TEXT_POSTPROCESSORS.register_module()
def without_beginning(text: str) -> str:
    """A postprocessor that a result can't have called."""
    return text.rpartition('END')[2]


CUT = {
    'type': 'extract-non-reasoning-content',
    'think_start_token': 'BEGIN',
    'think_end_token': 'END',
}


@pytest.mark.parametrize(
    ('how', 'place'),
    [
        *(('known', place) for place in ('model', 'data set', 'evaluator')),
        *(('unknown', 'model'), ('pattern', 'data set')),
    ],
)
def test_responses_are_read_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str, place: str
) -> None:
    """A known postprocessor cuts them again. Without another the verdicts stay, until a judge is
    named."""
    marks = {
        'pattern': {**CUT, 'think_end_token': '(END)'},
        'unknown': {'type': 'without_beginning'},
    }
    cut = {'pred_postprocessor': marks.get(how, CUT)}
    dataset = data_set(
        evaluator={'type': GPassKEvaluator, **(cut if place == 'evaluator' else {})},
        eval_cfg=cut if place == 'data set' else {},
    )
    predict(
        tmp_path,
        dataset,
        change=lambda i, r: r | {'prediction': rf'BEGIN \boxed{{7}} END So it is {i % 10}.'},
    )
    (tmp_path / 'configs').mkdir()
    evaluate(tmp_path, dataset, **(cut if place == 'model' else {}))
    before = result(tmp_path)
    assert main(['rescore', str(tmp_path), '--tau', '1']) == 0
    after = result(tmp_path)
    assert after['details'] == before['details']
    assert after['evaluation'] == before['evaluation']
    assert ('is not applied' in capsys.readouterr().err) == (how != 'known')
    assert main(['rescore', str(tmp_path), '--judge', 'rule']) == 0
    assert (result(tmp_path)['details'] == before['details']) == (how == 'known')


def test_verdicts_of_another_evaluator_serve_other_thresholds(tmp_path: Path) -> None:
    """Its notes stay; a new response needs a new verdict; a judge of ours may take its place."""
    dataset = data_set(Sums, evaluator=judged_by('details'))
    predict(tmp_path, dataset)
    (tmp_path / 'configs').mkdir()
    evaluate(tmp_path, dataset)
    path = tmp_path / 'results/demo/sums_en.json'
    noted = result(tmp_path)
    noted['judging']['notes'] = ['a note']
    path.write_text(json.dumps(noted))
    assert main(['rescore', str(tmp_path), '-k', '2', '4', '--tau', '1']) == 0
    after = result(tmp_path)
    assert after['signature'] == {**noted['signature'], 'k': [2, 4]}
    assert 'a note' in after['warnings']
    assert counts(after) == COUNTS
    predict(tmp_path, dataset, change=lambda i, r: r | {'prediction': r['prediction'] + ' '})
    assert main(['rescore', str(tmp_path)]) == 1
    assert result(tmp_path) == after
    assert main(['rescore', str(tmp_path), '--judge', 'rule']) == 0
    assert result(tmp_path)['signature']['judge'] == 'rule'


def test_a_gold_answer_that_is_no_text_has_no_verdict_by_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trials hold it as a text, but it may list several answers."""
    dataset = data_set(Sums, golds=[[str(i)] for i in range(10)], evaluator=judged_by('details'))
    predict(tmp_path, dataset)
    (tmp_path / 'configs').mkdir()
    evaluate(tmp_path, dataset)
    assert main(['rescore', str(tmp_path), '--judge', 'rule']) == 1
    assert "the gold answer is ['0']" in capsys.readouterr().err


def test_the_summary_needs_no_config(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its order is that of the files then."""
    (run / 'configs/run.py').write_text('import something')
    assert main(['rescore', str(run), '--tau', '0.25']) == 0
    printed = capsys.readouterr()
    assert 'G-Pass@2_0.25' in printed.out
    assert 'instead of 0.25' not in printed.out
