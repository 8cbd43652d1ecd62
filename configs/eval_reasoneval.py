"""The main job with ReasonEval: is the reasoning valid, as well as the answer right?

    opencompass configs/eval_reasoneval.py

Unchanged, it runs offline on any CPU: the demonstration model answers the 48 problems of `sample`,
16 times each and once greedily, and a tiny step classifier, trained only for that model, scores
each step of the responses. For your own measurement set

1. your model and data, as in eval_livemath.py;
2. a step classifier that knows mathematics, and a GPU for it:

       GPASSK_STEP_MODEL=GAIR/ReasonEval-7B GPASSK_STEP_GPUS=1 \\
           opencompass configs/eval_reasoneval.py

   GPASSK_STEP_MODEL is a folder or a hub id. In bfloat16 the 7B model needs 15 GB of memory and the
   34B model 69 GB, plus memory for a batch; `batch_tokens` below limits the latter. Responses are
   then split into steps by their own markers, blank lines, lines or sentences.

Without a GPU, ask a judge about the steps: `reasoning=dict(judge='llm')`, with the variables
OC_JUDGE_*.

Continue an interrupted run with `-r` and the same variables: no response is drawn twice, and no
step is scored twice.
"""

from mmengine.config import read_base

with read_base():
    from .eval_livemath import datasets, models, summarizer  # noqa: F401

# Set further options here, such as:
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
