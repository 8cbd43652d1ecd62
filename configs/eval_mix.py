"""G-Pass@k of any data set of OpenCompass, beside our data sets: three statements upgrade it.

    opencompass configs/eval_mix.py

1. `n` and `k`, and an abbr that shows n: OpenCompass repeats the problems.
2. Our inferencer samples, even if the model config decodes greedily.
3. Our evaluator gets each verdict from the data set's own evaluator. `judge='rule'` compares final
   answers by this package's rules instead, which is faster. A judge that loads a model also needs
   ``upgraded['eval_cfg'].update(num_gpus=1)``.

The greedy column comes from a copy of the data set with n = 1; `benchmark` joins the two.

The data set here is OpenCompass's MATH-500, which it downloads. The model is the demonstration
model, whose scores mean nothing here: replace it by yours.
"""

from mmengine.config import read_base

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inferencer import GPassKGenInferencer

with read_base():
    from opencompass.configs.datasets.math.math_500_gen import math_datasets

    from .datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_datasets
    from .datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_greedy_datasets,
    )
    from .models.demo import models  # noqa: F401
    from .summarizers.gpassk import summarizer  # noqa: F401

upgraded = math_datasets[0]
upgraded.update(abbr='math-500-n16', n=16, k=[4, 8])
upgraded['infer_cfg'].update(inferencer=dict(type=GPassKGenInferencer, max_out_len=4096))
upgraded['eval_cfg'].update(
    evaluator=dict(
        type=GPassKEvaluator,
        judge=upgraded['eval_cfg'].pop('evaluator'),
        benchmark='MATH-500',
    )
)

greedy = __import__('copy').deepcopy(upgraded)  # a config can't call a function that it imports
greedy.update(abbr='math-500-greedy-n1', n=1, k=1)
greedy['infer_cfg']['inferencer'].update(sampling='greedy')

datasets = [greedy, upgraded, *livemathbench_greedy_datasets, *livemathbench_datasets]
work_dir = 'outputs/mix'
