"""Process reward models: the same numbers as a plain pass, whatever stands in a solution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_reasoneval
import torch
from tiny_reward_model import TAG, RewardModel, publish

from opencompass_gpassk.reasoneval.reward_model import ProcessRewardScorer
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution

SOLUTIONS = [
    Solution(f'What is {n} + {n}?', [f'Step {m + 1}: the {"other " * m}one' for m in range(n)])
    for n in (3, 1, 7, 2, 12, 4, 5)
]


@pytest.fixture(scope='module')
def reward(tmp_path_factory: pytest.TempPathFactory) -> RewardModel:
    """A tiny model with random weights."""
    return publish(tmp_path_factory.mktemp('reward'))


def remade(reward: RewardModel, **settings: Any) -> ProcessRewardScorer:
    """Return a scorer of the model."""
    return ProcessRewardScorer(reward.model, reward.tokenizer, **settings)


@pytest.mark.parametrize('size', [1, 3, 64])
def test_scores_are_those_of_a_plain_pass(reward: RewardModel, size: int) -> None:
    """For every batch size and order, to 1e-4; one number a step."""
    scorer = ProcessRewardScorer.load(reward.folder, batch_size=size)
    for solutions in (SOLUTIONS, SOLUTIONS[::-1]):
        for solution, scores in zip(solutions, scorer.score(solutions), strict=True):
            expected = reward.plain(solution.question, solution.steps)
            assert scores.probabilities.shape == (len(solution.steps), 1)
            np.testing.assert_allclose(scores.validity, expected, atol=1e-4)
            assert np.isnan(scores.redundancy).all()
    spread = np.concatenate([reward.plain(one.question, one.steps) for one in SOLUTIONS])
    assert np.ptp(spread) > 0.1  # a wrong position would show


def test_a_tag_in_a_text_shifts_nothing(reward: RewardModel) -> None:
    """It is not read, wherever it stands."""
    solution = Solution(f'{TAG} in {TAG}?', [f'a {TAG} b', f'{TAG}', f'c{TAG}'])
    scores = remade(reward).score([solution])[0]
    everywhere = reward.plain(solution.question, solution.steps)
    assert len(everywhere) == 8
    np.testing.assert_allclose(scores.validity, everywhere[[3, 5, 7]], atol=1e-4)


def test_only_tags_reach_the_head(reward: RewardModel) -> None:
    """Logits of all tokens would fill the memory."""
    shapes: list[tuple[int, ...]] = []
    head = reward.model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _, given, made: shapes.append(tuple(made.shape)))
    remade(reward).score(SOLUTIONS)
    hook.remove()
    assert sum(rows * columns for rows, columns, _ in shapes) == sum(
        len(one.steps) for one in SOLUTIONS
    )
    assert not head._forward_pre_hooks


def test_refusals_are_named(reward: RewardModel) -> None:
    """Nothing to score, a blank step, and what is too long; the others are scored all the same."""
    found = remade(reward, max_tokens=60).score(
        [
            Solution('q', []),
            Solution('q', ['\u2028 ', '\n']),
            Solution('q', ['a', ' ']),
            Solution('q', ['a' * 100_000]),
            Solution('q \ud800', ['\ud800 a', 'ünï \u2028']),
        ]
    )
    assert [one.refusal for one in found] == [
        *(Refusal.EMPTY, Refusal.EMPTY, Refusal.BLANK_STEP, Refusal.TOO_LONG, None)
    ]
    assert found[3].tokens >= 100_000
    assert np.isfinite(found[4].validity).all() and 0 < found[4].tokens < 40
    many = remade(reward).score([Solution('q', ['a'] * 500)])[0]
    assert np.isfinite(many.validity).all() and len(many.validity) == 500


def test_a_tag_that_is_a_special_token(reward: RewardModel) -> None:
    """Then a solution with its text is refused; its own tags are read."""
    found = remade(reward, step_tag='</s>').score([Solution('q', ['a']), Solution('q', ['a </s>'])])
    assert [one.refusal for one in found] == [None, Refusal.SPECIAL_TOKENS]


def test_settings_are_what_scores_depend_on(reward: RewardModel, tmp_path: Path) -> None:
    """They are JSON, tell weights, tokenizers and tags apart, and leave out what is only speed."""
    settings = remade(reward).settings
    assert json.loads(json.dumps(settings)) == settings
    assert remade(reward, batch_size=2).settings == settings
    for other in (
        {'step_tag': 'th'},
        {'good': '-', 'bad': '+'},
        {'max_tokens': 99},
    ):
        assert remade(reward, **other).settings != settings
    trained = publish(tmp_path / 'trained')
    with torch.no_grad():
        trained.model.model.layers[1].mlp.up_proj.weight += 1e-3
    assert remade(trained).settings != settings
    again = publish(tmp_path / 'again')
    assert remade(again).settings == settings
    again.tokenizer.add_tokens(['more'])
    assert remade(again).settings != settings


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'step_tag': 'нет'}, "step_tag of ProcessRewardScorer: 'нет' is not one token"),
        ({'step_tag': 'xyz'}, "step_tag of ProcessRewardScorer: 'xyz' is not one token"),
        ({'step_tag': ' '}, 'step_tag of ProcessRewardScorer'),
        ({'good': 'right'}, "good of ProcessRewardScorer: 'right' is not one token"),
        ({'bad': 'ж'}, "bad of ProcessRewardScorer: 'ж' is not one token"),
        ({'bad': '+'}, 'is the token of bad'),
        ({'max_tokens': 5000}, 'more than the 2048 positions'),
    ],
)
def test_bad_settings_are_refused(
    reward: RewardModel, settings: dict[str, Any], message: str
) -> None:
    """With field, value and remedy."""
    with pytest.raises(ValueError, match=message):
        remade(reward, **settings)


def test_a_model_without_a_head_is_refused(tmp_path: Path) -> None:
    """A ReasonEval checkpoint is no language model."""
    published = tiny_reasoneval.publish(tmp_path / 'classifier', '34b')
    with pytest.raises(ValueError, match=r'misses lm_head.weight'):
        ProcessRewardScorer.load(published.folder)
