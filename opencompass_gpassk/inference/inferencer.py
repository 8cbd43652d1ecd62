"""OpenCompass's inferencer interface: a data set's sampling protocol on any model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.registry import ICL_INFERENCERS
from opencompass.utils import build_dataset_from_cfg, get_logger

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.backend import Backend, Output, replaced_settings
from opencompass_gpassk.inference.choose_backend import backend_of
from opencompass_gpassk.inference.model_identity import model_identity, readable
from opencompass_gpassk.inference.progress_files import Progress, Record
from opencompass_gpassk.inference.request_loop import Drawing, InferenceStoppedError
from opencompass_gpassk.inference.sample_requests import (
    Request,
    identities_in_task,
    request_seed,
    shard_of,
)
from opencompass_gpassk.inference.sampling import PAPER, REPLACED, Sampling, unused_settings
from opencompass_gpassk.runs.predictions import how_to_ask_again, model_name
from opencompass_gpassk.runs.running_task import running_task
from opencompass_gpassk.runs.task_progress import progress_file

OTHER_SETTINGS = (
    'for another prompt or under another protocol, seed or max_out_len than this run asks for'
)
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
        if not isinstance(max_out_len, int) or max_out_len < 1:
            raise ValueError(
                f'max_out_len is {max_out_len!r}; set it to a number of tokens in the inferencer '
                'of the data set or in the config of the model'
            )
        if kwargs.get('multiround'):
            raise ValueError(
                'multiround is set; GPassKGenInferencer draws single responses, use '
                "OpenCompass's GenInferencer for conversations"
            )
        super().__init__(model, max_out_len, **kwargs)
        stop = tuple(self.stopping_criteria or ())
        self.sampling = replace(Sampling.of(sampling), stop=stop)
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

        Saved responses to the same requests are taken from the model's other files of the data set:
        of another n, of other shards, of an unfinished inference. New draws are independent of
        these. Where a batch has one seed, they are not those of a run that found nothing saved.

        Returns:
            Nothing: OpenCompass reads the file, and all texts may not fit into memory.

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
        requests = self._requests(retriever, ice_template, prompt_template, config)
        backend = backend_of(self.model, self.sampling, self.max_out_len, self._note)
        progress = self._progress(folder / name, requests, task, backend)
        own = replaced_settings(task.model_cfg, self.sampling) if backend.decided else ''
        if own:
            self._note(unused_settings(own))
        of_model = getattr(task, 'max_out_len', None) or self.max_out_len
        if of_model != self.max_out_len:
            self._note(
                f'responses have at most {self.max_out_len} tokens, as the config of the data set '
                f'says, not the {of_model} of the model; GPASSK_MAX_OUT_LEN sets another length'
            )
        drawing = Drawing(
            requests=requests,
            backend=backend,
            options={'stopping_criteria': self.stopping_criteria, 'min_out_len': self.min_out_len},
            batch_size=self.batch_size or 1,
            max_failures=self.max_failures,
            progress=progress,
            record=lambda request, output: self._record(
                request, output, backend.applied | ({REPLACED: own} if own else {})
            ),
            warn=self.logger.warning,
        )
        with progress.held, torch.no_grad(), progress_file(folder / name, 'inference'):
            drawing.finish()
        lost = drawing.lost
        if lost and len(lost) == len(requests):
            reason = next(iter(lost.values()))['lost']
            raise InferenceStoppedError(
                f'all {len(lost)} requests failed, the first with: {reason}. Fix the model or '
                'its address and key, then resume with opencompass CONFIG -r'
            )
        progress.finish(lost, _parts(task, name))
        if lost:
            whole = shard_of(config)[0] if config else {}
            dataset = whole.get('abbr', Path(name).stem)
            self.logger.warning(
                f'{folder / name}: {len(lost)} of {len(requests)} responses are lost; '
                + how_to_ask_again(str(folder / name), model_name(folder), dataset)
            )
        return []

    def _progress(
        self, path: Path, requests: list[Request], task: Any, backend: Backend
    ) -> Progress:
        """Return the saved responses, and say what is used of them.

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
        model = model_identity(task.model_cfg, decided=backend.decided, served=served)
        progress = Progress(path, requests, model)
        progress.hold()
        progress.restore()
        total = f'of {len(requests):,}'
        if before := len(progress.places) - len(progress.reused):
            self.logger.info(f'{progress.path}: {before:,} {total} responses are saved')
        if progress.reused:
            self.logger.info(f'{path}: reused {len(progress.reused):,} {total} from other files')
        unused = {
            f'by another model, or by this one in other settings: {readable(other)}': number
            for other, number in progress.other_models.items()
        }
        unused |= {OTHER_SETTINGS: progress.other_settings} if progress.other_settings else {}
        for made, number in unused.items():
            self.logger.warning(
                f'{progress.path}: {number} saved responses were made {made}; they are not used, '
                'but kept. Did you mean to change the settings? A start with the former settings '
                'uses these responses again'
            )
        return progress

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
        parsed: dict[str, tuple[Any, Any]] = {}  # all samples of a problem share one prompt
        for index, (given, gold, (problem_id, replica)) in enumerate(
            zip(entries, golds, identities, strict=True)
        ):
            if (shown := repr(given)) not in parsed:
                parsed[shown] = given, self.model.parse_template(given, mode='gen')
            entry, prompt = parsed[shown]
            seed = request_seed(self.seed, problem_id, replica, prompt)
            asked = [
                problem_id,
                replica,
                prompt,
                self.sampling.record,
                self.seed,
                self.max_out_len,
                self.min_out_len,
            ]
            key = stable_hash(asked)[:16]
            requests.append(Request(index, problem_id, replica, entry, prompt, gold, seed, key))
        return requests

    def _record(self, request: Request, output: Output, sampling: Mapping[str, Any]) -> Record:
        record: Record = {
            'origin_prompt': request.prompt,
            'prediction': output.text,
            **({} if request.gold is None else {'gold': request.gold}),
            'problem_id': request.problem_id,
            'replica': request.replica,
            'truncated': output.truncated,
            'num_tokens': output.num_tokens,
            'sampling': dict(sampling),
        }
        if output.lost:
            record['lost'] = output.lost
        return record

    def _note(self, message: str) -> None:
        """Tell the user once per model, not once per data set."""
        said = _NOTES.setdefault(self.model, set())
        if message not in said:
            said.add(message)
            self.logger.warning(message)


def _parts(task: Any, name: str) -> list[str]:
    """Return the names of all prediction files of the task's data set; [] if they are unknown."""
    whole, shard = shard_of(task.dataset_cfg)
    if shard is None:
        return [name]
    rows = getattr(getattr(task, 'dataset', None), 'dataset', None)
    reader = whole['reader_cfg']
    if isinstance(rows, Mapping):
        rows = rows.get(reader.get('test_split', 'test'))
    if rows is None or reader['test_range']:  # OpenCompass applies a range of one's own twice
        return []
    number = math.ceil(len(rows) / (shard.stop - shard.start))
    return [f'{whole["abbr"]}_{part}.json' for part in range(number)]
