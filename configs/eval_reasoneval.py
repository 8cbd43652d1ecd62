"""Whether the reasoning is right, beside whether the answer is: ReasonEval in the main job.

    opencompass configs/eval_reasoneval.py

As it stands it runs anywhere, offline, on a CPU: the demonstration model answers the 48 problems of
`sample`, 16 times each and once greedily, and a tiny step classifier, trained for that model alone,
scores each step of the responses. The real thing takes

1. your model and data, as eval_livemath.py says;
2. a step classifier that knows mathematics, and a GPU for it:

       GPASSK_STEP_MODEL=GAIR/ReasonEval-7B GPASSK_STEP_GPUS=1 \\
           opencompass configs/eval_reasoneval.py

   GPASSK_STEP_MODEL is a folder or an id of the hub. In bfloat16 the 7B model takes 15 GB of memory
   and the 34B model 69 GB, beside what a batch takes; `batch_tokens` below bounds that. Responses
   are then split into steps by their own markers, blank lines, lines or sentences.

Without a GPU, a judge can be asked about the steps: `reasoning=dict(judge='llm')`, with the
variables OC_JUDGE_*.

An interrupted run goes on with `-r`, and the same variables: neither a response nor a step that has
been scored is paid for twice.
"""

from mmengine.config import read_base

with read_base():
    from .eval_livemath import datasets, models, summarizer  # noqa: F401

# Further settings may be named here:
# configured(threshold=0.5, options=dict(batch_tokens=8192, long='window'),
#            model_kwargs=dict(dtype='bfloat16', attn_implementation='flash_attention_2'))
settings = __import__('opencompass_gpassk.reasoneval.settings', fromlist=['_'])
reasoning, step_gpus = settings.configured(), settings.configured_gpus()
del settings

for dataset in datasets:
    dataset['eval_cfg']['evaluator'].update(reasoning=reasoning)
    dataset['eval_cfg'].update(num_gpus=step_gpus)
del dataset
work_dir = 'outputs/reasoneval'
