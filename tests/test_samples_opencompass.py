"""Runs of OpenCompass: which data sets they hold, finished or not, and their problems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencompass_gpassk.responses import Response
from opencompass_gpassk.runs.predictions import IncompletePredictionsError
from opencompass_gpassk.samples.opencompass_runs import Recorded, read_data_set, recorded_data_sets
from opencompass_gpassk.samples.sample_files import SampledProblems


def record(question: str, text: str) -> dict:
    """Make a record as OpenCompass's own inferencer does."""
    prompt = [{'role': 'HUMAN', 'prompt': question}]
    return {'origin_prompt': prompt, 'prediction': text, 'gold': '1'}


def test_a_line_break_at_the_end_makes_no_other_prompt() -> None:
    """Some backends of OpenCompass add one: one model behind two of them is one model."""
    turns = [[{'role': 'HUMAN', 'prompt': f'1 + 1 = ?{end}'}] for end in ('', '\n')]
    prompts = {Response('2', record={'origin_prompt': one}).prompt for one in turns}
    assert prompts == {'1 + 1 = ?'}


def test_old_runs_are_grouped_by_prompt(tmp_path: Path) -> None:
    """Shards and a test range that cuts a replica don't shift a response to another problem."""
    folder = tmp_path / '20250101_000000' / 'predictions' / 'model'
    folder.mkdir(parents=True)
    rows = [record(q, f'{q}{i}') for i in range(3) for q in 'abc'][1:-1]
    for shard, part in enumerate([rows[:4], rows[4:]]):
        path = folder / f'data_{shard}.json'
        path.write_text(json.dumps({str(i): row for i, row in enumerate(part)}))
    (recorded,) = recorded_data_sets(tmp_path)
    found = read_data_set(recorded)
    assert (found.model, found.name, found.n) == ('model', 'data', 3)
    assert {p.question for p in found.problems} == {'a', 'b', 'c'}
    asked = {p.problem_id: p.question for p in found.problems}
    assert all(r.identity and r.text.startswith(asked[r.identity[0]]) for r in found.responses)


def write_run(folder: Path, name: str, rows: list[dict]) -> Path:
    """Write a data set's prediction file, return its model's folder."""
    model = folder / 'predictions' / 'model'
    model.mkdir(parents=True, exist_ok=True)
    (model / f'{name}.json').write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))
    return model


def read_d(model: Path) -> SampledProblems:
    """Read the data set d of a model's folder."""
    return read_data_set(Recorded(model.parents[1], model, 'd'))


def test_the_newest_run_with_predictions_is_taken(tmp_path: Path) -> None:
    """A work dir is as good as its newest run; one that inferred nothing yet is passed over."""
    for stamp in ('20250101_000000', '20250301_000000'):
        newest = write_run(tmp_path / stamp, 'd', [record('a', stamp)] * 2)
    (tmp_path / '20250401_000000/predictions/model').mkdir(parents=True)
    (tmp_path / '20250501_000000/logs').mkdir(parents=True)
    (tmp_path / 'notes.txt').write_text('')
    for folder in (tmp_path, newest.parents[1]):
        assert [(r.folder, r.name) for r in recorded_data_sets(folder)] == [(newest, 'd')]


def test_data_sets_that_end_in_a_number_are_no_shards(tmp_path: Path) -> None:
    """Shards start at 0."""
    for name in ('aime_2024', 'aime_2025', 'split_0', 'split_1', 'whole', 'whole_3'):
        model = write_run(tmp_path, name, [record('a', 'b')])
    names = [one.name for one in recorded_data_sets(tmp_path)]
    assert names == ['aime_2024', 'aime_2025', 'split', 'whole', 'whole_3']
    assert read_data_set(Recorded(tmp_path, model, 'aime_2025')).n == 1


@pytest.mark.parametrize(
    ('files', 'message'),
    [
        (['d_0.json', 'tmp_d_1.jsonl'], r'model, d: missing d_1\.json, unfinished tmp_d_1\.jsonl'),
        (['d_0.json', 'tmp_d_1.json'], r'missing d_1\.json, unfinished tmp_d_1\.json'),
        (['d_1.json', 'd_2.json'], r'missing d_0\.json; run the inference to its end .* -r'),
        (['d_0.json', 'd_2.json', 'd_2024.json'], r'missing d_1\.json;'),
        (['tmp_d_0.jsonl', 'd_1.json'], r'missing d_0\.json, unfinished'),
        (['tmp_d.jsonl'], 'model, d: the inference has not ended'),
        (['tmp_d_0.jsonl', 'tmp_d_1.jsonl'], 'model, d: the inference has not ended'),
    ],
)
def test_parts_of_a_data_set_are_no_data_set(
    tmp_path: Path, files: list[str], message: str
) -> None:
    """With responses missing n would be wrong, and shards would be taken for data sets."""
    for name in files:
        model = write_run(tmp_path, Path(name).stem, [record('a', 'b')] * 2)
        (model / name).with_suffix('.json').rename(model / name)
    found = recorded_data_sets(tmp_path)
    own = [name for name in files if '2024' in name]
    assert [one.name for one in found] == ['d', *(Path(name).stem for name in own)]
    with pytest.raises(IncompletePredictionsError, match=message):
        read_data_set(found[0])


def test_responses_kept_for_another_try_leave_nothing_unfinished(tmp_path: Path) -> None:
    """A progress file beside the finished one, of the whole or of a shard."""
    for name in ('d_0', 'd_1', 'e'):
        model = write_run(tmp_path, name, [record('a', 'b')] * 2)
        (model / f'tmp_{name}.jsonl').write_text('{}\n')
    (model / 'tmp_d.jsonl').write_text('{}\n')  # of a start without shards
    (model / 'tmp_e_1.jsonl').write_text('{}\n')  # of a start with them
    sizes = {one.name: read_data_set(one).n for one in recorded_data_sets(tmp_path)}
    assert sizes == {'d': 4, 'e': 2}


def test_the_config_of_a_run_says_what_is_a_data_set(tmp_path: Path) -> None:
    """Numbers alone can't tell a shard from a data set of that name."""
    names = ['sums_0', 'sums_1', 'math_0', 'math_1', 'aime', 'aime_0']
    for name in names:
        write_run(tmp_path, name, [record('a', 'b')] * 2)
    (tmp_path / 'configs').mkdir()
    datasets = [{'abbr': name} for name in ('sums_0', 'sums_1', 'math', 'aime', 'aime_0')]
    config = f"models = [{{'abbr': 'model'}}]\ndatasets = {datasets}\n"
    (tmp_path / 'configs/20250101_000000.py').write_text(config)
    found = recorded_data_sets(tmp_path)
    assert [one.name for one in found] == ['aime', 'aime_0', 'math', 'sums_0', 'sums_1']
    assert [read_data_set(one).n for one in found] == [2, 2, 4, 2, 2]


def test_models_whose_names_hold_slashes_are_found(tmp_path: Path) -> None:
    """Their folder is the path below predictions."""
    for model in ('org/m', 'other/m', 'plain'):
        folder = write_run(tmp_path, 'd', [record('a', 'b')] * 2)
        (tmp_path / 'predictions' / model).parent.mkdir(exist_ok=True)
        folder.rename(tmp_path / 'predictions' / model)
    found = [read_data_set(one) for one in recorded_data_sets(tmp_path)]
    assert [one.model for one in found] == ['org/m', 'other/m', 'plain']
    assert found[0].responses[1].location == 'predictions/org/m/d.json#1'


@pytest.mark.parametrize('n', [1, 3])
def test_problems_that_read_the_same_stay_apart(tmp_path: Path, n: int) -> None:
    """Twins get n responses each, in the order in which the data set was repeated."""
    rows = [
        record(question, f'{place} {replica}')
        for replica in range(n)
        for place, question in enumerate('abcad')
    ]
    found = read_d(write_run(tmp_path, 'd', rows))
    assert (found.n, found.uneven, len(found.problems)) == (n, 0, 5)
    places: dict[str, set[str]] = {}
    for response in found.responses:
        assert response.identity is not None
        place, replica = response.text.split()
        assert response.identity[1] == int(replica)
        places.setdefault(response.identity[0], set()).add(place)
    assert sorted(places.values(), key=min) == [{str(place)} for place in range(5)]


def test_equal_prompts_with_other_gold_answers_are_other_problems(tmp_path: Path) -> None:
    """A prompt alone does not name a problem."""
    rows = [{**record('a', 'x'), 'gold': gold} for _ in range(2) for gold in ('1', '2', 3, None)]
    found = read_d(write_run(tmp_path, 'd', rows))
    assert [problem.gold for problem in found.problems] == ['1', '2', '3', '']
    assert found.n == 2


def test_the_gold_answer_of_a_worked_solution_is_its_end(tmp_path: Path) -> None:
    """OpenCompass records GSM8K's as it stands in the data."""
    gold = 'Five and two are 5 + 2 = <<5+2=7>>7 eggs.\n#### 7'
    found = read_d(write_run(tmp_path, 'd', [{**record('a', 'x'), 'gold': gold}]))
    assert found.problems[0].gold == '7'


def test_models_with_other_templates_answered_the_same_questions(tmp_path: Path) -> None:
    """A prompt that is one text holds a model's roles, so it is no ground for a comparison."""
    chat = [record(q, 'x') for q in 'abc' * 2]
    base = [{**row, 'origin_prompt': f'USER: {row["origin_prompt"]}'} for row in chat]
    found = [
        read_d(write_run(tmp_path / name, 'd', rows)).versions
        for name, rows in (('chat', chat), ('other', chat), ('base', base))
    ]
    assert found[0] == found[1]
    assert found[2] == (found[0][0], 'unknown')


def test_records_without_a_prompt_are_refused(tmp_path: Path) -> None:
    """As of data sets that are scored by likelihood."""
    model = write_run(tmp_path, 'd', [{'prediction': 'A', 'label: A': {'PPL': 1.0}}] * 2)
    with pytest.raises(ValueError, match=r'd\.json#0: the record holds no origin_prompt'):
        read_d(model)


def test_a_folder_without_predictions(tmp_path: Path) -> None:
    """A folder that is no run is an error."""
    with pytest.raises(ValueError, match='no predictions'):
        recorded_data_sets(tmp_path)
