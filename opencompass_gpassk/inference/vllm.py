"""OpenCompass's vLLM wrappers, ``VLLM`` and ``VLLMwithChatTemplate``."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from opencompass_gpassk.inference.backend import (
    Backend,
    End,
    Options,
    Output,
    Tap,
    room,
    truncated_by,
    with_ends,
)


class VLLMBackend(Backend):
    """Each request has its own ``SamplingParams``, and so its own seed.

    The wrappers make one for a whole batch, but vLLM's ``LLM.generate`` also takes a list. A
    request's seed overrides the engine's.

    Raises:
        ValueError: If requests shall carry no seeds: every start of the engine begins with the same
            random numbers, so shards and resumed parts would repeat one another's samples.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sampling.seeded:
            raise ValueError(
                'sampling.seeded is False, but an engine of vLLM in this process has the same seed '
                'at every start, so shards and resumed parts would repeat samples; leave seeded '
                'out, or serve the model with vllm serve and use its URL'
            )

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry."""
        model = copy.copy(self.model)  # settings of its own
        own = self.keep(model.generation_kwargs)
        model.generation_kwargs = own | self.sampling.fields(seeds[0])
        engine = model.model
        ends: list[End] = []

        def generate(prompts: Any, params: Any, **kwargs: Any) -> Any:
            if self.sampling.mode != 'greedy':
                params = [_with_seed(params, seed) for seed in seeds]
            answers = engine.generate(prompts, params, **kwargs)
            ends.extend(_end(answer.outputs[0]) for answer in answers)
            return answers

        model.model = Tap(engine, generate=generate)
        limit = self.max_out_len
        if getattr(model, 'mode', 'none') == 'mid':
            limit = room(self.model, entries, limit, self.note)
        texts = self.call(model, entries, options, limit)
        return with_ends(texts, ends)


def _with_seed(params: Any, seed: int) -> Any:
    one = params.clone() if hasattr(params, 'clone') else copy.copy(params)
    one.seed = seed
    return one


def _end(answer: Any) -> End:
    return truncated_by(answer.finish_reason), len(answer.token_ids)
