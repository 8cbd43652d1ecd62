"""Scores the steps of many solutions in batches, one forward pass per solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.batching import BatchedScorer, Prepared, Rows, passages
from opencompass_gpassk.reasoneval.model import (
    DELIMITER_KEY,
    POSITIONS,
    model_name,
    tokenizer_fingerprint,
    weights_fingerprint,
)
from opencompass_gpassk.reasoneval.solutions import (
    Refusal,
    Solution,
    StepScores,
    count_refusals,
)
from opencompass_gpassk.reasoneval.tokens import PROMPT, StepTokenizer

if TYPE_CHECKING:
    from typing_extensions import Self

    from opencompass_gpassk.reasoneval.model import StepClassifier

__all__ = ['Refusal', 'Solution', 'StepScorer', 'StepScores', 'count_refusals']

CHOICES = {
    'position': (None, *POSITIONS),
    'long': ('refuse', 'window'),
}


class StepScorer(BatchedScorer):
    """Scores solutions step by step with a :class:`~.model.StepClassifier`.

    Args:
        model: The classifier; it is put into evaluation mode.
        tokenizer: The checkpoint's own.
        position: Where a step is read: ``last``, at its last token, as in the paper (section 3.2);
            or ``published``, one token before it, as in the authors' code for
            ``GAIR/ReasonEval-7B``, which puts a BOS token in front without moving its positions.
            By default as the checkpoint requires.
        batch_size: Greatest number of solutions in a forward pass.
        batch_tokens: Greatest number of tokens in a pass, with padding; a longer solution is alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Greatest number of tokens of prompt and steps together; by default the number
            of the model's positions.
        long: How longer solutions are treated: ``refuse``; or ``window``, which reads the prompt
            several times, each time with as many steps as fit.
        padding_side: ``right``, which needs no attention mask and is faster, or ``left``.
        name: The model's name in :attr:`settings`; by default the source that it was loaded from,
            without the path of a folder.

    Attributes:
        delimiter: The text between the steps in the model's training data, if its config gives it
            (``step_delimiter``); responses are then split at it by default.

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
        super().__init__(
            model,
            batch_size=batch_size,
            batch_tokens=batch_tokens,
            max_tokens=max_tokens,
            padding_side=padding_side,
        )
        for field, value in {'position': position, 'long': long}.items():
            if value not in CHOICES[field]:
                known = ', '.join(str(choice) for choice in CHOICES[field] if choice)
                raise ValueError(f'{field} of StepScorer: {value!r} is unknown; give {known}')
        self.model = model
        self.tokenizer = StepTokenizer(tokenizer)
        self.position = position or model.position
        self.long = long
        # The delimiter of steps in the model's training data; None if its config doesn't say.
        self.delimiter: str | None = getattr(model.config, DELIMITER_KEY, None) or None
        self.name = name or model_name(model.config.name_or_path)

    @classmethod
    def load(
        cls, source: str | Path, *, model: dict[str, Any] | None = None, **settings: Any
    ) -> Self:
        """Load model and tokenizer from a folder or the hub.

        Args:
            source: The folder, or an id such as ``GAIR/ReasonEval-7B``.
            model: Arguments of :meth:`.StepClassifier.load`: ``dtype``, ``device_map``, and so on.
            settings: Arguments of this class.

        Raises:
            ValueError: As both classes do.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoTokenizer

        from opencompass_gpassk.reasoneval.model import WHERE, StepClassifier

        model = model or {}
        where = {name: model[name] for name in WHERE if name in model}
        tokenizer = AutoTokenizer.from_pretrained(str(source), **where)
        settings = {'name': model_name(source), **settings}
        return cls(StepClassifier.load(source, **model), tokenizer, **settings)

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""
        return {
            'model': self.name,
            **self._identity,
            'position': self.position,
            'max_tokens': self.max_tokens,
            'long': self.long,
        }

    @cached_property
    def _identity(self) -> dict[str, Any]:
        config = self.model.config
        return {
            'revision': getattr(config, '_commit_hash', None),
            'weights': weights_fingerprint(self.model),
            'tokenizer': tokenizer_fingerprint(self.tokenizer.tokenizer),
            'dtype': str(self.model.model.dtype).removeprefix('torch.'),
            'quantisation': stable_hash(str(getattr(config, 'quantization_config', ''))),
            'prompt': stable_hash(PROMPT),
        }

    def prepare(self, solutions: Sequence[Solution]) -> Iterator[Prepared]:
        """Yield the passages of each solution, or a refusal."""
        shift = int(self.position == 'published')
        for item in self.tokenizer.encode(solutions):
            if isinstance(item, Refusal):
                yield 0, item
            else:
                window = self.long == 'window'
                yield item.tokens, passages(item, shift=shift, limit=self.max_tokens, window=window)

    def scores_of(self, rows: Rows) -> NDArray[np.float64]:
        """Return the probabilities of all three classes."""
        return rows
