"""The interface between inference and model wrappers, and the backend for unknown wrappers.

The protocol decides the wrapper settings listed in :data:`DECODING`. All other settings in a user's
config (stop tokens, caches, chat templates) stay in force.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from opencompass_gpassk.inference.sample_requests import Request
from opencompass_gpassk.inference.sampling import NEARLY_GREEDY, NEUTRAL, Sampling

LENGTHS = frozenset(
    ('max_completion_tokens', 'max_length', 'max_new_tokens', 'max_output_tokens', 'max_tokens')
)
# Lengths, numbers of responses (unset: one) and seeds.
OURS = LENGTHS.union(
    ('best_of', 'n', 'num_return_sequences'),
    ('decoder_seed', 'random_seed', 'sampling_seed', 'seed'),
)
# Penalties, truncations and searches.
DECODING = OURS.union(
    ('diversity_penalty', 'frequency_penalty', 'length_penalty', 'no_repeat_ngram_size'),
    ('presence_penalty', 'repetition_penalty'),
    ('epsilon_cutoff', 'eta_cutoff', 'min_p', 'top_a', 'top_h', 'top_k', 'top_p'),
    ('typical', 'typical_p'),
    ('beam_size', 'do_sample', 'early_stopping', 'num_beam_groups', 'num_beams'),
    ('penalty_alpha', 'temperature', 'use_beam_search'),
)

SETTINGS = DECODING - OURS  # of a model's config: how it samples
# Of these, what greedy decoding has no use for; and those that change nothing if they are 1, not 0.
DRAWING = (
    *('do_sample', 'temperature', 'epsilon_cutoff', 'eta_cutoff', 'min_p'),
    *('top_a', 'top_h', 'top_k', 'top_p', 'typical', 'typical_p'),
)
ONES = ('beam_size', 'length_penalty', 'num_beam_groups', 'num_beams', 'typical', 'typical_p')

End = tuple[bool | None, int | None]  # ran into the length limit, number of tokens


@dataclass(frozen=True)
class Output:
    """A backend's result of one request.

    Attributes:
        text: The response; '' if it is lost.
        truncated: Whether it reached the length limit; None if the backend doesn't say.
        num_tokens: Its length in tokens; None if the backend doesn't say.
        lost: Why there is no response, '' if there is one.
    """

    text: str
    truncated: bool | None = None
    num_tokens: int | None = None
    lost: str = ''


def as_output(answer: Any) -> Output:
    """Return a wrapper's answer to one request as an output.

    Raises:
        TypeError: If the answer isn't a single text.
    """
    if not isinstance(answer, str):
        raise TypeError(f'the model wrapper returned {type(answer).__name__} instead of a text')
    return Output(answer)


def with_ends(answers: Sequence[Any], ends: Sequence[End]) -> list[Output]:
    """Join a wrapper's answers with the engine's ends, if there is one for each answer."""
    outputs = [as_output(answer) for answer in answers]
    if len(ends) != len(outputs):
        return outputs
    return [Output(one.text, *end) for one, end in zip(outputs, ends, strict=True)]


REFUSED = 'content_filter'  # the finish reason of a response that the server holds back
HELD_BACK = 'filtered: the reply was held back by a content filter'  # why it is lost


def truncated_by(finish_reason: Any) -> bool | None:
    """Return whether the length limit ended a response, by the finish reason of any tool."""
    if finish_reason in (None, '', 'error', 'abort', 'unknown'):
        return None
    return finish_reason in ('length', 'max_tokens', 'max_output_tokens', 'model_length')


Options = dict[str, Any]


@dataclass(eq=False)
class Backend:
    """Draws responses from one family of OpenCompass's model wrappers under one protocol.

    The user's wrapper is never changed: a backend works on shallow copies, which share its weights,
    clients and rate limits but have their own settings.

    Attributes:
        model: The wrapper that OpenCompass built.
        sampling: The protocol.
        max_out_len: Greatest number of tokens in a response.
        note: Takes a message for the user; each is shown once.
        applied: The applied parameters, for the prediction records.
        batch_seed: Whether all requests of a batch share one seed. If so, a missing request is
            drawn again together with its whole batch.
        repeats: Whether a batch may hold several replicas of a problem.
        concurrent: Whether requests run concurrently, up to :meth:`workers` at once.
    """

    model: Any
    sampling: Sampling
    max_out_len: int
    note: Callable[[str], None]
    applied: dict[str, Any] = field(init=False)

    batch_seed: ClassVar[bool] = False
    repeats: ClassVar[bool] = True
    concurrent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.applied = self.sampling.record

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry.

        Args:
            entries: Prompts as OpenCompass's templates make them.
            seeds: One seed per prompt.
            options: Further arguments of the wrapper's ``generate``.

        Raises:
            Exception: Any error of the wrapper; the caller finds the request that caused it.
        """
        raise NotImplementedError

    def stream(
        self, requests: Iterable[Request], options: Options, workers: int
    ) -> Generator[list[tuple[Request, Output]], None, None]:
        """Draw requests concurrently (if ``concurrent``); yield each when it is finished.

        A request is taken from ``requests`` when it starts; every started request is yielded.
        """
        raise NotImplementedError

    def recover(self, batch_size: int, reason: str) -> None:
        """Clean up after a call that failed."""

    def workers(self, batch_size: int) -> int:
        """Return how many requests may run at once."""
        return batch_size

    def status(self) -> dict[str, Any]:
        """Return what the progress line tells of the open requests, by name."""
        return {}

    def keep(self, settings: Any) -> dict[str, Any]:
        """Return the entries of a wrapper's config dictionary that the protocol leaves in force."""
        return {
            name: value for name, value in dict(settings or {}).items() if name not in self.decided
        }

    @property
    def decided(self) -> frozenset[str]:
        """The names of settings in a wrapper's config that the protocol replaces."""
        return DECODING if self.sampling.mode != 'model' else OURS

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


def replaced_settings(config: Mapping[str, Any], sampling: Sampling) -> str:
    """Return what a model's config says of sampling that a protocol replaces by other values.

    A config that decodes greedily, as most do, expects no samples: it is no such setting.
    """
    own = dict(_sampling_settings(config)) if sampling.mode != 'model' else {}
    if own.get('top_k') == -1:  # another way to say that all tokens are kept
        own['top_k'] = 0
    temperature = own.get('temperature', 1)
    if (
        sampling.mode == 'greedy'
        or own.get('do_sample') is False
        or own.get('top_k') == 1
        or (isinstance(temperature, int | float) and temperature <= NEARLY_GREEDY)
    ):
        own = {name: value for name, value in own.items() if name not in DRAWING}
    used = {**dict.fromkeys(ONES, 1), **sampling.parameters, 'do_sample': True}
    other = {name: value for name, value in own.items() if value != used.get(name, 0)}
    return ', '.join(f'{name}={value}' for name, value in sorted(other.items()))


def _sampling_settings(value: Any) -> Iterable[tuple[str, Any]]:
    """Yield the settings of sampling that are set anywhere in a config."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            if name in SETTINGS:
                yield from [(name, one)] if one is not None else []
            elif name != 'pred_postprocessor':
                yield from _sampling_settings(one)


class UnknownBackend(Backend):
    """An unknown wrapper, whose settings can't be set: it draws as its own config says."""

    repeats = False
    decided: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        takes_stop = 'stopping_criteria' in inspect.signature(self.model.generate).parameters
        self.applied = self.sampling.without({*NEUTRAL, *(() if takes_stop else ('stop',))})
        if self.sampling.mode != 'model':
            self.note(
                f'{type(self.model).__name__} is a model wrapper that sends no sampling parameters '
                'or takes them in a way that opencompass-gpassk does not know: the sampling '
                'protocol is NOT applied, and results say so. Samples may be copies of one '
                'another. Ask an OpenAI-compatible API with OpenAICompatible instead; set '
                "sampling='model' in the inferencer if the config of the model decides on purpose"
            )

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry."""
        return [
            as_output(text) for text in self.call(self.model, entries, options, self.max_out_len)
        ]


class Tap:
    """A view of an object with some methods replaced; the object itself stays unchanged."""

    def __init__(self, target: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced)
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def room(model: Any, entries: Sequence[Any], wanted: int, note: Callable[[str], None]) -> int:
    """Return how many tokens to generate, for wrappers that truncate prompts to make room.

    These wrappers keep ``max_seq_len - max_out_len`` tokens of a prompt. If that is negative they
    keep nothing, or nonsense.

    Raises:
        ValueError: If the prompt alone doesn't fit.
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
            f'max_seq_len = {model.max_seq_len} of {type(model).__name__} limits prompt and '
            f'response together, so responses may not reach max_out_len = {wanted}; raise '
            'max_seq_len in the config of the model'
        )
    return min(left, wanted)
