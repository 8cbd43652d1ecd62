"""RV-Bench as in arXiv 2501.11790, with n samples of every problem in addition.

    opencompass configs/eval_rvbench_full.py

It has 230 questions, each with its original and five versions: 1,380 problems. They are asked in
three ways: greedily after four worked examples, with answers compared as texts, as in the paper
(RV-MATH-4shot, RV-LEETCODE-4shot); greedily without examples, for models that chat (RV-MATH,
RV-LEETCODE); and without examples 16 times, which separates variance between versions from variance
between samples. Set your model on the line marked below. GPASSK_MATCH=exact compares answers as
texts in all three.
GPASSK_RV_SEED draws other versions, few of which a model can have seen. GPASSK_LANGUAGES=cn,en asks
in Chinese too, where no examples are given.
"""

from mmengine.config import read_base

with read_base():
    from .datasets.rvbench.rvbench_4shot_gpassk_greedy_gen import rvbench_4shot_gpassk_datasets
    from .datasets.rvbench.rvbench_gpassk_gen import rvbench_gpassk_datasets
    from .datasets.rvbench.rvbench_gpassk_greedy_gen import rvbench_gpassk_greedy_datasets
    from .models.hf_example import models as hf_models
    from .summarizers.gpassk import summarizer  # noqa: F401

models = [*hf_models]  # your model here
datasets = [
    *rvbench_4shot_gpassk_datasets,
    *rvbench_gpassk_greedy_datasets,
    *rvbench_gpassk_datasets,
]
work_dir = 'outputs/rvbench_full'
