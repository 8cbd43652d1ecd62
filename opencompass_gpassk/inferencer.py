"""OpenCompass's inferencer interface: a data set's sampling protocol on any model."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.registry import ICL_INFERENCERS
from opencompass.utils import get_logger
from tqdm import tqdm

from opencompass_gpassk.inference.backend import Backend, Options
from opencompass_gpassk.inference.failures import FailureWatch, InferenceStoppedError, draw
from opencompass_gpassk.inference.identity import identities_of
from opencompass_gpassk.inference.progress import Progress, Record, write_predictions
from opencompass_gpassk.inference.rows import Output, Row, batches, row_seed, stable_hash
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.inference.wrappers import backend_of

__all__ = ['GPassKGenInferencer']

_NOTES: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


@ICL_INFERENCERS.register_module()
class GPassKGenInferencer(GenInferencer):
    """Draws responses under the protocol of the data set, whatever the model's config says.

    Each draw is seeded by the run's seed and its own problem and replica, so that a run can be
    repeated, and replicas, shards and resumed parts never repeat one another's samples.

    Args:
        model: The wrapper that OpenCompass built; it is not changed.
        max_out_len: Most tokens a response may have.
        sampling: ``dict(temperature=1.0, top_p=0.8, top_k=50, repetition_penalty=1.0)``, of which
            what is left out is neutral; ``'greedy'``; or ``'model'`` for the model config's own.
        seed: Of the run.
        max_failures: So many failed requests, one after another, end the run with an error.
        **kwargs: As in OpenCompass's ``GenInferencer``.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        model: Any,
        max_out_len: int,
        sampling: str | Mapping[str, Any] = 'model',
        seed: int = 0,
        max_failures: int = 20,
        **kwargs: Any,
    ) -> None:
        if isinstance(max_out_len, bool) or not isinstance(max_out_len, int) or max_out_len < 1:
            raise ValueError(
                f'max_out_len is {max_out_len!r}; set it to a number of tokens in the inferencer '
                'of the data set or in the config of the model'
            )
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ValueError(f'seed is {seed!r}; it must be a whole number')
        if max_failures < 1:
            raise ValueError(f'max_failures is {max_failures}; it must be at least 1')
        if kwargs.get('multiround'):
            raise ValueError(
                'multiround is set; GPassKGenInferencer draws single responses, use '
                "OpenCompass's GenInferencer for conversations"
            )
        super().__init__(model, max_out_len, **kwargs)
        self.sampling = Sampling.parse(sampling)
        self.seed = seed
        self.max_failures = max_failures
        self.logger = get_logger()

    def inference(
        self,
        retriever: Any,
        ice_template: Any = None,
        prompt_template: Any = None,
        output_json_filepath: str | None = None,
        output_json_filename: str | None = None,
    ) -> list[str]:
        """Draw a response to each row of the test set and write the prediction file.

        Returns:
            The responses, in the order of the rows; a lost one is ''.

        Raises:
            InferenceStoppedError: If too many requests failed one after another, or all did.
        """
        if self.dump_only_message_path:
            return super().inference(
                retriever, ice_template, prompt_template, output_json_filepath, output_json_filename
            )
        folder = Path(output_json_filepath or self.output_json_filepath)
        name = output_json_filename or self.output_json_filename
        rows = self._rows(retriever, ice_template, prompt_template)
        backend = backend_of(self.model, self.sampling, self.max_out_len, self._note)
        progress = Progress((folder / f'tmp_{name}').with_suffix('.jsonl'))
        saved, dropped = progress.restore(rows)
        if saved or dropped:
            self.logger.info(
                f'{progress.path}: {len(saved)} of {len(rows)} responses are there'
                + (f', {dropped} lines do not fit these prompts and settings' if dropped else '')
            )
        if self.is_main_process:
            progress.start({row.index: row for row in rows}, saved)
        lost = self._run(backend, rows, saved, progress)
        if lost and len(lost) == len(rows):
            reason = next(iter(lost.values()))['lost']
            raise InferenceStoppedError(f'all {len(lost)} requests failed, the last with: {reason}')
        if self.is_main_process:
            write_predictions(folder / name, saved | lost)
            progress.remove()
        if lost:
            self.logger.warning(
                f'{folder / name}: {len(lost)} of {len(rows)} responses are lost; to try them '
                'again, delete this file and resume with opencompass CONFIG -r'
            )
        return [(saved | lost)[row.index]['prediction'] for row in rows]

    def _run(
        self, backend: Backend, rows: Sequence[Row], saved: dict[int, Record], progress: Progress
    ) -> dict[int, Record]:
        """Draw what is not saved; return the records of lost rows.

        Lost requests are tried a second time at the end, when a server may have recovered.
        """
        watch = FailureWatch(self.max_failures)
        lost: dict[int, Record] = {}
        with tqdm(
            total=len(rows), initial=len(saved), disable=not self.is_main_process, desc='Sampling'
        ) as bar:
            for again in (False, True):
                if again and not (lost and backend.concurrent):
                    break
                with closing(self._draws(backend, rows, saved, alone=again)) as draws:
                    for finished in draws:
                        new = [item for item in finished if item[0].index not in saved]
                        self._save(new, backend, saved, lost, progress)
                        bar.update(sum(not output.lost for _, output in new))
                        if not again:
                            watch.saw([output for _, output in finished])
        return lost

    def _save(
        self,
        finished: Sequence[tuple[Row, Output]],
        backend: Backend,
        saved: dict[int, Record],
        lost: dict[int, Record],
        progress: Progress,
    ) -> None:
        """Sort finished rows into saved and lost ones. Only a response counts as done."""
        records = [(row, self._record(row, output, backend)) for row, output in finished]
        for row, record in records:
            if 'lost' in record:
                lost[row.index] = record
                self.logger.warning(
                    f'problem {row.problem_id}, replica {row.replica}: {record["lost"]}'
                )
            else:
                lost.pop(row.index, None)
                saved[row.index] = record
        if self.is_main_process:
            progress.append([item for item in records if 'lost' not in item[1]])

    def _draws(
        self,
        backend: Backend,
        rows: Sequence[Row],
        saved: Mapping[int, Record],
        *,
        alone: bool,
    ) -> Generator[list[tuple[Row, Output]], None, None]:
        """Yield finished rows, a batch or a request at a time."""
        options: Options = {
            'stopping_criteria': self.stopping_criteria,
            'min_out_len': self.min_out_len,
        }
        size = 1 if alone else self.batch_size or 1
        if backend.per_request:
            rows = [row for row in rows if row.index not in saved]
        with torch.no_grad():
            if backend.concurrent:
                yield from backend.stream(rows, options, backend.workers(size))
                return
            for batch in batches(rows, size, repeats=backend.repeats):
                if any(row.index not in saved for row in batch):
                    yield from draw(backend, batch, options)

    def _rows(self, retriever: Any, ice_template: Any, prompt_template: Any) -> list[Row]:
        entries = self.get_generation_prompt_list_from_retriever_indices(
            retriever.retrieve(),
            retriever,
            self.gen_field_replace_token,
            max_seq_len=self.max_seq_len,
            ice_template=ice_template,
            prompt_template=prompt_template,
        )
        reader = retriever.dataset_reader
        test_set = reader.dataset['test']
        golds = test_set[reader.output_column] if reader.output_column else [None] * len(entries)
        rows = []
        for index, (entry, gold, (problem_id, replica)) in enumerate(
            zip(entries, golds, identities_of(test_set), strict=True)
        ):
            prompt = self.model.parse_template(entry, mode='gen')
            seed = row_seed(self.seed, problem_id, replica, prompt)
            key = stable_hash(
                problem_id,
                replica,
                prompt,
                self.sampling.record,
                self.seed,
                self.max_out_len,
                self.min_out_len,
                self.stopping_criteria,
            )[:16]
            rows.append(Row(index, problem_id, replica, entry, prompt, gold, seed, key))
        return rows

    def _record(self, row: Row, output: Output, backend: Backend) -> Record:
        record: Record = {
            'origin_prompt': row.prompt,
            'prediction': output.text,
            **({} if row.gold is None else {'gold': row.gold}),
            'problem_id': row.problem_id,
            'replica': row.replica,
            'truncated': output.truncated,
            'num_tokens': output.num_tokens,
            'sampling': dict(backend.applied),
        }
        if output.lost:
            record['lost'] = output.lost
        elif self.dump_res_length:
            prompt = row.prompt if isinstance(row.prompt, str) else json.dumps(row.prompt)
            record['res_length'] = output.num_tokens or self.model.get_token_len(output.text)
            record['all_input_length'] = self.model.get_token_len(prompt)
        return record

    def _note(self, message: str) -> None:
        """Tell the user once a model, not once a data set."""
        said = _NOTES.setdefault(self.model, set())
        if message not in said:
            said.add(message)
            self.logger.warning(message)
