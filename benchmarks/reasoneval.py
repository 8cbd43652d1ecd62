"""Time the batched scorer beside scoring one solution at a time, with the same weights.

    python benchmarks/reasoneval.py [CHECKPOINT] [--solutions N] [--device cpu|cuda]

Without a checkpoint the model is a tiny one with random weights. One at a time is what the
authors' example does: tokenise a solution, score every one of its tokens, pick the steps' ends.
All solutions are different, both sides score the same ones, turn about in one run, and the best
of a few rounds counts. On the CPU one thread is used by both.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import opencompass_gpassk.demo
from opencompass_gpassk.reasoneval.batching import Encoded
from opencompass_gpassk.reasoneval.classifier import PROMPT, Solution, StepClassifier, StepScorer

TOKENIZER = Path(opencompass_gpassk.demo.__file__).parent / 'model'
LENGTHS = ((20, 60), (100, 300), (500, 1000))  # tokens of prompt and steps
ROUNDS = 3
SYLLABLES = ('so', 'we', 'add', ' the', ' of', ' is', ' x', ' =', ' 1', '2', '7', ' $y$', '.')

Rows = list[np.ndarray]


def tiny() -> tuple[StepClassifier, Any]:
    """Return a model of random weights and a quarter of a million parameters, and a tokenizer."""
    from transformers import AutoModel, AutoTokenizer, LlamaConfig

    tokenizer = AutoTokenizer.from_pretrained(TOKENIZER)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=172,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    backbone = AutoModel.from_config(config)
    generator = torch.Generator().manual_seed(1)
    return StepClassifier(backbone, generator=generator).eval(), tokenizer


def make_solutions(scorer: StepScorer, count: int, low: int, high: int) -> list[Solution]:
    """Return different solutions of low to high tokens, prompt included."""
    rng = random.Random(f'{low} {high}')
    found: dict[Solution, None] = {}
    while len(found) < count:
        words = rng.choices(SYLLABLES, k=rng.randint(low // 3, high))
        cuts = sorted(rng.sample(range(1, len(words)), min(rng.randint(0, 8), len(words) - 1)))
        borders = zip([0, *cuts], [*cuts, len(words)], strict=True)
        solution = Solution('x = ?', [''.join(words[a:b]) for a, b in borders])
        (encoded,) = scorer.encode([solution])
        if isinstance(encoded, Encoded) and low <= len(encoded.ids) <= high:
            found[solution] = None
    return list(found)


def one_at_a_time(model: StepClassifier, tokenizer: Any, solutions: Sequence[Solution]) -> Rows:
    """Score as the authors' example does."""
    pad, pad_id = tokenizer.pad_token, tokenizer.pad_token_id
    scores = []
    for solution in solutions:
        prompt = PROMPT.format(question=solution.question)
        text = prompt + pad + ''.join(step + pad for step in solution.steps)
        kept: list[int] = []
        ends: list[int] = []
        for token in tokenizer(text)['input_ids']:
            if token == pad_id:
                ends.append(len(kept) - 1)
            else:
                kept.append(token)
        ids = torch.tensor([kept], device=model.device)
        with torch.no_grad():
            logits = model(ids)[0, ends[1:], :]
            scores.append(np.array(torch.softmax(logits.float(), dim=-1).tolist()))
    return scores


def batched(scorer: StepScorer, solutions: Sequence[Solution]) -> Rows:
    """Score with the package's scorer."""
    return [score.probabilities for score in scorer.score(solutions)]


def timed(function: Callable[[], Rows]) -> tuple[float, Rows]:
    """Return seconds and scores."""
    start = time.perf_counter()
    scores = function()
    return time.perf_counter() - start, scores


def main() -> None:
    """Print solutions per second of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('checkpoint', nargs='?', help='a folder or an id on the hub')
    parser.add_argument('--solutions', type=int, default=300)
    parser.add_argument('--device', default='cpu')
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.checkpoint:
        settings = {'device_map': options.device}
        scorer = StepScorer.load(options.checkpoint, model=settings, position='last')
        model, tokenizer = scorer.model, scorer.tokenizer
    else:
        model, tokenizer = tiny()
        model.to(options.device)
        scorer = StepScorer(model, tokenizer)
    print(f'{sum(p.numel() for p in model.parameters()):,} parameters, {options.device}')
    print(f'{options.solutions} different solutions, the best of {ROUNDS} rounds')
    for low, high in LENGTHS:
        solutions = make_solutions(scorer, options.solutions, low, high)
        timed(lambda s=solutions[:8]: one_at_a_time(model, tokenizer, s))
        timed(lambda s=solutions[:8]: batched(scorer, s))
        seconds: dict[str, float] = {'one': np.inf, 'many': np.inf}
        for _ in range(ROUNDS):
            for name, function in (
                ('one', lambda s=solutions: one_at_a_time(model, tokenizer, s)),
                ('many', lambda s=solutions: batched(scorer, s)),
            ):
                spent, scores = timed(function)
                seconds[name] = min(seconds[name], spent)
                if name == 'one':
                    expected = scores
        difference = max(np.abs(a - b).max() for a, b in zip(expected, scores, strict=True))
        one, many = (len(solutions) / seconds[name] for name in ('one', 'many'))
        print(
            f'  {low:4}-{high:4} tokens: one at a time {one:8.1f}/s, batched {many:8.1f}/s, '
            f'{many / one:4.1f} times as fast; largest difference {difference:.0e}'
        )


if __name__ == '__main__':
    main()
