"""OpenCompass's LMDeploy wrappers: TurboMind in process, and its API server."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Sequence
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
from opencompass_gpassk.inference.openai_api import APIBackend, RequestLog

__all__ = ['LMDeployAPIBackend', 'LMDeployBackend']

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
        chosen = self._parameters()
        model.gen_config = {**self.keep(model.gen_config), **chosen}
        limit = self.max_out_len
        if getattr(model, 'drop_middle', False):
            limit = room(self.model, entries, limit, self.note)
        pipe = model.pipe
        ends: list[End] = []
        refused: set[int] = set()

        def answer(prompts: Any, gen_config: Any, **kwargs: Any) -> Any:
            configs = [
                _with(gen_config, {**chosen, 'max_new_tokens': limit, 'random_seed': seed})
                for seed in seeds
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

    def _parameters(self) -> dict[str, Any]:
        if self.sampling.mode == 'model':
            return {}
        if self.sampling.mode == 'sampled':
            return {'do_sample': True, **self.sampling.parameters}
        # LMDeploy before version 0.6 had no do_sample: there top_k = 1 is greedy.
        return {'do_sample': False, **self.sampling.parameters, 'top_k': 1}


class LMDeployAPIBackend(APIBackend):
    """``TurboMindAPIModel``: LMDeploy's server through LMDeploy's client."""

    def prepare(self, seed: int, log: RequestLog) -> Any:
        """Return a wrapper that sends one request under the protocol."""
        model = copy.copy(self.model)  # settings of its own
        sent = self._seeded(self.wanted(seed))
        model.gen_config = {**self.keep(model.gen_config), **sent}
        if self.sampling.mode != 'model':
            model.temperature = sent.get('temperature', model.temperature)
            model.top_p = model.top_k = None
        client = model.chatbot

        def completions(**kwargs: Any) -> Iterator[Any]:
            for part in client.completions_v1(**kwargs):
                if not isinstance(part, dict) or not part.get('choices'):
                    raise RuntimeError(f'the server answered {str(part)[:300]}')
                log.finish_reason = part['choices'][0].get('finish_reason') or log.finish_reason
                log.num_tokens = (part.get('usage') or {}).get('completion_tokens', log.num_tokens)
                yield part

        model.chatbot = Tap(client, completions_v1=completions)
        return model

    def off(self) -> int:
        """Return the top_k that keeps all tokens."""
        return 0

    def _seeded(self, sent: dict[str, Any]) -> dict[str, Any]:
        """Give the seed the client's name for it, which differs between versions."""
        if 'seed' not in sent:
            return sent
        seed = sent.pop('seed')
        known = inspect.signature(self.model.chatbot.completions_v1).parameters.values()
        names = [one.name for one in known if one.name in ('seed', 'random_seed')]
        if not names and any(one.kind is one.VAR_KEYWORD for one in known):
            names = ['seed', 'random_seed']
            self.note(
                "TurboMindAPIModel: LMDeploy's client names no seed and may not pass it on; then "
                'a repeated run draws other samples'
            )
        if not names:
            self.leave_out('seed', "LMDeploy's client has no such argument")
        return {**sent, **dict.fromkeys(names, seed)}


def _with(gen_config: Any, chosen: dict[str, Any]) -> Any:
    one = copy.copy(gen_config)
    for name, value in chosen.items():
        if hasattr(one, name):
            setattr(one, name, value)
    return one


def _end(answer: Any) -> End:
    reason = getattr(answer, 'finish_reason', None)
    return truncated_by(reason), getattr(answer, 'generate_token_len', None)


def _refused(answer: Any) -> bool:
    reason = getattr(answer, 'finish_reason', None)
    empty = getattr(answer, 'generate_token_len', None) == 0
    return reason == 'error' or (reason == 'length' and empty)
