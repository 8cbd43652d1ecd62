"""Step classifiers: the scores of ReasonEval, which are the probabilities of three classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.batching import BatchedScorer
from opencompass_gpassk.reasoneval.model import DELIMITER_KEY, POSITIONS, StepClassifier
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.tokens import PROMPT, Encoded, StepTokenizer

if TYPE_CHECKING:
    import torch

__all__ = ['Refusal', 'Solution', 'StepScorer', 'StepScores']

LONG = ('refuse', 'window')


class StepScorer(BatchedScorer):
    """Scores solutions step by step with a :class:`~.model.StepClassifier`.

    Args:
        model: The classifier; it is put into evaluation mode.
        tokenizer: The checkpoint's own.
        position: Where a step is read: ``last``, at its last token, as in the paper (section 3.2);
            or ``published``, one token before it, as in the authors' code for
            ``GAIR/ReasonEval-7B``, which puts a BOS token in front without moving its positions.
            By default as the checkpoint requires.
        long: How solutions of more than ``max_tokens`` are treated: ``refuse``; or ``window``,
            which reads the prompt several times, each time with as many steps as fit.
        batching: Arguments of :class:`~.batching.BatchedScorer`: ``batch_size``, ``batch_tokens``
            and ``max_tokens``.

    Attributes:
        delimiter: The text between the steps in the model's training data, if its config gives it
            (``step_delimiter``); responses are then split at it by default.

    Raises:
        ValueError: If a setting is out of its range, or the tokenizer has no token that can
            separate steps.
    """

    model: StepClassifier

    def __init__(
        self,
        model: StepClassifier,
        tokenizer: Any,
        *,
        position: str | None = None,
        long: str = 'refuse',
        **batching: Any,
    ) -> None:
        super().__init__(model, tokenizer, **batching)
        for field, value, known in (
            ('position', position or model.position, POSITIONS),
            ('long', long, LONG),
        ):
            if value not in known:
                raise ValueError(
                    f'{field} of StepScorer: {value!r} is unknown; give {", ".join(known)}'
                )
        self.step_tokenizer = StepTokenizer(tokenizer)
        self.position = position or model.position
        self.long = long
        self.shift = int(self.position == 'published')
        self.window = long == 'window'
        self.delimiter: str | None = getattr(model.config, DELIMITER_KEY, None) or None

    load_model = StepClassifier.load

    def own_settings(self) -> dict[str, Any]:
        """Return the prompt, and how it and the steps are read."""
        quantisation = getattr(self.model.config, 'quantization_config', '')
        return {
            'quantisation': stable_hash(str(quantisation)),
            'prompt': stable_hash(PROMPT),
            'position': self.position,
            'long': self.long,
        }

    def encode(self, solutions: Sequence[Solution]) -> list[Encoded | Refusal]:
        """Return the tokens of each solution, or a refusal."""
        return self.step_tokenizer.encode(solutions)

    def read(self, input_ids: torch.Tensor, reads: torch.Tensor) -> torch.Tensor:
        """Return the logits of the three classes at R tokens, shape (R, 3)."""
        logits: torch.Tensor = self.model(input_ids, reads)
        return logits
