"""Make the small logs of other tools that tests read: ``tests/data/logs``.

Run it with the Python of an environment that has the tool, one tool at a time::

    PYTHON tools/make_logs.py lm_eval|inspect|evalscope|lighteval FOLDER

lighteval 0.13.0 also needs ``xxhash<4``. The tool's mock model, or one of ours in its place, gives
four responses to each of five problems; no network is needed. 4, 3, 3, 1 and 0 of them are right.
Some of the right ones are written in another way than the gold answer, and one is cut off.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PROBLEMS = [
    ('What is 17 + 25?', '42', ['42', '42', '42', '42']),
    ('What is 12 times 12?', '144', ['144', '144', '124', '144']),
    ('What is 1 divided by 2?', '1/2', ['0.5', '1/2', r'\frac{1}{2}', '2']),
    ('What is the largest prime below 20?', '19', ['17', '19', '18', '']),
    ('What is 2 to the power of 10?', '1024', ['1000', '1042', '1004', '2048']),
]
SEEN: Counter[str] = Counter()


def responses(question: str) -> list[str]:
    """Return the four responses to a question; the one without an answer is cut off."""
    answers = next(answers for asked, _, answers in PROBLEMS if asked in question)
    return [rf'The answer is \boxed{{{one}}}.' if one else 'I try 2, 3, 5, 7' for one in answers]


def respond(question: str) -> str:
    """Return the next response to a question."""
    asked = next(asked for asked, _, _ in PROBLEMS if asked in question)
    SEEN[asked] += 1
    return responses(asked)[(SEEN[asked] - 1) % 4]


def stop_reason(text: str) -> str:
    """Return why a response ended, in the words of inspect_ai and EvalScope."""
    return 'stop' if 'boxed' in text else 'max_tokens'


def make_lm_eval(out: Path) -> None:
    """Make a log of lm-evaluation-harness; a filter takes the first response, another one votes."""
    boxed = {'function': 'regex', 'regex_pattern': r'boxed\{(.*)\}'}
    first, vote = {'function': 'take_first'}, {'function': 'majority_vote'}
    from lm_eval import simple_evaluate  # type: ignore[import-not-found, unused-ignore]
    from lm_eval.api.model import LM  # type: ignore[import-not-found, unused-ignore]
    from lm_eval.loggers import EvaluationTracker  # type: ignore[import-not-found, unused-ignore]

    class Scripted(LM):  # type: ignore[misc, unused-ignore]
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [respond(one.args[0]) for one in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    data = out / 'problems.jsonl'
    data.write_text(_gsm8k(), 'utf-8')
    task = {
        'task': 'arithmetic',
        'dataset_path': 'json',
        'dataset_kwargs': {'data_files': {'test': str(data.absolute())}},
        'test_split': 'test',
        'output_type': 'generate_until',
        'doc_to_text': 'Q: {{question}}\nA:',
        'doc_to_target': '{{answer}}',
        'generation_kwargs': {'until': ['\n\n'], 'do_sample': True, 'temperature': 0.8},
        'repeats': 4,
        'filter_list': [
            {'name': 'boxed', 'filter': [boxed, first]},
            {'name': 'vote', 'filter': [boxed, vote, first]},
        ],
        'metric_list': [
            {
                'metric': 'exact_match',
                'aggregation': 'mean',
                'higher_is_better': True,
                'regexes_to_ignore': ['.*#### '],
            }
        ],
    }
    tracker = EvaluationTracker(output_path=str(out))
    found = simple_evaluate(
        model=Scripted(),
        tasks=[task],
        log_samples=True,
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = found.pop('samples')
    tracker.general_config_tracker.model_name_sanitized = 'org__scripted'
    tracker.save_results_aggregated(results=found, samples=samples)
    for name in found['configs']:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    for summary in out.rglob('results_*.json'):  # it tells of the machine
        kept, told = json.loads(summary.read_text()), ('results', 'configs', 'date')
        summary.write_text(json.dumps({name: kept[name] for name in told}))
    data.unlink()


def make_inspect(out: Path) -> None:
    """Make a log of inspect_ai in each of its two formats."""
    import inspect_ai  # type: ignore[import-not-found, unused-ignore]
    from inspect_ai import dataset, model, scorer, solver  # type: ignore[import-not-found, unused-ignore]

    def reply(messages: Any, *_: Any) -> Any:
        text = respond(messages[-1].text)
        output = model.ModelOutput.from_content(
            'mockllm/model', text, stop_reason=stop_reason(text)
        )
        output.usage = model.ModelUsage(input_tokens=10, output_tokens=len(text), total_tokens=50)
        return output

    samples = [
        dataset.Sample(input=question, target=gold, id=number)
        for number, (question, gold, _) in enumerate(PROBLEMS, start=1)
    ]
    for form in ('json', 'eval'):
        SEEN.clear()
        task = inspect_ai.Task(
            dataset=dataset.MemoryDataset(samples, name='arithmetic'),
            solver=solver.generate(),
            scorer=scorer.match(location='any'),
            name='arithmetic',
        )
        mock = model.get_model('mockllm/model', custom_outputs=reply)
        made = inspect_ai.eval(
            task,
            model=mock,
            epochs=4,
            log_dir=str(out / 'made'),
            log_format=form,
            display='none',
            max_samples=1,
        )
        shutil.copy(made[0].location.removeprefix('file://'), out / f'arithmetic.{form}')
    shutil.rmtree(out / 'made')


def make_evalscope(out: Path) -> None:
    """Make reviews and predictions of EvalScope, with its GSM8K on our problems."""
    from evalscope import TaskConfig, run_task  # type: ignore[import-not-found, unused-ignore]
    from evalscope.api import model  # type: ignore[import-not-found, unused-ignore]
    from evalscope.models.mockllm import MockLLM  # type: ignore[import-not-found, unused-ignore]

    class Scripted(MockLLM):  # type: ignore[misc, unused-ignore]
        def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            text = respond(input[-1].text)
            output = model.ModelOutput.from_content('mock', text, stop_reason=stop_reason(text))
            output.usage = model.ModelUsage(
                input_tokens=10, output_tokens=len(text), total_tokens=50
            )
            return output

    work = out / 'made'
    data = work / 'data' / 'main'
    data.mkdir(parents=True)
    (data / 'test.jsonl').write_text(_gsm8k(), 'utf-8')
    run_task(
        TaskConfig(
            model=model.Model(Scripted('mock'), model.GenerateConfig()),
            model_id='mock',
            datasets=['gsm8k'],
            dataset_args={
                'gsm8k': {'local_path': str(data), 'few_shot_num': 0, 'subset_list': ['default']}
            },
            repeats=4,
            eval_batch_size=1,
            work_dir=str(work),
            no_timestamp=True,
        )
    )
    for folder in ('reviews', 'predictions'):
        shutil.copytree(work / folder, out / folder, dirs_exist_ok=True)
    shutil.rmtree(work)


def make_lighteval(out: Path) -> None:
    """Make details of lighteval, with a task and a model of ours."""
    os.environ['HF_HUB_OFFLINE'] = '1'
    from lighteval.logging.evaluation_tracker import (  # type: ignore[import-not-found, unused-ignore]
        EvaluationTracker,
    )
    from lighteval.models.custom.custom_model import (  # type: ignore[import-not-found, unused-ignore]
        CustomModelConfig,
    )
    from lighteval.pipeline import (  # type: ignore[import-not-found, unused-ignore]
        ParallelismManager,
        Pipeline,
        PipelineParameters,
    )
    from lighteval.tasks.registry import Registry  # type: ignore[import-not-found, unused-ignore]

    def only_ours(custom_tasks: str, **_: Any) -> Any:
        return Registry._extract_configs(Registry.create_custom_tasks_module(custom_tasks))

    Registry.load_all_task_configs = only_ours  # some of its own download files when imported
    work = (out / 'made').absolute()
    (work / 'data').mkdir(parents=True)
    (work / 'data/test.jsonl').write_text(_gsm8k(), 'utf-8')
    beside = f'import sys\nsys.path.insert(0, {str(Path(__file__).parent.absolute())!r})\n'
    (work / 'model.py').write_text(beside + LIGHTEVAL_MODEL)
    (work / 'task.py').write_text(beside + LIGHTEVAL_TASK.format(data=str(work / 'data')))
    Pipeline(
        tasks='arithmetic|0',
        pipeline_parameters=PipelineParameters(
            launcher_type=ParallelismManager.CUSTOM, custom_tasks_directory=str(work / 'task.py')
        ),
        evaluation_tracker=(tracker := EvaluationTracker(str(work / 'out'), save_details=True)),
        model_config=CustomModelConfig(
            model_name='mock', model_definition_file_path=str(work / 'model.py')
        ),
    ).evaluate()
    tracker.save()
    shutil.copytree(work / 'out/details', out / 'details', dirs_exist_ok=True)
    shutil.rmtree(work)


LIGHTEVAL_MODEL = """
import make_logs
from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.utils.cache_management import SampleCache

class Mock(LightevalModel):
    def __init__(self, config):
        self.config, self._cache = config, SampleCache(config)

    tokenizer = None
    add_special_tokens = False
    max_length = 2048

    def greedy_until(self, docs):
        given = [make_logs.responses(doc.query) for doc in docs]
        return [
            ModelResponse(
                input=doc.query,
                input_tokens=[1] * 10,
                text=texts,
                output_tokens=[[1] * len(text) for text in texts],
            )
            for doc, texts in zip(docs, given)
        ]

    def loglikelihood(self, docs):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood
"""
LIGHTEVAL_TASK = """
from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

def prompt(line, task_name=None):
    return Doc(
        task_name=task_name,
        query=f"Question: {{line['question']}}\\nAnswer:",
        choices=[line['answer'].split('####')[-1].strip()],
        gold_index=0,
    )

TASKS_TABLE = [
    LightevalTaskConfig(
        name='arithmetic',
        prompt_function=prompt,
        hf_repo={data!r},
        hf_subset='default',
        hf_avail_splits=['test'],
        evaluation_splits=['test'],
        generation_size=64,
        metrics=[Metrics.avg_at_n_math(sample_params={{'n': 4}})],
        stop_sequence=[],
    )
]
"""


def _gsm8k() -> str:
    rows = [{'question': question, 'answer': f'#### {gold}'} for question, gold, _ in PROBLEMS]
    return ''.join(json.dumps(row) + '\n' for row in rows)


MAKERS = {
    'lm_eval': make_lm_eval,
    'inspect': make_inspect,
    'evalscope': make_evalscope,
    'lighteval': make_lighteval,
}

if __name__ == '__main__':
    if len(sys.argv) != 3 or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    MAKERS[sys.argv[1]](Path(sys.argv[2]))
