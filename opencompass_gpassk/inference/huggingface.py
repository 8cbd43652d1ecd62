"""OpenCompass's HuggingFace wrappers."""

from __future__ import annotations

import copy
import gc
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from opencompass_gpassk.inference.backend import (
    Backend,
    End,
    Options,
    Output,
    Tap,
    room,
    with_ends,
)
from opencompass_gpassk.inference.sample_requests import combined_seed

SMALL = 10_000_000  # parameters
# Other settings in a checkpoint's generation_config.json that change what is drawn. Each is reset
# only where it is set, since some versions of transformers don't know all of them.
NEUTRAL = {
    'diversity_penalty': 0.0,
    'early_stopping': False,
    'epsilon_cutoff': 0.0,
    'eta_cutoff': 0.0,
    'length_penalty': 1.0,
    'max_time': None,
    'min_p': None,
    'no_repeat_ngram_size': 0,
    'num_beam_groups': 1,
    'num_beams': 1,
    'num_return_sequences': 1,
    'penalty_alpha': None,
    'typical_p': 1.0,
}
# transformers warns of sampling parameters without do_sample, unless they have its defaults.
GREEDY = {
    'do_sample': False,
    'temperature': 1.0,
    'top_p': 1.0,
    'top_k': 50,
    'repetition_penalty': 1.0,
}


class HuggingFaceBackend(Backend):
    """Wrappers that call ``generate`` of ``transformers``: a batch is drawn with one seed.

    The seed is a function of the batch's requests; each request draws different random numbers.
    """

    batch_seed = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.ends: list[End] = []

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry."""
        self.ends = []
        model = copy.copy(self.model)  # settings of its own
        model.generation_kwargs = {**self.keep(model.generation_kwargs), **self._parameters()}
        stops = [
            *(options.get('stopping_criteria') or []),
            *(getattr(model, 'stop_words', None) or []),
        ]
        if getattr(model, 'end_str', None):
            stops.append(model.end_str)
        engine = model.model

        def generate(*args: Any, **kwargs: Any) -> Any:
            rooms = self._rooms(engine, kwargs)
            ids = engine.generate(*args, **{**kwargs, 'max_new_tokens': max(rooms)})
            return self._measure(ids, kwargs, rooms, stops)

        model.model = Tap(engine, generate=generate)
        limit = self.max_out_len
        if hasattr(model, 'batch_padding') or getattr(model, 'mode', 'none') == 'mid':
            limit = room(self.model, entries, limit, self.note)
        with _seeded(combined_seed(seeds)), _threads_for(engine):
            texts = self.call(model, entries, options, limit)
        return with_ends(texts, self.ends)

    def recover(self, batch_size: int, reason: str) -> None:
        """Free the memory of a failed call, so that half the batch may fit."""
        if 'OutOfMemory' not in reason:
            return
        if batch_size > 1:
            self.note(
                f'a batch of {batch_size} requests ran out of memory and is drawn in halves, which '
                'costs time; lower batch_size in the config of the model'
            )
        import torch

        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _parameters(self) -> dict[str, Any]:
        if self.sampling.mode == 'model':
            return {}
        chosen = GREEDY
        if self.sampling.mode == 'sampled':
            chosen = {'do_sample': True, **self.sampling.parameters}
        checkpoint = getattr(self.model.model, 'generation_config', None)
        overruled = {
            name: value
            for name, value in NEUTRAL.items()
            if getattr(checkpoint, name, value) not in (value, None)
        }
        return {**overruled, **chosen}

    def _rooms(self, engine: Any, kwargs: dict[str, Any]) -> list[int]:
        """Return how many tokens each row may get, limited by the model's positions.

        Beyond its positions a model writes noise. With scaled positions their number is unknown.
        """
        wanted: int = kwargs['max_new_tokens']
        ids, mask = kwargs['input_ids'], kwargs.get('attention_mask')
        prompts = [ids.shape[1]] * len(ids) if mask is None else mask.sum(dim=1).tolist()
        config = getattr(engine, 'config', None)
        positions = getattr(config, 'max_position_embeddings', None)
        if not isinstance(positions, int) or getattr(config, 'rope_scaling', None):
            return [wanted] * len(prompts)
        if positions < wanted:
            self.note(
                f'max_out_len = {wanted}, but the model has {positions} positions for prompt and '
                'response: responses that reach the last position are cut off there'
            )
        return [min(wanted, max(positions - prompt, 1)) for prompt in prompts]

    def _measure(
        self, ids: Any, kwargs: dict[str, Any], rooms: Sequence[int], stops: Sequence[str]
    ) -> Any:
        """Note for each generated row whether it reached its limit, and its length.

        Returns:
            The ids, with each row ended at its limit.
        """
        checkpoint = getattr(self.model.model, 'generation_config', None)
        ends = kwargs.get('eos_token_id', getattr(checkpoint, 'eos_token_id', None))
        ends = list(ends) if isinstance(ends, list | tuple) else [ends]
        width = kwargs['input_ids'].shape[1]
        rows = [row[:limit] for row, limit in zip(ids[:, width:].tolist(), rooms, strict=True)]
        for row, limit in zip(rows, rooms, strict=True):
            end = next((i for i, token in enumerate(row) if token in ends), None)
            # A stop word may come earlier: the row went on while others of its batch weren't done.
            stop = self._stop(row[: None if end is None else end + 1], stops)
            end = stop if stop is not None else end
            if end is not None:
                self.ends.append((False, end + 1))
            else:
                self.ends.append((len(row) >= limit, len(row)))
        if ends[0] is not None:
            for row_ids, limit in zip(ids, rooms, strict=True):
                row_ids[width + limit :] = ends[0]  # wrappers cut a response at an end token
        return ids

    def _stop(self, row: list[int], stops: Sequence[str]) -> int | None:
        """Return the position of the token that completes a stop word; None if none does."""
        decode = self.model.tokenizer.decode

        def stopped(end: int) -> bool:
            text = decode(row[: end + 1])
            return any(stop in text for stop in stops)

        if not stops or not row or not stopped(len(row) - 1):
            return None
        return bisect_left(range(len(row)), True, key=stopped)


@contextmanager
def _threads_for(engine: Any) -> Iterator[None]:
    """Run a small model on the CPU in one thread: its matrices are too small for several.

    If another process occupies a core, waiting for threads takes ten times as long.
    """
    import torch

    before = torch.get_num_threads()
    parameters = sum(p.numel() for p in engine.parameters() if p.device.type == 'cpu')
    if 0 < parameters < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed torch's generators for one draw, and restore them afterwards."""
    import torch

    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
