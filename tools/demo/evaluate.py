"""Measure a checkpoint of the demonstration model: `python -m tools.demo.evaluate`.

Greedy accuracy on held-out problems of the training families, and how often each problem of
`sample` is solved in 16 draws with temperature 1.0, top-p 0.8 and top-k 50.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from opencompass_gpassk.datasets.prompts import make_prompt
from tools.demo.corpus import problems, sample_rows

MODEL = Path(__file__).parents[2] / 'opencompass_gpassk/demo' / 'model'
BATCH = 64
SAMPLING = {'do_sample': True, 'temperature': 1.0, 'top_p': 0.8, 'top_k': 50}


def load(folder: Path = MODEL) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Model and tokenizer from a folder, without asking any hub."""
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    return model.eval(), AutoTokenizer.from_pretrained(folder, local_files_only=True)


def respond(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    prompts: list[str],
    *,
    sample: bool = False,
    max_new_tokens: int = 96,
) -> list[str]:
    """One response to each prompt, greedy or sampled; torch's global generator gives the draws."""
    chats = [[{'role': 'user', 'content': prompt}] for prompt in prompts]
    texts = [
        tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        for chat in chats
    ]
    responses: list[str] = []
    for start in range(0, len(texts), BATCH):
        inputs = tokenizer(texts[start : start + BATCH], return_tensors='pt', padding=True)
        settings = SAMPLING if sample else {'do_sample': False}
        output = model.generate(**inputs, **settings, max_new_tokens=max_new_tokens)
        new = output[:, inputs['input_ids'].shape[1] :]
        responses += tokenizer.batch_decode(new, skip_special_tokens=True)
    return responses


def is_right(response: str, answer: int | str) -> bool:
    """Whether the response boxes exactly this answer; enough for this model's plain integers."""
    return f'\\boxed{{{answer}}}' in response


def accuracy(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, count: int
) -> dict[str, float]:
    """Greedy accuracy per family on `count` problems whose numbers never occur in training."""
    drawn = list(problems('held-out/0', count, held_out=True))
    responses = respond(model, tokenizer, [problem.prompt for problem in drawn])
    right = defaultdict(list)
    for problem, response in zip(drawn, responses, strict=True):
        right[problem.family].append(is_right(response, problem.answer))
        right['all'].append(is_right(response, problem.answer))
    return {family: sum(hits) / len(hits) for family, hits in sorted(right.items())}


def sample_counts(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, n: int = 16, seed: int = 0
) -> list[int]:
    """Right responses among `n` draws, per problem of `sample`, asked as its data set asks."""
    torch.manual_seed(seed)
    rows = sample_rows()
    prompts = [make_prompt(row['question'], language) for language, row in rows for _ in range(n)]
    answers = [row['answer'].strip('$') for _, row in rows for _ in range(n)]
    responses = respond(model, tokenizer, prompts, sample=True)
    hits = [is_right(*pair) for pair in zip(responses, answers, strict=True)]
    return [sum(hits[start : start + n]) for start in range(0, len(hits), n)]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='?', default=MODEL)
    parser.add_argument('--count', type=int, default=1000, help='held-out problems')
    arguments = parser.parse_args()
    model, tokenizer = load(arguments.folder)
    shares = accuracy(model, tokenizer, arguments.count)
    print(json.dumps({family: round(share, 3) for family, share in shares.items()}, indent=2))
    counts = sample_counts(model, tokenizer)
    print('right draws of 16 → problems of sample:', dict(sorted(Counter(counts).items())))
    print('right sometimes:', sum(0 < count < 16 for count in counts), 'of', len(counts))


if __name__ == '__main__':
    main()
