"""The demonstration model: a very small Llama for trying the pipeline out, on any CPU and offline.

It solves a few families of short sums, sometimes. Its scores mean nothing beyond that.
"""

from opencompass.models import HuggingFacewithChatTemplate

models = [
    dict(
        type=HuggingFacewithChatTemplate,
        abbr='gpassk-demo',
        path=__import__('opencompass_gpassk').__path__[0] + '/demo/model',
        max_out_len=96,  # of data sets that state no length; ours do
        batch_size=64,
        # Greedy, like most model configs; the data set's protocol sets when to sample.
        generation_kwargs=dict(do_sample=False),
        run_cfg=dict(num_gpus=0),
    )
]
