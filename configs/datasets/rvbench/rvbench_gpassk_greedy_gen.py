"""RV-Bench, each problem decoded greedily, once: Acc, GA@5, CR and OOR as in arXiv 2501.11790.

Environment variables:
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP: seed of the versions, and their number per question.
GPASSK_LANGUAGES: cn, en or cn,en; by default en.
GPASSK_MATCH: exact, if answers must equal the gold answer's text, as in the paper.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import RVBench

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, source, seed, per_group, n and k. __import__: a config can't call its imports.
rvbench_greedy_settings = [
    __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).rvbench(
        source, greedy=True
    )
    for source in ('math', 'leetcode')
]

rvbench_gpassk_greedy_datasets = [
    dict(
        type=RVBench,
        **settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_greedy_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
    for settings in rvbench_greedy_settings
]
