"""RV-Bench on the demonstration model: the same questions with other numbers, offline, on a CPU.

    opencompass configs/eval_rvbench.py

It has 13 questions. The demonstration model has learnt nine of them, most with other numbers than
those that are asked here by default. The original and five versions of each are answered 8 times
and once greedily. For all questions with your model, use configs/eval_rvbench_full.py.
"""

from mmengine.config import read_base

with read_base():
    from .datasets.rvbench.rvbench_gpassk_gen import rvbench_gpassk_datasets
    from .datasets.rvbench.rvbench_gpassk_greedy_gen import rvbench_gpassk_greedy_datasets
    from .models.demo import models  # noqa: F401
    from .summarizers.gpassk import summarizer  # noqa: F401

subset = dict(
    math=[
        'PercentOfTens',
        'TimesBeforePlus',
        'PearsInBoxes',
        'FencedBed',
        'FifthNumberJoins',
        'LinearForX',
        'LampsInStep',
        'RemainderCarried',
    ],
    leetcode=[
        'WellOnTheRoad',
        'CouponsForCocoa',
        'OneClerkFiveClients',
        'OpenCardsShared',
        'SumOfCommonDivisors',
    ],
)
datasets = [*rvbench_gpassk_greedy_datasets, *rvbench_gpassk_datasets]
for dataset in rvbench_gpassk_datasets:
    dataset.update(abbr=f'{dataset["abbr"].rpartition("-n")[0]}-subset-n8', n=8, k=[2, 4])
for dataset in datasets:
    dataset.update(names=subset[dataset['source']])
    dataset['infer_cfg']['inferencer'].update(max_out_len=160)
for dataset in rvbench_gpassk_greedy_datasets:
    dataset.update(abbr=dataset['abbr'].replace('-greedy', '-subset-greedy'))
del dataset
work_dir = 'outputs/rvbench'
