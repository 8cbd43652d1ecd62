"""How a step classifier is trained."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ['TrainingSettings']


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained.

    The optimiser, the schedule and the weight decay are those of the paper (arXiv 2404.05692); the
    learning rate, the number of epochs, the batch size and the share of the warm-up are customary
    for models of 7 billion parameters. Smaller ones learn at higher rates.

    Attributes:
        learning_rate: At the end of the warm-up; from there it falls to 0 along a cosine.
        epochs: Passes over the data.
        batch_size: Solutions in an update, over all processes.
        device_batch: Solutions in a forward pass of one process at most.
        warmup: Share of the updates over which the rate rises, in [0, 1).
        weight_decay: Of AdamW, for weights that are no norms or biases.
        betas: Of AdamW.
        max_tokens: Tokens of prompt and steps that are read; steps beyond aren't trained on.
        checkpoint_every: Updates between two checkpoints; the last two are kept.
        bf16: Compute in bfloat16, with weights in float32; by default where the GPU can.
        gradient_checkpointing: Compute activations twice, to save memory.
        seed: Of the order of the data.

    Raises:
        ValueError: If a value is out of its range.
    """

    learning_rate: float = 1e-6
    epochs: float = 3.0
    batch_size: int = 64
    device_batch: int = 8
    warmup: float = 0.03
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    max_tokens: int = 2048
    checkpoint_every: int = 200
    bf16: bool | None = None
    gradient_checkpointing: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ('batch_size', 'device_batch', 'max_tokens', 'checkpoint_every'):
            if getattr(self, name) < 1:
                raise ValueError(f'{name} of training: {getattr(self, name)}; give at least 1')
        for name in ('learning_rate', 'epochs'):
            if not 0 < getattr(self, name) < float('inf'):
                raise ValueError(f'{name} of training: {getattr(self, name)}; give more than 0')
        for name in ('warmup', 'weight_decay'):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f'{name} of training: {getattr(self, name)}; give 0 to 1')

    def shares(self, processes: int) -> tuple[int, int]:
        """Return the solutions in a forward pass, and the passes of each process in an update.

        Raises:
            ValueError: If the processes can't share a batch.
        """
        own, rest = divmod(self.batch_size, processes)
        if rest or not own:
            raise ValueError(
                f"batch_size of training: {self.batch_size} can't be shared by {processes} "
                'processes; give a multiple'
            )
        rows = max(n for n in range(1, min(own, self.device_batch) + 1) if own % n == 0)
        return rows, own // rows
