"""Problems from a file of your own, n samples of each: G-Pass@k.

JSON lines, JSON, CSV or parquet with ``question`` and ``answer`` of each problem. Tables show the
file's name. To map columns, or for a prompt of your own, set ``columns`` and ``prompt`` in a config
of yours: see CustomProblems.

Environment variables:
GPASSK_DATA: the file.
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import CustomProblems

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
custom_settings = __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).custom()

custom_gpassk_datasets = [
    dict(
        type=CustomProblems,
        **custom_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
