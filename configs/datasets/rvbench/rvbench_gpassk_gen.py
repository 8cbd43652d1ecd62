"""RV-Bench, n samples of each problem: G-Pass@k within and over the versions of a question.

115 questions like competition mathematics and 115 like programming puzzles, each with its original
and five versions with other numbers.

Environment variables:
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8.
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP: seed of the versions, and their number per question.
GPASSK_LANGUAGES: cn, en or cn,en; by default en.
GPASSK_MATCH: exact, if answers must equal the gold answer's text, as in the paper.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import RVBench

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_infer_cfg, gpassk_reader_cfg

# abbr, source, seed, per_group, n and k. __import__: a config can't call its imports.
rvbench_settings = [
    __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).rvbench(source)
    for source in ('math', 'leetcode')
]

rvbench_gpassk_datasets = [
    dict(
        type=RVBench,
        **settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
    for settings in rvbench_settings
]
