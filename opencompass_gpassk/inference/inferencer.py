"""OpenCompass's inferencer interface: a data set's sampling protocol on any model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.registry import ICL_INFERENCERS
from opencompass.utils import build_dataset_from_cfg, get_logger

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.backend import Backend, Output
from opencompass_gpassk.inference.choose_backend import backend_of
from opencompass_gpassk.inference.model_identity import model_identity, readable
from opencompass_gpassk.inference.progress_files import (
    Progress,
    Record,
    Restored,
    write_predictions,
)
from opencompass_gpassk.inference.request_loop import (
    Drawing,
    InferenceStoppedError,
)
from opencompass_gpassk.inference.sampling import PAPER, Sampling
from opencompass_gpassk.inference.trial_requests import (
    Request,
    identities_in_task,
    request_seed,
    shard_of,
)
from opencompass_gpassk.runs.config import stored_models
from opencompass_gpassk.runs.predictions import how_to_ask_again, model_name
from opencompass_gpassk.runs.progress import progress_file
from opencompass_gpassk.runs.running_task import running_task

_NOTES: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


@ICL_INFERENCERS.register_module()
class GPassKGenInferencer(GenInferencer):
    """Draws responses under the protocol of the data set, whatever the model's config says.

    Each draw is seeded by the run's seed, the problem and the replica. So a run can be repeated,
    and replicas, shards and resumed parts never repeat one another's samples.

    Args:
        model: The wrapper that OpenCompass built; it is not changed.
        max_out_len: Greatest number of tokens in a response.
        sampling: ``dict(temperature=1.0, top_p=0.8, top_k=50, repetition_penalty=1.0)``, the
            default and the protocol of arXiv 2412.13147 (a parameter left out is neutral);
            ``'greedy'``; or ``'model'`` for the parameters in the model's config.
        seed: The run's seed.
        max_failures: This many consecutive failed requests end the run with an error. With w
            concurrent requests to an API, which fail together, w - 1 more are needed.
        **kwargs: As in OpenCompass's ``GenInferencer``.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        model: Any,
        max_out_len: int,
        sampling: str | Mapping[str, Any] = PAPER,
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
            The responses, in the order of the rows; '' for a lost one.

        Raises:
            InferenceStoppedError: If too many consecutive requests failed, or all did.
        """
        if self.dump_only_message_path:
            return super().inference(
                retriever, ice_template, prompt_template, output_json_filepath, output_json_filename
            )
        folder = Path(output_json_filepath or self.output_json_filepath)
        name = output_json_filename or self.output_json_filename
        task = running_task()
        config = getattr(task, 'dataset_cfg', None)
        of_model = getattr(task, 'max_out_len', None) or self.max_out_len
        if of_model != self.max_out_len:
            self._note(
                f'responses have at most {self.max_out_len} tokens, as the config of the data set '
                f'says, not the {of_model} of the model; GPASSK_MAX_OUT_LEN sets another length'
            )
        requests = self._requests(retriever, ice_template, prompt_template, config)
        backend = backend_of(self.model, self.sampling, self.max_out_len, self._note)
        identity = self._identity(task, backend)
        path = (folder / f'tmp_{name}').with_suffix('.jsonl')
        progress = Progress(path, identity(task.model_cfg))
        restored, saved = self._restore(progress, requests, folder, identity)
        drawing = Drawing(
            requests=requests,
            backend=backend,
            options={'stopping_criteria': self.stopping_criteria, 'min_out_len': self.min_out_len},
            batch_size=self.batch_size or 1,
            max_failures=self.max_failures,
            progress=progress if self.is_main_process else None,
            record=lambda request, output: self._record(request, output, backend),
            warn=self.logger.warning,
            saved=saved,
            failed_before=set(restored) - set(saved),
        )
        output = folder / name if self.is_main_process else None
        with torch.no_grad(), progress_file(output, 'inference'):
            drawing.finish()
        lost = drawing.lost
        if lost and len(lost) == len(requests):
            reason = next(iter(lost.values()))['lost']
            raise InferenceStoppedError(
                f'all {len(lost)} requests failed, the first with: {reason}. Fix the model or '
                'its address and key, then resume with opencompass CONFIG -r'
            )
        if self.is_main_process:
            write_predictions(folder / name, requests, saved | lost, progress.model)
            if not lost:
                progress.remove()
        if lost:
            whole = shard_of(config)[0] if config else {}
            dataset = whole.get('abbr', Path(name).stem)
            self.logger.warning(
                f'{folder / name}: {len(lost)} of {len(requests)} responses are lost; '
                + how_to_ask_again(str(folder / name), model_name(folder), dataset)
            )
        return [(saved | lost)[request.index]['prediction'] for request in requests]

    def _identity(self, task: Any, backend: Backend) -> Callable[[Mapping[str, Any]], str]:
        """Return the function that gives the identity of a model's config under the protocol.

        Raises:
            ValueError: If the running task doesn't say which model it asks.
        """
        if getattr(task, 'model_cfg', None) is None:
            raise ValueError(
                'the running task does not say which model it asks, so saved responses could not '
                "be told from another model's; OpenCompass's OpenICLInferConcurrentTask is such a "
                'task: set type=OpenICLInferTask as the task of infer.runner in the config'
            )
        served = bool(getattr(self.model, 'is_api', False))
        return lambda config: model_identity(config, backend.decided, served=served)

    def _restore(
        self,
        progress: Progress,
        requests: list[Request],
        folder: Path,
        identity: Callable[[Mapping[str, Any]], str],
    ) -> tuple[dict[int, Record], dict[int, Record]]:
        """Return the finished and the lost records of an earlier run, by index."""

        @cache
        def was_same() -> bool:
            try:
                return {identity(one) for one in stored_models(folder)} == {progress.model}
            except ValueError:  # a config that can't be read doesn't tell
                return False

        restored = progress.restore(requests, was_same)
        if self.is_main_process:
            progress.start(requests, restored)
        saved = {index: r for index, r in restored.records.items() if 'lost' not in r}
        if saved:
            self.logger.info(
                f'{progress.path}: {len(saved)} of {len(requests)} responses are saved'
            )
        if restored.moved:
            self.logger.warning(
                f'{progress.path}: {restored.moved} saved responses were made {_why(restored)}; '
                f'they are not used and kept in {progress.unused_path}. Did you mean to change the '
                'settings? A start with the former settings uses these responses again'
            )
        return restored.records, saved

    def _requests(
        self, retriever: Any, ice_template: Any, prompt_template: Any, config: Any
    ) -> list[Request]:
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
        identities = identities_in_task(
            test_set, config, lambda whole: build_dataset_from_cfg(whole).test
        )
        requests = []
        for index, (entry, gold, (problem_id, replica)) in enumerate(
            zip(entries, golds, identities, strict=True)
        ):
            prompt = self.model.parse_template(entry, mode='gen')
            seed = request_seed(self.seed, problem_id, replica, prompt)
            asked = [
                problem_id,
                replica,
                prompt,
                self.sampling.record,
                self.seed,
                self.max_out_len,
                self.min_out_len,
                self.stopping_criteria,
            ]
            key = stable_hash(asked)[:16]
            requests.append(Request(index, problem_id, replica, entry, prompt, gold, seed, key))
        return requests

    def _record(self, request: Request, output: Output, backend: Backend) -> Record:
        record: Record = {
            'origin_prompt': request.prompt,
            'prediction': output.text,
            **({} if request.gold is None else {'gold': request.gold}),
            'problem_id': request.problem_id,
            'replica': request.replica,
            'truncated': output.truncated,
            'num_tokens': output.num_tokens,
            'sampling': dict(backend.applied),
        }
        if output.lost:
            record['lost'] = output.lost
        elif self.dump_res_length:
            prompt = (
                request.prompt if isinstance(request.prompt, str) else json.dumps(request.prompt)
            )
            record['res_length'] = output.num_tokens or self.model.get_token_len(output.text)
            record['all_input_length'] = self.model.get_token_len(prompt)
        return record

    def _note(self, message: str) -> None:
        """Tell the user once per model, not once per data set."""
        said = _NOTES.setdefault(self.model, set())
        if message not in said:
            said.add(message)
            self.logger.warning(message)


def _why(restored: Restored) -> str:
    """Return by what or for what the saved responses were made that are not used."""
    if not restored.models:
        return (
            'for another prompt or under another protocol, seed or max_out_len than this run asks '
            'for'
        )
    if restored.models == ['']:
        return (
            'by an earlier version, which did not note the model, and the configs of this run do '
            'not all name the same model'
        )
    models = ', '.join(map(readable, restored.models))
    return f'by another model, or by this one in other settings: {models}'
