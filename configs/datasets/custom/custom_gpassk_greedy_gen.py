"""Problems from a file of your own, decoded greedily, once.

Environment variables:
GPASSK_DATA: the file; see custom_gpassk_gen.py.
"""

from mmengine.config import read_base

from opencompass_gpassk.datasets import CustomProblems

with read_base():
    from ..protocol import gpassk_eval_cfg, gpassk_greedy_infer_cfg, gpassk_reader_cfg

# abbr, path, n and k. __import__: a config can't call its imports.
custom_greedy_settings = __import__(
    'opencompass_gpassk.datasets.settings', fromlist=['settings']
).custom(greedy=True)

custom_gpassk_greedy_datasets = [
    dict(
        type=CustomProblems,
        **custom_greedy_settings,
        reader_cfg=gpassk_reader_cfg,
        infer_cfg=gpassk_greedy_infer_cfg,
        eval_cfg=gpassk_eval_cfg,
    )
]
