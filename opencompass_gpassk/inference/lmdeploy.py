"""OpenCompass's wrappers of LMDeploy's TurboMind in process."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opencompass_gpassk.inference.backend import (
    Backend,
    End,
    Options,
    Output,
    room,
    truncated_by,
    with_ends,
)

REFUSED = 'LMDeploy refused the prompt; is it longer than session_len (max_seq_len)?'


class LMDeployBackend(Backend):
    """``TurboMindModel`` and ``TurboMindModelwithChatTemplate``: each request has its own config.

    The wrappers override some settings of ``gen_config``, so they are set when the wrapper hands
    the config to the engine.
    """

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry."""
        model = copy.copy(self.model)  # settings of its own
        mode, chosen = self.sampling.mode, {}
        if mode != 'model':
            chosen = {**self.sampling.parameters, 'do_sample': mode == 'sampled'}
        model.gen_config = {**self.keep(model.gen_config), **chosen}
        limit = self.max_out_len
        if getattr(model, 'drop_middle', False):
            limit = room(self.model, entries, limit, self.note)
        pipe = model.pipe
        ends: list[End] = []
        refused: set[int] = set()

        def answer(prompts: Any, gen_config: Any, **kwargs: Any) -> Any:
            configs = [
                # Without a seed, LMDeploy takes one at random for each request.
                replace(gen_config, **chosen, max_new_tokens=limit, random_seed=one)
                for one in (seeds if self.sampling.seeded else [None] * len(seeds))
            ]
            answers = pipe(prompts, gen_config=configs, **kwargs)
            ends.extend(_end(one) for one in answers)
            refused.update(i for i, one in enumerate(answers) if _refused(one))
            return answers

        model.pipe = answer
        texts = self.call(model, entries, options, limit)
        return [
            Output('', lost=REFUSED) if i in refused else output
            for i, output in enumerate(with_ends(texts, ends))
        ]


def _end(answer: Any) -> End:
    return truncated_by(answer.finish_reason), answer.generate_token_len


def _refused(answer: Any) -> bool:
    reason = answer.finish_reason
    return reason == 'error' or (reason == 'length' and answer.generate_token_len == 0)
