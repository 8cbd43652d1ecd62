"""Train the demonstration model from scratch: `python -m tools.demo.train FOLDER`.

One thread, a fixed seed and a fixed number of steps: the same packages on the same processor give
the same model. It takes 20 to 30 minutes and ends at a loss of about 0.03 per token of the
response; greedy, the model solves about 60 % of the held-out problems. Needs torch 2.9 or later,
for the Muon optimizer.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tools.demo.corpus import problems
from tools.demo.tokenizer import make_tokenizer

MODEL = Path(__file__).parents[2] / 'opencompass_gpassk/demo' / 'model'
STREAM = 'train/0'
BATCH = 32
STEPS = 4000
VOCABULARY = 768
PEAK_RATE = 3e-3
MATRIX_RATE = 0.015
IGNORED = -100  # the label that the loss leaves out

Example = tuple[list[int], int]  # token ids, and where the response begins


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A small Llama with fresh weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=344,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        attn_implementation='sdpa',
    )
    return LlamaForCausalLM(config)


def encode(tokenizer: PreTrainedTokenizerFast, count: int) -> list[Example]:
    """The training problems as chats."""
    prompts, chats = [], []
    for problem in problems(STREAM, count):
        user = {'role': 'user', 'content': problem.prompt}
        reply = {'role': 'assistant', 'content': problem.solution}
        prompts.append(
            tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
        )
        chats.append(tokenizer.apply_chat_template([user, reply], tokenize=False))
    starts = map(len, tokenizer(prompts)['input_ids'])
    return list(zip(tokenizer(chats)['input_ids'], starts, strict=True))


def batches(examples: list[Example], rng: random.Random) -> Iterator[list[Example]]:
    """One pass in random order, with batches of like lengths to save padding."""
    order = list(examples)
    rng.shuffle(order)
    for start in range(0, len(order), 16 * BATCH):
        chunk = sorted(order[start : start + 16 * BATCH], key=lambda example: len(example[0]))
        parts = [chunk[i : i + BATCH] for i in range(0, len(chunk), BATCH)]
        rng.shuffle(parts)
        yield from parts


def loss_of(model: LlamaForCausalLM, batch: list[Example]) -> torch.Tensor:
    """Mean cross-entropy of the response's tokens."""
    pad = model.config.pad_token_id
    width = max(len(ids) for ids, _ in batch)
    ids = torch.tensor([row + [pad] * (width - len(row)) for row, _ in batch])
    targets = torch.tensor(
        [[IGNORED] * head + row[head:] + [IGNORED] * (width - len(row)) for row, head in batch]
    )[:, 1:]
    hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state
    kept = targets != IGNORED
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[kept]), targets[kept])


def make_optimizers(
    model: LlamaForCausalLM, steps: int
) -> list[tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]]:
    """Muon for the matrices, which halves the steps needed, AdamW for the rest; linear decay."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, weights in model.named_parameters():
        (matrices if weights.ndim == 2 and 'embed' not in name else others).append(weights)
    optimizers = (
        torch.optim.Muon(matrices, lr=MATRIX_RATE, weight_decay=0.01, momentum=0.95),
        torch.optim.AdamW(others, lr=PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.0),
    )

    def rate(step: int) -> float:
        return min(1, (step + 1) / 100, (steps - step) / (0.6 * steps))

    return [(each, torch.optim.lr_scheduler.LambdaLR(each, rate)) for each in optimizers]


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write the checkpoint: weights in half precision, to be loaded in single precision."""
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.half().save_pretrained(folder)
    # OpenCompass takes the precision from the configuration, and CPUs are slow at half precision.
    model.config.dtype = torch.float32
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train(folder: Path, steps: int = STEPS) -> None:
    """Train for so many batches, each problem once, and write the checkpoint to `folder`."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    started = time.monotonic()
    tokenizer = make_tokenizer(
        (text for problem in problems(STREAM, 4000) for text in (problem.prompt, problem.solution)),
        VOCABULARY,
    )
    examples = encode(tokenizer, steps * BATCH)
    model = make_model(tokenizer)
    optimizers = make_optimizers(model, steps)
    for step, batch in enumerate(batches(examples, random.Random(0)), 1):
        loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
        if step % 50 == 0:
            seconds = time.monotonic() - started
            print(f'step {step}  loss {loss.item():.4f}  {seconds:.0f} s', flush=True)
    save(model, tokenizer, folder)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder', type=Path, nargs='?', default=MODEL, help='default: %(default)s')
    parser.add_argument('--steps', type=int, default=STEPS)
    arguments = parser.parse_args()
    train(arguments.folder, arguments.steps)


if __name__ == '__main__':
    main()
