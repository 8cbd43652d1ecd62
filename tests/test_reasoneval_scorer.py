"""The batched scorer beside a plain one, one solution at a time; and what it does with trouble."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_reasoneval import Published, publish
from transformers import AutoTokenizer

from opencompass_gpassk.reasoneval.batching import Encoded, model_name, passages
from opencompass_gpassk.reasoneval.classifier import StepScorer, StepTokenizer
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

CASES = json.loads((Path(__file__).parent / 'cases/reasoneval_hostile.json').read_text('utf-8'))
Scorers = dict[str, StepScorer]
Plain = dict[tuple[str, str], list[np.ndarray]]
WORDS = [
    *('so', 'we', 'add', 'x', '$y = 3$', ',', 'then', 'the sum', 'is', '12', '.', 'hence', '\n'),
    *(r'\frac{1}{2}', 'of', 'it', '第二步'),
]


@pytest.fixture(scope='module')
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Published]:
    """A checkpoint of each published layout."""
    folder = tmp_path_factory.mktemp('checkpoints')
    return {layout: publish(folder / layout, layout) for layout in ('7b', '34b')}


@pytest.fixture(scope='module')
def scorers(checkpoints: dict[str, Published]) -> Scorers:
    """A scorer of each, with the settings that are the default."""
    return {name: StepScorer.load(each.folder) for name, each in checkpoints.items()}


def remade(scorer: StepScorer, **settings: Any) -> StepScorer:
    """Return a scorer of the same model with other settings."""
    return StepScorer(scorer.model, scorer.tokenizer, **settings)


def make_solutions(count: int, seed: int = 0, steps: int = 6) -> list[Solution]:
    """Return different solutions of very different length."""
    rng = random.Random(seed)

    def text(longest: int) -> str:
        return ' '.join(rng.choices(WORDS, k=rng.randint(1, longest)))

    return [
        Solution(text(8), [f'{i}. {text(9)}' for i in range(rng.randint(1, steps))])
        for _ in range(count)
    ]


SOLUTIONS = make_solutions(11)


@pytest.fixture(scope='module')
def plain(checkpoints: dict[str, Published]) -> Plain:
    """What the plain scorer says, for each layout and position."""
    return {
        (layout, position): [each.plain(s.question, s.steps, position) for s in SOLUTIONS]
        for layout, each in checkpoints.items()
        for position in ('published', 'last')
    }


def assert_same(scores: Sequence[StepScores], expected: Sequence[np.ndarray]) -> None:
    """Check probabilities to 1e-4."""
    assert [score.refusal for score in scores] == [None] * len(expected)
    for score, rows in zip(scores, expected, strict=True):
        np.testing.assert_allclose(score.probabilities, rows, rtol=0, atol=1e-4)


@pytest.mark.parametrize('position', ['published', 'last'])
@pytest.mark.parametrize('layout', ['7b', '34b'])
@pytest.mark.parametrize('sizes', [(1, 10**6), (3, 10**6), (64, 10**6), (64, 250)], ids=str)
def test_scores_are_the_plain_ones(
    layout: str,
    position: str,
    sizes: tuple[int, int],
    scorers: Scorers,
    plain: Plain,
) -> None:
    """Neither batches, padding nor order show in a score, wherever steps are read."""
    settings = {'position': position, 'batch_size': sizes[0], 'batch_tokens': sizes[1]}
    scorer = remade(scorers[layout], **settings)
    expected = plain[layout, position]
    order = random.Random(1).sample(range(len(SOLUTIONS)), len(SOLUTIONS))
    assert_same(scorer.score([SOLUTIONS[i] for i in order]), [expected[i] for i in order])


def passes(monkeypatch: pytest.MonkeyPatch, scorer: StepScorer) -> list[tuple[int, int]]:
    """Return a list that grows by rows and columns of each forward pass."""
    shapes: list[tuple[int, int]] = []
    forward = scorer.model.model.forward

    def noted(*args: Any, **kwargs: Any) -> Any:
        shapes.append(tuple(kwargs['input_ids'].shape))
        return forward(*args, **kwargs)

    monkeypatch.setattr(scorer.model.model, 'forward', noted)
    return shapes


def test_one_pass_a_solution(scorers: Scorers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solution is read once whatever its number of steps, and equal ones are one."""
    scorer = remade(scorers['34b'], batch_size=4)
    shapes = passes(monkeypatch, scorer)
    assert scorer.score([]) == []
    scores = scorer.score([*SOLUTIONS[:9], *SOLUTIONS[:5]])
    assert sum(rows for rows, _ in shapes) == 9
    assert max(rows for rows, _ in shapes) == 4
    for index in range(5):
        assert scores[index] is scores[9 + index]


def test_batches_are_of_like_length(scorers: Scorers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is padded: the longest come first, and a batch has no more tokens than it may."""
    scorer = remade(scorers['34b'], batch_tokens=400)
    shapes = passes(monkeypatch, scorer)
    scorer.score(make_solutions(60, seed=4))
    widths = [width for _, width in shapes]
    assert widths == sorted(widths, reverse=True)
    assert all(rows * width <= 400 or rows == 1 for rows, width in shapes)
    assert len(shapes) > 3


@pytest.mark.parametrize('layout', ['7b', '34b'])
def test_hostile_inputs_together(layout: str, scorers: Scorers) -> None:
    """Each gets a score or a reason, and none disturbs the others."""
    given = [hostile(case) for case in CASES]
    scores = scorers[layout].score([*given, *SOLUTIONS[:2]])
    for case, solution, score in zip(CASES, given, scores, strict=False):
        expected = case['refusal'] and Refusal[case['refusal']]
        assert (case['id'], score.refusal) == (case['id'], expected)
        assert score.probabilities.shape == (len(solution.steps), 3)
        if expected:
            assert np.isnan(score.probabilities).all()
        else:
            np.testing.assert_allclose(score.probabilities.sum(axis=1), 1, atol=1e-5)
            assert score.tokens > 0
    assert_same(scores[-2:], [s.probabilities for s in scorers[layout].score(SOLUTIONS[:2])])


def hostile(case: dict[str, Any]) -> Solution:
    """Return the solution of a case."""
    steps = [step * case.get('repeat_text', 1) for step in case['steps']]
    question = case['question'] * case.get('repeat_question', 1)
    return Solution(question, steps * case.get('repeat_steps', 1))


@pytest.mark.parametrize('layout', ['7b', '34b'])
def test_special_text_stays_text(layout: str, checkpoints: dict[str, Published]) -> None:
    """The text of a special token is read as the characters that it is made of."""
    tokenizer = checkpoints[layout].tokenizer
    special = set(tokenizer.all_special_ids)
    texts = ['a<s>b', 'c<|pad|><|end|>d']
    (encoded,) = StepTokenizer(tokenizer).encode([Solution('<s>?<|pad|>', texts)])
    assert isinstance(encoded, Encoded)
    ids = encoded.ids.tolist()
    assert ids[0] == tokenizer.bos_token_id
    assert not special.intersection(ids[1:])
    starts = [encoded.prompt, *(encoded.ends[:-1] + 1)]
    read = [tokenizer.decode(ids[a : b + 1]) for a, b in zip(starts, encoded.ends, strict=True)]
    assert read == texts
    assert '<s>?<|pad|>' in tokenizer.decode(ids[1 : encoded.prompt])


def test_special_token_that_cannot_be_parted_is_refused(
    checkpoints: dict[str, Published],
) -> None:
    """A special token of one character can't be told from its text: that solution is refused."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoints['34b'].folder)
    tokenizer.add_special_tokens({'additional_special_tokens': ['§']})
    encoded = StepTokenizer(tokenizer).encode([Solution('q', ['see §2']), Solution('q', ['ok'])])
    assert encoded[0] is Refusal.SPECIAL_TOKENS
    assert isinstance(encoded[1], Encoded)


def test_separator_is_found_without_pad_token(checkpoints: dict[str, Published]) -> None:
    """Without a pad token, or with one for unknown characters, another special token parts."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoints['34b'].folder)
    usual = StepTokenizer(tokenizer).encode(SOLUTIONS)
    for pad in (None, '<|user|>'):
        tokenizer.pad_token = tokenizer.unk_token = pad
        other = StepTokenizer(tokenizer)
        assert other.separator == '<|end|>'
        for one, two in zip(usual, other.encode(SOLUTIONS), strict=True):
            assert isinstance(one, Encoded) and isinstance(two, Encoded)
            assert one.ids.tolist() == two.ids.tolist()
            assert one.ends.tolist() == two.ends.tolist()
    tokenizer.pad_token = tokenizer.eos_token = tokenizer.bos_token = None
    with pytest.raises(ValueError, match='add_special_tokens'):
        StepTokenizer(tokenizer)


@pytest.mark.parametrize('seed', range(30))
def test_windows_read_each_step_once_at_its_end(seed: int) -> None:
    """Windows keep to the limit, hold the prompt, and read every step with some context."""
    rng = np.random.default_rng((77, seed))
    lengths = rng.integers(1, rng.choice([3, 20, 120]), rng.integers(1, 40))
    prompt, limit, shift = int(rng.integers(1, 15)), int(rng.integers(30, 80)), int(seed % 2)
    ends = prompt + np.cumsum(lengths) - 1
    tokens = int(lengths.sum())
    encoded = Encoded(np.arange(ends[-1] + 1, dtype=np.int32), ends, tokens, prompt)
    found = passages(encoded, shift=shift, limit=limit, window=True)
    assert not isinstance(found, Refusal)
    read = [int(token) for passage in found for token in passage.ids[passage.reads]]
    assert read == (ends - shift).tolist()
    room = limit - prompt
    for index, passage in enumerate(found):
        assert len(passage.ids) <= limit
        assert passage.ids[:prompt].tolist() == list(range(prompt))
        body = passage.ids[prompt:]
        assert (np.diff(body) == 1).all()
        assert passage.first == sum(len(other.reads) for other in found[:index])
        before = passage.reads[0] + shift - prompt  # tokens of steps before the first end
        assert before >= room // 4 or body[0] == prompt
    refused = passages(encoded, shift=shift, limit=limit, window=False)
    assert (refused is Refusal.TOO_LONG) == (len(encoded.ids) > limit)


def test_long_solution_in_windows(checkpoints: dict[str, Published], scorers: Scorers) -> None:
    """Long solutions are refused with their length, or read in windows that reach back."""
    solution = Solution('What is 1 + 1?', [f'{i} and so on.' for i in range(60)])
    (whole,) = scorers['34b'].score([solution])
    limited = remade(scorers['34b'], max_tokens=128)
    (refused,) = limited.score([solution])
    assert refused.refusal is Refusal.TOO_LONG
    assert refused.tokens == whole.tokens > 128
    assert refused.probabilities.shape == (60, 3)
    (windowed,) = remade(scorers['34b'], max_tokens=128, long='window').score([solution])
    assert windowed.refusal is None
    np.testing.assert_allclose(windowed.probabilities[:5], whole.probabilities[:5], atol=1e-4)
    assert np.isfinite(windowed.probabilities).all()
    # The last window holds whole steps: it is the prompt with some of the last steps.
    expected = [
        checkpoints['34b'].plain(solution.question, solution.steps[start:], 'last')[-1]
        for start in range(60)
    ]
    assert min(np.abs(windowed.probabilities[-1] - row).max() for row in expected[30:]) < 1e-4


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    """A model that overflows gives no scores, and says so."""
    scorer = StepScorer.load(publish(tmp_path / 'm', '7b').folder)
    with torch.no_grad():
        scorer.model.score_head.weight[1] = torch.inf
    (score,) = scorer.score(SOLUTIONS[:1])
    assert score.refusal is Refusal.NOT_FINITE
    assert np.isnan(score.probabilities).all()


@pytest.mark.parametrize(
    'error',
    [
        torch.cuda.OutOfMemoryError(),
        MemoryError(),
        RuntimeError('[enforce fail at alloc.cpp:1] DefaultCPUAllocator: not enough memory'),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)'),
        RuntimeError('CUDA error: out of memory'),
    ],
    ids=['cuda', 'python', 'cpu', 'cpu, Linux', 'cublas', 'cuda, plain'],
)
def test_batch_out_of_memory_is_halved(
    error: Exception,
    scorers: Scorers,
    plain: Plain,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A batch that is too large is read in halves; what fails alone is refused."""
    scorer = remade(scorers['34b'])
    forward = scorer.model.model.forward
    allowed = 3
    longest = max(range(11), key=lambda i: scorer.score([SOLUTIONS[i]])[0].tokens)

    def scarce(*args: Any, **kwargs: Any) -> Any:
        if len(kwargs['input_ids']) > allowed:
            raise error
        return forward(*args, **kwargs)

    monkeypatch.setattr(scorer.model.model, 'forward', scarce)
    assert_same(scorer.score(SOLUTIONS), plain['34b', 'last'])
    allowed = 0
    (score,) = scorer.score([SOLUTIONS[longest]])
    assert score.refusal is Refusal.OUT_OF_MEMORY


def test_other_errors_are_no_lack_of_memory(
    scorers: Scorers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They end the run: nothing is refused for a fault of the program."""
    scorer = remade(scorers['34b'])

    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError('CUDA error: device-side assert triggered')

    monkeypatch.setattr(scorer.model.model, 'forward', broken)
    with pytest.raises(RuntimeError, match='device-side assert'):
        scorer.score(SOLUTIONS)


def test_stream_yields_as_it_goes(scorers: Scorers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores come batch by batch, so that a killed run can have kept the first ones."""
    scorer = remade(scorers['34b'], batch_size=4)
    shapes = passes(monkeypatch, scorer)
    stream = scorer.stream([Solution('q', []), *SOLUTIONS])
    assert next(stream)[1].refusal is Refusal.EMPTY
    assert shapes == []
    first = [next(stream)[0] for _ in range(4)]
    assert [rows for rows, _ in shapes] == [4]
    assert sorted([*first, *(index for index, _ in stream)]) == list(range(1, 12))
    assert sum(rows for rows, _ in shapes) == len(SOLUTIONS)


def test_settings_are_what_scores_depend_on(scorers: Scorers) -> None:
    """They are JSON, tell positions, limits and heads apart, and leave out what is only speed."""
    scorer = scorers['7b']
    settings = remade(scorer).settings
    assert json.loads(json.dumps(settings)) == settings
    assert remade(scorer, batch_size=2).settings == settings
    for other in ({'position': 'last'}, {'max_tokens': 99}, {'long': 'window'}):
        assert remade(scorer, **other).settings != settings
    other = remade(scorers['34b'], position='published').settings
    assert {**other, 'model': settings['model']} != settings


def test_settings_tell_trainings_apart_wherever_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backbone trained further is another model; a path, relative or moved, is no setting."""
    folder = publish(tmp_path / 'here' / 'model', '7b').folder
    settings = StepScorer.load(folder).settings
    assert settings['model'] == 'model' and str(tmp_path) not in json.dumps(settings)
    monkeypatch.chdir(folder.parent)
    assert StepScorer.load('model').settings == StepScorer.load('./model/').settings == settings
    monkeypatch.chdir(folder)
    assert StepScorer.load('.').settings == settings
    assert (model_name(''), model_name('GAIR/ReasonEval-7B')) == ('', 'GAIR/ReasonEval-7B')
    moved = shutil.copytree(folder, tmp_path / 'there' / 'model')
    trained = StepScorer.load(moved)
    assert trained.settings == settings
    with torch.no_grad():
        trained.model.model.layers[0].mlp.up_proj.weight *= 1.5
    assert remade(trained).settings != settings


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'position': 'first'}, "position of StepScorer: 'first' is unknown; give published, last"),
        ({'long': 'cut'}, 'give refuse, window'),
    ],
)
def test_bad_setting_is_refused(settings: dict[str, Any], message: str, scorers: Scorers) -> None:
    """A setting out of range is named with its remedy."""
    with pytest.raises(ValueError, match=message):
        remade(scorers['34b'], **settings)
