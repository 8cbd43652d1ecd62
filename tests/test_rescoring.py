"""``gpassk rescore``: new figures from old responses, and nothing lost where that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from eval_task import COUNTS, N, Sums, config, counts, data_set, evaluate, predict, question
from judge_server import JudgeServer
from scripted_judge import ScriptedJudge, refusing, right_if
from store_writer import put_human

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.commands.rescore.known_classes import recorded_judge
from opencompass_gpassk.commands.rescore.task import Changes
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inference.server_replies import Failure
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import Verdict

pytestmark = pytest.mark.usefixtures('no_figures')


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
    assert (
        main(['rescore', '--trust-config', str(run.parent), '--tau', '0.25', '1', '-k', '2', '4'])
        == 0
    )
    after = result(run)
    assert {name for name in after if name.startswith('G-Pass@4')} == {
        'G-Pass@4_0.25',
        'G-Pass@4_1.0',
    }
    assert counts(after) == counts(before) == COUNTS
    assert after['G-Pass@2_1.0'] == before['G-Pass@2_1.0']
    assert 'G-Pass@4_0.25' in capsys.readouterr().out


def test_it_says_what_changed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings that were asked for, and headline figures; what was not asked for stays."""

    def told(*options: str) -> str:
        assert main(['rescore', str(run), '--trust-config', *options]) == 0
        lines = capsys.readouterr().err.splitlines()
        return next(line for line in lines if line.startswith('demo/sums_en: rescored'))

    assert told() == 'demo/sums_en: rescored; judge rule; no headline figure changed'
    assert 'τ 0.25 instead of 0.5, 1' in told('--tau', '0.25')
    assert 'instead of' not in told()
    assert result(run)['taus'] == [0.25]
    path = run / 'results' / 'demo' / 'sums_en.json'
    key = 'accuracy'
    path.write_text(
        json.dumps({**(old := result(run)), key: 12.25, 'figures': {**old['figures'], key: 12.25}})
    )
    assert f'average@{N} 12.2 → {result_of_counts():.1f}' in told()


def result_of_counts() -> float:
    """The accuracy that the counts make."""
    return 100 * sum(COUNTS) / (N * len(COUNTS))


def test_looks_are_kept(run: Path) -> None:
    """Responses don't tell how often they were looked at."""
    path = run / 'results/demo/sums_en.json'
    path.write_text(json.dumps(result(run) | {'looks': [2, 4]}))
    assert main(['rescore', '--trust-config', str(run)]) == 0
    assert result(run)['looks'] == [2, 4]


def test_a_judge_may_come_later(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its verdicts lie in the run; a second rescoring asks for none of them."""
    judge = ask(monkeypatch, right_if('0', '100'))
    for _ in range(2):
        assert main(['rescore', '--trust-config', str(run), '--judge', 'llm']) == 0
    after = result(run)
    assert after['signature']['judge'].startswith('llm:scripted:')
    assert counts(after)[0] == N - sum(row['answer'] not in ('0', '100') for row in answers(after))
    assert after['judging']['ledger']['saved']['store'] == len(judge.asked)
    assert after['judging']['ledger']['calls'] == 0


def test_a_person_may_overrule(run: Path) -> None:
    """Without any judge; the verdict is marked in the trials."""
    with VerdictStore(run / 'verdicts.sqlite') as store:
        put_human(store, Triple(question(5), '5', '5'), Verdict.INCORRECT)
    assert main(['rescore', '--trust-config', str(run)]) == 0
    after = result(run)
    assert counts(after) == [*COUNTS[:5], 0, *COUNTS[6:]]
    assert after['details'][5]['answers'][0]['source'] == 'human'
    assert any("6 of 80 verdicts are a person's" in text for text in after['warnings'])


def test_a_changed_config_stands_in(run: Path, tmp_path: Path) -> None:
    """Its data sets are found by their abbrs."""
    changed = data_set(evaluator={'type': GPassKEvaluator, 'taus': [0.75], 'benchmark': 'mine'})
    write_config(tmp_path / 'changed.py', run, changed)
    assert (
        main(['rescore', '--trust-config', str(run), '--config', str(tmp_path / 'changed.py')]) == 0
    )
    assert (result(run)['taus'], result(run)['benchmark']) == ([0.75], 'mine')


def test_what_fails_leaves_the_old_result(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says so, and why."""
    before = (run / 'results/demo/sums_en.json').read_bytes()
    ask(monkeypatch, refusing('the key is refused'))
    assert main(['rescore', '--trust-config', str(run), '--judge', 'llm']) == 1
    assert 'demo/sums_en: not rescored: the key is refused' in capsys.readouterr().err
    assert (run / 'results/demo/sums_en.json').read_bytes() == before


def test_other_evaluators_are_left_alone(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run without any data set of ours is an error."""
    other = {'type': 'opencompass.openicl.icl_evaluator.AccEvaluator'}
    write_config(run / 'configs' / 'run.py', run, data_set(Sums, evaluator=other))
    assert main(['rescore', '--trust-config', str(run)]) == 1
    error = capsys.readouterr().err
    assert 'GPassKEvaluator is not its evaluator' in error
    assert 'nothing to rescore' in error


def test_a_later_rescoring_keeps_the_judge_of_the_result(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that of the config, which an earlier rescoring may have changed; a change is told."""
    ask(monkeypatch, right_if('0'))
    assert main(['rescore', '--trust-config', str(run), '--judge', 'llm']) == 0
    assert 'instead of rule' in capsys.readouterr().err
    judge = result(run)['signature']['judge']
    assert main(['rescore', '--trust-config', str(run), '--tau', '1']) == 0
    assert result(run)['signature']['judge'] == judge
    assert main(['rescore', '--trust-config', str(run), '--judge', 'rule']) == 0
    assert counts(result(run)) == COUNTS


def test_a_later_rescoring_still_counts_undecided_answers_as_wrong(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until the judge is named anew; also if the run is not trusted."""
    rescore = ['rescore', '--trust-config', str(run)]
    assert main([*rescore, '--undecided', 'incorrect']) == 1
    assert '--undecided is for verdicts by rule; give --judge rule too' in capsys.readouterr().err
    assert main([*rescore, '--judge', 'rule', '--undecided', 'incorrect']) == 0
    assert main([*rescore, '--tau', '1']) == 0
    assert result(run)['signature']['judge'] == 'rule:undecided-incorrect'
    settings = result(run)['judging']['settings']
    assert recorded_judge(settings) == settings == {'mode': 'rule', 'undecided': 'incorrect'}
    assert main([*rescore, '--judge', 'rule']) == 0
    assert result(run)['signature']['judge'] == 'rule'


def test_a_judge_from_the_environment_is_known_later(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result names it and its endpoints, when the variables are gone."""
    with JudgeServer() as server:
        monkeypatch.setenv('OC_JUDGE_MODEL', 'judge')
        monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)
        assert main(['rescore', '--trust-config', str(run), '--judge', 'llm']) == 0
        calls = server.calls
        monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://127.0.0.1:9/v1')  # it has moved
        judging = result(run)['judging']['settings']
        assert Changes(trusted=True).of(data_set(), result(run))['eval_cfg']['evaluator'][
            'judge'
        ] == {
            **judging,
            'api_base': 'http://127.0.0.1:9/v1',
        }
        kept = {'judging': {'mode': 'llm', 'settings': {**judging, 'max_tokens': 64}}}
        for model, settings in (('judge', {'max_tokens': 64}), ('another', {})):
            monkeypatch.setenv('OC_JUDGE_MODEL', model)
            asked = Changes('cascade', trusted=True).of(data_set(), kept)['eval_cfg']['evaluator'][
                'judge'
            ]
            assert {name: asked.get(name) for name in settings} == settings
            assert ('max_tokens' in asked) == bool(settings)
            plain = Changes(trusted=True).of(data_set(), kept)['eval_cfg']['evaluator']['judge']
            assert plain['model'] == 'judge'
        monkeypatch.delenv('OC_JUDGE_MODEL')
        monkeypatch.delenv('OC_JUDGE_API_BASE')
        assert main(['rescore', '--trust-config', str(run), '--tau', '1']) == 0
        assert main(['rescore', '--trust-config', str(run), '--judge', 'cascade']) == 0
    assert server.calls == calls > 0
    assert counts(result(run)) == COUNTS


def test_a_judge_that_is_down_says_what_helps(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To rescore again, since there is a result; a gap of everything is not accepted."""
    down = ScriptedJudge(lambda answer, _: Failure('unreachable', False, 'nobody is there'))
    ask(monkeypatch, down)
    assert main(['rescore', '--trust-config', str(run), '--judge', 'llm']) == 1
    assert 'run gpassk rescore with the same options again' in capsys.readouterr().err
    before = result(run)
    assert (
        main(['rescore', '--trust-config', str(run), '--judge', 'llm', '--min-coverage', '0']) == 1
    )
    assert 'no verdict' in capsys.readouterr().err
    assert result(run) == before


def test_one_data_set_that_fails_costs_no_other(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it raises."""
    broken = data_set(abbr='broken', evaluator={'type': GPassKEvaluator})
    good = data_set(evaluator={'type': GPassKEvaluator})
    predict(run, broken)
    (run / 'predictions/demo/broken.json').write_text('{"0": {}}')
    whole = named(config(run, good).to_dict())
    whole['datasets'] = [named(broken), *whole['datasets'][0]]
    text = '\n'.join(f'{name} = {value!r}' for name, value in whole.items())
    (run / 'configs/run.py').write_text(text)
    assert main(['rescore', '--trust-config', str(run)]) == 1
    error = capsys.readouterr().err
    assert 'demo/broken: not rescored' in error
    assert 'demo/sums_en: rescored' in error
