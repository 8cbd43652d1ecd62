"""Is a model more stable at a lower temperature? It made the responses of ``docs/tutorial.md``.

    opencompass configs/eval_temperatures.py

The demonstration model answers the 24 English problems of ``sample``, 32 times each, at two
temperatures.
"""

from mmengine.config import read_base

with read_base():
    from .datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_gpassk_datasets
    from .models.demo import models as demo_models
    from .summarizers.gpassk import summarizer  # noqa: F401

datasets = [dict(livemathbench_gpassk_datasets[0], abbr='sample-en', languages=['en'], n=32, k=[8])]
datasets[0]['infer_cfg']['inferencer']['sampling'] = 'model'  # as the models' configs say
models = [
    dict(
        demo_models[0],
        abbr=f'demo-t{temperature}',
        generation_kwargs=dict(do_sample=True, temperature=temperature),
    )
    for temperature in (0.5, 1.5)
]
work_dir = 'outputs/temperatures'
