"""Tokens a second of vLLM with a seed for each request, and without.

    python benchmarks/engine_seeds.py Qwen/Qwen2.5-7B-Instruct

in an environment of vLLM, on a machine with a GPU: the fast sampler that seeds switch off runs on
GPUs alone, so elsewhere nothing is measured. Each way draws the same number of tokens from the same
prompts in one process, the ways take turns, and the median of their ratios is the result.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

PROMPTS = [f'What is {a} times {a + 7}? Reason step by step.' for a in range(11, 43)]
SAMPLES, LENGTH, ROUNDS = 16, 512, 5
PAPER = {'temperature': 1.0, 'top_p': 0.8, 'top_k': 50}  # arXiv 2412.13147


def tokens_a_second(engine: Any, seeded: bool, turn: int) -> float:
    """Draw all samples once and return the rate."""
    from vllm import SamplingParams

    prompts = [prompt for prompt in PROMPTS for _ in range(SAMPLES)]
    parameters = [
        SamplingParams(
            **PAPER,
            max_tokens=LENGTH,
            ignore_eos=True,
            seed=turn * len(prompts) + index if seeded else None,
        )
        for index in range(len(prompts))
    ]
    begun = time.perf_counter()
    answers = engine.generate(prompts, parameters, use_tqdm=False)
    drawn = sum(len(answer.outputs[0].token_ids) for answer in answers)
    return drawn / (time.perf_counter() - begun)


def main() -> None:
    """Print a line for each round, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('model', help='a folder or a model of the hub')
    args = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        raise SystemExit('no GPU here: nothing is measured')
    from vllm import LLM

    engine = LLM(args.model, max_model_len=2048)
    tokens_a_second(engine, False, 0)  # warms up
    ratios = []
    for turn in range(1, ROUNDS + 1):
        seeded, free = (tokens_a_second(engine, one, turn) for one in (True, False))
        ratios.append(free / seeded)
        print(f'seeded {seeded:,.0f} tokens/s, without seeds {free:,.0f}, ratio {ratios[-1]:.2f}')
    print(f'without seeds / seeded: {statistics.median(ratios):.2f} (median of {ROUNDS})')


if __name__ == '__main__':
    main()
