"""RV-Bench as in arXiv 2501.11790, and what it can't see: n samples of every problem.

    opencompass configs/eval_rvbench_full.py

230 questions, each in its original and five versions: 1,380 problems, answered greedily, as in the
paper, and 16 times, which tells whether a model is unsure of the question or of itself. Put your
model on the line marked below. A model that wasn't trained to chat takes rvbench_4shot_datasets in
place of rvbench_greedy_datasets. GPASSK_MATCH=exact compares answers by their text, as the paper
does; GPASSK_RV_SEED draws other versions, few of which anyone can have seen.
"""

from mmengine.config import read_base

with read_base():
    from .datasets.rvbench.rvbench_4shot_gpassk_greedy_gen import (
        rvbench_4shot_datasets,  # noqa: F401
    )
    from .datasets.rvbench.rvbench_gpassk_gen import rvbench_datasets
    from .datasets.rvbench.rvbench_gpassk_greedy_gen import rvbench_greedy_datasets
    from .models.hf_example import models as hf_models
    from .summarizers.gpassk import summarizer  # noqa: F401

models = [*hf_models]  # your model here
datasets = [*rvbench_greedy_datasets, *rvbench_datasets]
work_dir = 'outputs/rvbench_full'
