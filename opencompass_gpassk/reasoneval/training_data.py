"""Labelled solutions as tokens to train on: targets at the last token of each step alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.batches import pad
from opencompass_gpassk.reasoneval.prompt import Encoded, StepTokenizer
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution
from opencompass_gpassk.reasoneval.step_labels import LABELS, LabelledSteps
from opencompass_gpassk.reasoneval.windows import Passage

if TYPE_CHECKING:
    import torch

__all__ = ['IGNORED', 'NO_LABEL', 'Example', 'collate', 'make_examples', 'step_loss']

IGNORED = -100  # the target of all tokens that close no labelled step; what transformers counts by
NO_LABEL = 'none of its steps has a label'
AT_ONCE = 256  # solutions in a call of the tokenizer


@dataclass(frozen=True, eq=False)
class Example:
    """A solution to train on.

    Attributes:
        passage: Its tokens up to the last labelled step, and the last token of each such step.
        targets: Their classes, 0 to 2 in the order [negative, neutral, positive], shape (R,).
    """

    passage: Passage
    targets: NDArray[np.int64]


def make_examples(
    solutions: Sequence[LabelledSteps], tokenizer: StepTokenizer, max_tokens: int | None = None
) -> tuple[list[Example], Counter[str]]:
    """Return examples in the solutions' order, and how many solutions were left out for what.

    Args:
        solutions: Whatever was read.
        tokenizer: Of the model.
        max_tokens: Of prompt and steps. Steps that end later are left out of a longer solution.
    """
    examples: list[Example] = []
    left_out: Counter[str] = Counter()
    for start in range(0, len(solutions), AT_ONCE):
        chunk = solutions[start : start + AT_ONCE]
        encoded = tokenizer.encode([Solution(each.question, each.steps) for each in chunk])
        for solution, item in zip(chunk, encoded, strict=True):
            made = _example(solution, item, max_tokens)
            if isinstance(made, str):
                left_out[made] += 1
            else:
                examples.append(made)
    return examples, left_out


def _example(
    solution: LabelledSteps, encoded: Encoded | Refusal, max_tokens: int | None
) -> Example | str:
    labelled = [i for i, label in enumerate(solution.labels) if label is not None]
    if not labelled:
        return NO_LABEL
    if isinstance(encoded, Refusal):
        return encoded.value
    limit = max_tokens or len(encoded.ids)
    fitting = [i for i in labelled if encoded.ends[i] < limit]
    if not fitting:
        return Refusal.TOO_LONG.value
    reads = encoded.ends[fitting]
    targets = [LABELS.index(label) for i in fitting if (label := solution.labels[i]) is not None]
    # A decoder's tokens don't see what follows: beyond the last label there is nothing to learn.
    return Example(Passage(encoded.ids[: reads[-1] + 1], reads), np.array(targets, np.int64))


def collate(examples: Sequence[Example]) -> dict[str, torch.Tensor]:
    """Return B examples as ``input_ids``, ``attention_mask`` and ``labels``, each of shape (B, T).

    Labels are a row's own, so that batches can be cut and gathered between processes.
    """
    import torch

    batch = pad([example.passage for example in examples], 'right', torch.device('cpu'))
    labels = torch.full_like(batch.input_ids, IGNORED)
    targets = np.concatenate([example.targets for example in examples])
    labels[batch.reads[:, 0], batch.reads[:, 1]] = torch.from_numpy(targets)
    return {
        'input_ids': batch.input_ids,
        'attention_mask': batch.attention_mask,
        'labels': labels,
    }


def step_loss(logits: torch.Tensor, labels: torch.Tensor, num_items_in_batch: Any = None) -> Any:
    """Return the cross-entropy at the labelled tokens, the mean over all steps of an update.

    Args:
        logits: Of the classes at each token, shape (B, T, 3).
        labels: Classes, :data:`IGNORED` where there is none, shape (B, T).
        num_items_in_batch: Steps of the whole update, where it is made of several batches; by
            default those of this batch.
    """
    import torch

    kept = labels != IGNORED
    total = torch.nn.functional.cross_entropy(logits[kept].float(), labels[kept], reduction='sum')
    return total / (kept.sum() if num_items_in_batch is None else num_items_in_batch)
