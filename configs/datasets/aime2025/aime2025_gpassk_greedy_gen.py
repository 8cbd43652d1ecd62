"""AIME 2025, parts I and II: 30 problems, decoded greedily, once.

Environment variables:
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import AIME

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
aime2025_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).aime('2025', greedy=True)

aime2025_gpassk_greedy_datasets = [
    dict(
        type=AIME,
        **aime2025_greedy_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_greedy_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
