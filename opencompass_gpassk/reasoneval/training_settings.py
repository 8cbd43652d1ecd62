"""How a step classifier is trained."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ['TrainingSettings']


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training.

    Optimiser, schedule and weight decay are the paper's (arXiv 2404.05692). Learning rate, number
    of epochs, batch size and share of the warm-up are usual for models of 7 billion parameters;
    smaller models learn at higher rates.

    Attributes:
        learning_rate: The rate at the end of the warm-up; then it falls to 0 along a cosine.
        epochs: Passes over the data.
        batch_size: Solutions per update, over all processes.
        device_batch: Greatest number of solutions in a forward pass of one process.
        warmup: Share of the updates over which the rate rises, in [0, 1).
        weight_decay: Weight decay of AdamW, for weights other than norms and biases.
        betas: Betas of AdamW.
        max_tokens: Tokens of prompt and steps that are read; later steps aren't trained on.
        checkpoint_every: Updates between two checkpoints; the last two are kept.
        bf16: Compute in bfloat16, with weights in float32; by default if the GPU supports it.
        gradient_checkpointing: Compute activations twice, to save memory.
        seed: Seed of the order of the data.

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
        """Return the solutions per forward pass, and the passes of each process per update.

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
