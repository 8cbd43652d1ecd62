"""The 134 problems of MATH-500 that have level 5, n samples of each: G-Pass@k.

Environment variables:
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8,16.
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import MATH500L5

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
math500_l5_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).math500_l5()

math500_l5_gpassk_datasets = [
    dict(
        type=MATH500L5,
        **math500_l5_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
