"""AIME2024-45 from a file of your own, decoded greedily, once.

arXiv 2412.13147 reports AIME2024-45, but its list of problems isn't published: AIME 2024 I and II
have 30 problems, and the published metrics fit multiples of 1/45. Put your own list into
aime2024-45.jsonl in the folder in GPASSK_DATA, or name that file. Without it, the 30 problems are
loaded and shown as AIME2024-30; they can't be compared with the published column.

Environment variables:
GPASSK_DATA: the file, or its folder.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import AIME

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
aime2024_45_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).aime('2024-45', greedy=True)

aime2024_45_gpassk_greedy_datasets = [
    dict(
        type=AIME,
        **aime2024_45_greedy_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_greedy_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
