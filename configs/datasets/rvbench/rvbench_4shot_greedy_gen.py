"""RV-Bench for models that were not trained to chat: four worked examples before each problem.

Those of mathematics are Minerva's, as the installed OpenCompass holds them.

Environment variables:
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP: other versions, and how many of each question.
GPASSK_MATCH: exact, for answers that must be the gold answer's text, as in the paper.
"""

from mmengine.config import read_base

with read_base():
    from .rvbench_gpassk_greedy_gen import rvbench_greedy_datasets

# What a config imports can't be called, hence this way.
rvbench_4shot_datasets = __import__('copy').deepcopy(rvbench_greedy_datasets)
for _dataset in rvbench_4shot_datasets:
    _dataset.update(prompt='4-shot', abbr=_dataset['abbr'].replace('-greedy', '-4shot-greedy'))
    # A model that goes on poses itself the next problem.
    _dataset['infer_cfg']['inferencer'].update(stopping_criteria=['Problem:'])
