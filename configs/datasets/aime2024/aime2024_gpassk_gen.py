"""AIME 2024, parts I and II: 30 problems, n samples of each: G-Pass@k.

Environment variables:
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8,16.
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import AIME

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
aime2024_settings = __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).aime(
    '2024'
)

aime2024_gpassk_datasets = [
    dict(
        type=AIME,
        **aime2024_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
