"""What inference asks of a model wrapper, and the wrapper that nobody knows."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

from opencompass_gpassk.inference.decoding import DECODING, OURS
from opencompass_gpassk.inference.outputs import Output, as_output
from opencompass_gpassk.inference.requests import Request
from opencompass_gpassk.inference.sampling import Sampling

__all__ = ['Backend', 'Options', 'Tap', 'UnknownBackend', 'clone', 'room']

Options = dict[str, Any]


class Backend:
    """A family of OpenCompass's model wrappers, ready to draw under one protocol.

    The user's wrapper is never changed: a backend works on shallow copies of it, which share its
    weights, clients and rate limits but have settings of their own.

    Attributes:
        batch_seed: All requests of a batch are drawn with one seed, so that a missing one is
            drawn again with all others of its batch.
        repeats: A batch may hold several replicas of a problem.
        concurrent: Requests run beside each other; ``batch_size`` is how many.
        applied: What the prediction records say was applied.

    Args:
        model: The wrapper that OpenCompass built.
        sampling: The protocol.
        max_out_len: Most tokens a response may have.
        note: Takes a message for the user; each is shown once.
    """

    batch_seed = False
    repeats = True
    concurrent = False

    def __init__(
        self, model: Any, sampling: Sampling, max_out_len: int, note: Callable[[str], None]
    ) -> None:
        self.model = model
        self.sampling = sampling
        self.max_out_len = max_out_len
        self.note = note
        self.applied = sampling.record

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry.

        Args:
            entries: Prompts as OpenCompass's templates make them.
            seeds: One each.
            options: Further arguments of the wrapper's ``generate``.

        Raises:
            Exception: Whatever the wrapper raises; the caller finds the request that is to blame.
        """
        raise NotImplementedError

    def stream(
        self, requests: Iterable[Request], options: Options, workers: int
    ) -> Generator[list[tuple[Request, Output]], None, None]:
        """Draw requests beside each other, where ``concurrent``; yield each as it is finished.

        Each is taken from ``requests`` when it is begun; what is begun is also yielded.
        """
        raise NotImplementedError

    def recover(self, batch_size: int, reason: str) -> None:
        """Clean up after a call that failed."""

    def workers(self, batch_size: int) -> int:
        """Return how many requests may run beside each other."""
        return batch_size

    def keep(self, settings: Any) -> dict[str, Any]:
        """Return what stays of a config dictionary of the wrapper under the protocol."""
        gone = DECODING if self.sampling.mode != 'model' else OURS
        return {name: value for name, value in dict(settings or {}).items() if name not in gone}

    def call(self, model: Any, entries: Sequence[Any], options: Options, limit: int) -> list[Any]:
        """Call a wrapper as OpenCompass's inferencer does."""
        known = inspect.signature(model.generate).parameters
        return list(
            model.generate_from_template(
                list(entries),
                max_out_len=limit,
                **{name: value for name, value in options.items() if name in known},
            )
        )


class UnknownBackend(Backend):
    """A wrapper whose settings nobody here knows: it draws as its own config says."""

    repeats = False

    def __init__(
        self, model: Any, sampling: Sampling, max_out_len: int, note: Callable[[str], None]
    ) -> None:
        super().__init__(model, sampling, max_out_len, note)
        self.applied = {'model': True}
        if sampling.mode != 'model':
            note(
                f'{type(model).__name__} is a model wrapper whose sampling parameters '
                'opencompass-gpassk does not know how to set: the sampling protocol is NOT '
                'applied, responses are drawn as the config of the model says. Set temperature, '
                'top_p and top_k there, no fixed seed, and check the warnings of the evaluation; '
                "sampling='model' in the inferencer says that this is meant"
            )

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry."""
        return [
            as_output(text) for text in self.call(self.model, entries, options, self.max_out_len)
        ]


class Tap:
    """An object with some methods replaced; all else is the object's own, which stays unchanged."""

    def __init__(self, target: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced)
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def clone(model: Any) -> Any:
    """Return a shallow copy of a wrapper: same weights and clients, settings of its own."""
    return copy.copy(model)


def room(model: Any, entries: Sequence[Any], wanted: int, note: Callable[[str], None]) -> int:
    """Return how many tokens may be generated where a wrapper cuts prompts to make room for them.

    Such wrappers keep ``max_seq_len - max_out_len`` tokens of a prompt: none of it, or nonsense,
    if that is negative.

    Raises:
        ValueError: If not even the prompt fits.
    """
    longest = max(model.get_token_len_from_template(list(entries), mode='gen'))
    left = model.max_seq_len - longest
    if left < 1:
        raise ValueError(
            f'the prompt has {longest} tokens, max_seq_len of the model is {model.max_seq_len}; '
            'raise max_seq_len in the config of the model'
        )
    if left < wanted:
        note(
            f'max_seq_len = {model.max_seq_len} of {type(model).__name__} holds prompt and '
            f'response, so that responses may not reach max_out_len = {wanted}; raise max_seq_len '
            'in the config of the model'
        )
    return min(left, wanted)
