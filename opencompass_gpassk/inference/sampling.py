"""The sampling protocol: how responses are drawn, whatever the model's own config says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from opencompass_gpassk.formats.parse_settings import Settings

# Values that leave the model's distribution unchanged. A parameter that a protocol leaves out gets
# its value here, not a backend's default (transformers' top_k is 50).
NEUTRAL = {'temperature': 1.0, 'top_p': 1.0, 'top_k': 0, 'repetition_penalty': 1.0}

# The protocol of arXiv 2412.13147.
PAPER = {'temperature': 1.0, 'top_p': 0.8, 'top_k': 50, 'repetition_penalty': 1.0}

# In records of responses: the parameters that the wrapper can't set, those whose effect was not
# seen, and the settings of the model that were not used.
NOT_APPLIED, NOT_KNOWN, REPLACED = 'not applied', 'not known', 'replaced'
MIN_P = 'min_p'  # no protocol has one, but servers may have a value of their own, unless told 0
NEARLY_GREEDY = 0.01  # the greatest temperature of configs that mean greedy decoding


def meant_greedy(record: Mapping[str, Any]) -> bool:
    """Tell whether a prediction record says that greedy decoding was asked for."""
    return record.get('greedy') is True or str(record.get(NOT_APPLIED)).startswith('greedy')


UNUSED = "the model's own sampling is not used: "  # begins a warning that comes before others


def unused_settings(settings: str) -> str:
    """Return the warning that a protocol replaces settings of a model's config, and the remedy."""
    return (
        f"{UNUSED}{settings} in its config gives way to the data set's protocol; to sample as the "
        "config says, set sampling='model' in the inferencer of the data set, or in upgrade(…); to "
        'choose the protocol of gpassk run, --temperature, --top-p and --top-k'
    )


@dataclass(frozen=True)
class Sampling(Settings):
    """One of three protocols: given parameters, greedy, or the parameters in the model's config.

    Attributes:
        mode: ``'sampled'``, ``'greedy'`` or ``'model'``.
        temperature: Above 0 and at most 2; greedy decoding is a mode of its own.
        top_p: In (0, 1]; 1 keeps all tokens.
        top_k: 0 keeps all tokens.
        repetition_penalty: Above 0; 1 is none.
        seeded: Whether each request of ``'sampled'`` carries its own seed. If not, the engine draws
            as it likes, which is faster on some, and the run can't be repeated.
        stop: Texts that end a response, as the data set asks.
    """

    name: ClassVar = 'sampling'
    text_sets: ClassVar = 'mode'
    example: ClassVar = repr(PAPER)

    mode: Literal['greedy', 'model', 'sampled'] = 'sampled'
    temperature: Annotated[float, Field(gt=0, le=2)] = 1.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Annotated[int, Field(ge=0)] = 0
    repetition_penalty: Annotated[float, Field(gt=0)] = 1.0
    seeded: bool = True
    stop: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, float]:
        """The four parameters; those of ``'greedy'`` and ``'model'`` are neutral."""
        return {name: getattr(self, name) for name in NEUTRAL}

    @property
    def record(self) -> dict[str, Any]:
        """The parameters for a prediction record, if the backend applies all of them."""
        told: dict[str, Any] = {self.mode: True}
        if self.mode == 'sampled':
            told = self.parameters | ({} if self.seeded else {'seeded': False})
        return told | ({'stop': ', '.join(self.stop)} if self.stop else {})

    def without(self, left_out: Collection[str], not_known: Collection[str] = ()) -> dict[str, Any]:
        """Return the parameters for a prediction record, if the backend can't apply some of them.

        ``not applied`` names them, and ``not known`` those that are sent, perhaps to no effect. Of
        greedy decoding, only the temperature matters.
        """
        needed = {'greedy': 'temperature'}
        missing = [name for name in self.record if needed.get(name, name) in left_out]
        told = {name: value for name, value in self.record.items() if name not in missing}
        if missing:
            told[NOT_APPLIED] = ', '.join(missing)
        unsure = [name for name in (*NEUTRAL, MIN_P) if name in not_known and name not in missing]
        if unsure and self.mode == 'sampled':
            told[NOT_KNOWN] = ', '.join(unsure)
        return told

    def fields(self, seed: int, keep_all: int | None = -1) -> dict[str, Any]:
        """Return the fields of one request: all of them, since engines have defaults of their own.

        Args:
            seed: The seed of this draw.
            keep_all: The engine's top_k that keeps all tokens; None if it has none.
        """
        if self.mode == 'greedy':
            return {**self.parameters, 'temperature': 0.0, 'top_k': 1}
        if self.mode == 'model':
            return {'seed': seed}
        fields = {**self.parameters, 'top_k': self.top_k or keep_all}
        return fields | ({'seed': seed} if self.seeded else {})
