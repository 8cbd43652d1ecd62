"""Example: a model that OpenCompass runs with transformers. Change `path` and `abbr`.

It decodes greedily, like most model configs; the data set's protocol sets when to sample.
"""

from opencompass.models import HuggingFacewithChatTemplate

models = [
    dict(
        type=HuggingFacewithChatTemplate,
        abbr='qwen2.5-7b-instruct-hf',
        path='Qwen/Qwen2.5-7B-Instruct',
        max_out_len=8192,
        batch_size=16,
        run_cfg=dict(num_gpus=1),
    )
]
