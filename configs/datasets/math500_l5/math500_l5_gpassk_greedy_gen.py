"""The 134 problems of MATH-500 that have level 5, decoded greedily, once.

Environment variables:
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import MATH500L5

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
math500_l5_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).math500_l5(greedy=True)

math500_l5_gpassk_greedy_datasets = [
    dict(
        type=MATH500L5,
        **math500_l5_greedy_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_greedy_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
