"""Scores of the steps of many solutions, one forward pass a solution, many solutions at once."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.reasoneval.batches import like_lengths
from opencompass_gpassk.reasoneval.checkpoint import POSITIONS
from opencompass_gpassk.reasoneval.passes import Passes, Rows
from opencompass_gpassk.reasoneval.prompt import PROMPT, StepTokenizer
from opencompass_gpassk.reasoneval.solutions import (
    Refusal,
    Solution,
    StepScores,
    count_refusals,
)
from opencompass_gpassk.reasoneval.windows import Passage, passages

if TYPE_CHECKING:
    from typing_extensions import Self

    from opencompass_gpassk.reasoneval.model import StepClassifier

__all__ = ['Refusal', 'Solution', 'StepScorer', 'StepScores', 'count_refusals']

POOL = 8192  # solutions that are sorted by length together; their tokens are held in memory
AT_ONCE = 256  # solutions in a call of the tokenizer
CHOICES = {
    'position': (None, *POSITIONS),
    'long': ('refuse', 'window'),
    'padding_side': ('left', 'right'),
}


class StepScorer:
    """Scores solutions step by step with a :class:`~.model.StepClassifier`.

    Args:
        model: Which; it is put into evaluation mode.
        tokenizer: The checkpoint's own.
        position: Where a step is read: ``last``, at its last token, as the paper says (section
            3.2), or ``published``, one token before it, as the authors' code for
            ``GAIR/ReasonEval-7B`` did, which puts a BOS token in front without moving its
            positions. By default where the checkpoint is to be read.
        batch_size: Solutions in a forward pass at most.
        batch_tokens: Tokens in one at most, padding among them; a longer solution is read alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Tokens that the model takes, prompt and steps together; by default as many as
            it has positions.
        long: What happens to longer solutions: ``refuse``, or ``window``, which reads the prompt
            with as many of the steps as fit, a few times.
        padding_side: ``right``, where attention needs no mask and is faster, or ``left``.
        name: Of the model, in :attr:`settings`; by default what it was loaded from.

    Raises:
        ValueError: If a setting is out of its range, or the tokenizer has no token that can
            separate steps.
    """

    def __init__(
        self,
        model: StepClassifier,
        tokenizer: Any,
        *,
        position: str | None = None,
        batch_size: int = 64,
        batch_tokens: int | None = None,
        max_tokens: int | None = None,
        long: str = 'refuse',
        padding_side: str = 'right',
        name: str = '',
    ) -> None:
        given = {'position': position, 'long': long, 'padding_side': padding_side}
        for field, value in given.items():
            if value not in CHOICES[field]:
                known = ', '.join(str(choice) for choice in CHOICES[field] if choice)
                raise ValueError(f'{field} of StepScorer: {value!r} is unknown; give {known}')
        counts = {'batch_size': batch_size, 'batch_tokens': batch_tokens, 'max_tokens': max_tokens}
        for field, count in counts.items():
            if count is not None and count < 1:
                raise ValueError(f'{field} of StepScorer: {count!r} is too few; give at least 1')
        self.model = model
        self.tokenizer = StepTokenizer(tokenizer)
        self.position = position or model.position
        self.batch_size = batch_size
        self.batch_tokens = batch_tokens or (2048 if model.device.type == 'cpu' else 16384)
        positions = getattr(model.config.get_text_config(), 'max_position_embeddings', None)
        if positions and max_tokens and max_tokens > positions:
            raise ValueError(
                f'max_tokens of StepScorer: {max_tokens} is more than the {positions} positions '
                "that the model has; give less, or long='window'"
            )
        self.max_tokens: int | None = max_tokens or positions
        self.long = long
        self.passes = Passes(model, padding_side)
        self.name = name or str(model.config.name_or_path)

    @classmethod
    def load(
        cls, source: str | Path, *, model: dict[str, Any] | None = None, **settings: Any
    ) -> Self:
        """Load model and tokenizer from a folder or the hub.

        Args:
            source: The folder, or an id such as ``GAIR/ReasonEval-7B``.
            model: What :meth:`.StepClassifier.load` takes: ``dtype``, ``device_map``, and so on.
            settings: What this class takes.

        Raises:
            ValueError: As both classes do.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoTokenizer

        from opencompass_gpassk.reasoneval.checkpoint import WHERE
        from opencompass_gpassk.reasoneval.model import StepClassifier

        model = model or {}
        where = {name: model[name] for name in WHERE if name in model}
        tokenizer = AutoTokenizer.from_pretrained(str(source), **where)
        settings = {'name': str(source), **settings}
        return cls(StepClassifier.load(source, **model), tokenizer, **settings)

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on beside the solution, as values that JSON holds."""
        config = self.model.config
        return {
            'model': self.name,
            'revision': getattr(config, '_commit_hash', None),
            'head': self.model.fingerprint,
            'dtype': str(self.model.model.dtype).removeprefix('torch.'),
            'quantisation': stable_hash(str(getattr(config, 'quantization_config', ''))),
            'prompt': stable_hash(PROMPT),
            'position': self.position,
            'max_tokens': self.max_tokens,
            'long': self.long,
        }

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return the scores of each solution, in their order.

        Args:
            solutions: Equal ones are scored once.
            progress: Show a bar on standard error.
        """
        found = dict(self.stream(solutions, progress=progress))
        return [found[index] for index in range(len(solutions))]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as they are there, the longest first.

        What was yielded can be kept at once, so that little is lost when the process is killed.
        Refused solutions come among the others, with the reason in their scores.

        Args:
            solutions: Equal ones are scored once.
            progress: Show a bar on standard error.
        """
        from tqdm import tqdm

        places: dict[Solution, list[int]] = {}
        for index, solution in enumerate(solutions):
            places.setdefault(solution, []).append(index)
        self.model.eval()
        pending = iter(places)
        refused = 0
        often = 0.1 if sys.stderr.isatty() else 30.0  # in a log each redrawing is a line
        with tqdm(
            total=len(places),
            desc='scoring',
            unit='solution',
            mininterval=often,
            disable=not progress,
        ) as bar:
            while pool := list(itertools.islice(pending, POOL)):
                for solution, scores in self._pool(pool):
                    refused += scores.refusal is not None
                    bar.set_postfix(refused=refused, refresh=False)
                    bar.update()
                    for index in places[solution]:
                        yield index, scores

    def _pool(self, solutions: Sequence[Solution]) -> Iterator[tuple[Solution, StepScores]]:
        work: list[tuple[int, Passage]] = []
        tokens: dict[int, int] = {}
        for index, tokens[index], found in self._prepared(solutions):
            if isinstance(found, Refusal):
                steps = len(solutions[index].steps)
                yield solutions[index], StepScores.refused(steps, found, tokens[index])
            else:
                work += [(index, passage) for passage in found]
        parts: dict[int, list[tuple[int, Rows | Refusal]]] = {}
        left = np.bincount([index for index, _ in work], minlength=len(solutions))
        lengths = [len(passage.ids) for _, passage in work]
        for batch in like_lengths(lengths, self.batch_size, self.batch_tokens):
            results = self.passes.run([work[item][1] for item in batch])
            for item, rows in zip(batch, results, strict=True):
                index, passage = work[item]
                parts.setdefault(index, []).append((passage.first, rows))
                left[index] -= 1
                if not left[index]:
                    yield (
                        solutions[index],
                        _joined(parts.pop(index), solutions[index], tokens[index]),
                    )

    def _prepared(
        self, solutions: Sequence[Solution]
    ) -> Iterator[tuple[int, int, list[Passage] | Refusal]]:
        """Yield index, tokens of the steps, and what is to be read of each solution."""
        shift = int(self.position == 'published')
        for start in range(0, len(solutions), AT_ONCE):
            chunk = self.tokenizer.encode(solutions[start : start + AT_ONCE])
            for index, item in enumerate(chunk, start=start):
                if isinstance(item, Refusal):
                    yield index, 0, item
                else:
                    found = passages(
                        item, shift=shift, limit=self.max_tokens, window=self.long == 'window'
                    )
                    yield index, item.tokens, found


def _joined(
    parts: Sequence[tuple[int, Rows | Refusal]], solution: Solution, tokens: int
) -> StepScores:
    rows = []
    for _, part in sorted(parts, key=lambda part: part[0]):
        if isinstance(part, Refusal):
            return StepScores.refused(len(solution.steps), part, tokens)
        rows.append(part)
    return StepScores(np.concatenate(rows), tokens=tokens)
