"""G-Pass@k of data sets of OpenCompass, beside ours.

    opencompass configs/eval_mix.py

`upgraded` takes any data sets whose models write a response: it sets n and k, our inferencer, which
samples even if the model config decodes greedily, and our evaluator, for which the data set's own
evaluator is the judge. `judge='rule'` compares final answers by this package's rules instead, which
is faster. A config can't call what it imports, hence `__import__`.

OpenCompass downloads its MATH-500. The model is the demonstration model, whose scores mean nothing
here: replace it by yours.
"""

from mmengine.config import read_base

with read_base():
    from opencompass.configs.datasets.math.math_500_gen import math_datasets

    from .datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_gpassk_datasets
    from .datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_gpassk_greedy_datasets,
    )
    from .models.demo import models  # noqa: F401
    from .summarizers.gpassk import summarizer  # noqa: F401

datasets = __import__('opencompass_gpassk').upgraded(math_datasets, n=16, k=[4, 8], greedy=True)
datasets += [*livemathbench_gpassk_greedy_datasets, *livemathbench_gpassk_datasets]
work_dir = 'outputs/mix'
