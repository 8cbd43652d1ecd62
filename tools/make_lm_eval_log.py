"""Make the small log of lm-evaluation-harness that tests read: ``tests/data/logs/lm_eval``.

Run it with the Python of an environment that has the tool, from PyPI as ``lm-eval``::

    PYTHON tools/make_lm_eval_log.py tests/data/logs/lm_eval

A scripted model gives four responses to each of five problems; 4, 3, 3, 1 and 0 of them are right.
The task has two filters: one takes the first response, the other lets the four vote.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
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
BOXED = {'function': 'regex', 'regex_pattern': r'boxed\{(.*)\}'}
FIRST, VOTE = {'function': 'take_first'}, {'function': 'majority_vote'}


def make(out: Path, data: Path) -> None:
    """Run the tool on a task of these problems."""
    from lm_eval import simple_evaluate  # type: ignore[import-not-found, unused-ignore]
    from lm_eval.api.model import LM  # type: ignore[import-not-found, unused-ignore]
    from lm_eval.loggers import EvaluationTracker  # type: ignore[import-not-found, unused-ignore]

    seen: Counter[str] = Counter()

    def respond(prompt: str) -> str:
        question, _, answers = next(one for one in PROBLEMS if one[0] in prompt)
        answer = answers[seen[question] % len(answers)]
        seen[question] += 1
        return rf'The answer is \boxed{{{answer}}}.' if answer else 'I try 2, 3, 5, 7'

    class Scripted(LM):  # type: ignore[misc, unused-ignore]
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [respond(one.args[0]) for one in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    rows = [{'question': asked, 'answer': f'Think. #### {gold}'} for asked, gold, _ in PROBLEMS]
    data.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    task = {
        'task': 'arithmetic',
        'dataset_path': 'json',
        'dataset_kwargs': {'data_files': {'test': data.name}},
        'test_split': 'test',
        'output_type': 'generate_until',
        'doc_to_text': 'Q: {{question}}\nA:',
        'doc_to_target': '{{answer}}',
        'generation_kwargs': {'until': ['\n\n'], 'do_sample': True, 'temperature': 0.8},
        'repeats': 4,
        'filter_list': [
            {'name': 'boxed', 'filter': [BOXED, FIRST]},
            {'name': 'vote', 'filter': [BOXED, VOTE, FIRST]},
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
        kept = json.loads(summary.read_text())
        summary.write_text(json.dumps({name: kept[name] for name in ('results', 'configs')}))


if __name__ == '__main__':
    target = Path(sys.argv[1]).absolute()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(target, Path('problems.jsonl'))
