"""The main job: G-Pass@k of a model on LiveMathBench, with the greedy score beside it.

    opencompass configs/eval_livemath.py

Unchanged, it runs offline on any CPU: the demonstration model answers the 48 problems of `sample`,
16 times each and once greedily. For your own measurement set

1. your model: on the line marked below, replace the demonstration model's list by that of any
   OpenCompass model config;
2. the data: by three environment variables, and a fourth if the data are in a local folder

       GPASSK_VERSION=202412 GPASSK_N=48 GPASSK_K=4,8,16 GPASSK_DATA=/data/LiveMathBench \\
           opencompass configs/eval_livemath.py

   Versions are 202412, 202412-hard, 202505, 202505-hard and sample. Without GPASSK_DATA the data
   come from the Hugging Face hub or OpenCompass's own download.

Continue an interrupted run with ``opencompass configs/eval_livemath.py -r`` and the same variables.
"""

from mmengine.config import read_base
from opencompass.partitioners import NaivePartitioner
from opencompass.runners import LocalRunner
from opencompass.tasks import OpenICLEvalTask

with read_base():
    from .datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_gpassk_datasets
    from .datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_gpassk_greedy_datasets,
    )
    from .models.demo import models as demo_models
    from .summarizers.gpassk import summarizer  # noqa: F401

datasets = [*livemathbench_gpassk_greedy_datasets, *livemathbench_gpassk_datasets]
models = [*demo_models]  # your model here
# Two data sets are evaluated at a time.
eval = dict(
    partitioner=dict(type=NaivePartitioner),
    runner=dict(type=LocalRunner, max_num_workers=2, task=dict(type=OpenICLEvalTask)),
)
work_dir = 'outputs/livemath'
