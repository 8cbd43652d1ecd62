"""LiveMathBench, or the problems of this package in its schema, n samples of each: G-Pass@k.

Environment variables:
GPASSK_VERSION: sample (default), 202412, 202412-hard, 202505, 202505-hard.
GPASSK_LANGUAGES: such as en; default: all languages that the version has.
GPASSK_N, GPASSK_K: samples of each problem, and the k such as 4,8,16.
GPASSK_DATA: folder or file with the data; else the hub and OpenCompass are asked.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import LiveMathBench

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
livemathbench_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).livemathbench()

livemathbench_gpassk_datasets = [
    dict(
        type=LiveMathBench,
        **livemathbench_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
