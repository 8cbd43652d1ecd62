"""The protocol of arXiv 2412.13147: 48 samples of each problem at temperature 1.0, top-p 0.8, top-k
50, repetition penalty 1.0, at most 8192 tokens; G-Pass@k at k = 4, 8, 16; and a greedy answer. A
judge decides about every answer, with OpenCompass's prompt in the problem's language, at
temperature 0 and with at most 8192 tokens. The paper's is Qwen2.5-72B-Instruct.

    OC_JUDGE_MODEL=Qwen/Qwen2.5-72B-Instruct OC_JUDGE_API_BASE=http://host:8000/v1 \\
        opencompass configs/eval_paper.py

1. Choose the backend on the line marked below, and name your model in its file.
2. Models that think at length (o1 and its like) need more tokens: GPASSK_MAX_OUT_LEN=32768.
3. Without a judge the config ends with an error. GPASSK_JUDGE=rule judges by rule; the tables then
   say so, and their columns can't be compared with the paper's.
4. Data come from the Hugging Face hub or OpenCompass's download or, without a connection, from the
   folder in GPASSK_DATA: livemathbench/202412/AMC_en.jsonl …, math500/test.jsonl,
   aime/aime2024.jsonl. GPASSK_VERSION sets another version of LiveMathBench, GPASSK_LANGUAGES
   one of its languages, GPASSK_N and GPASSK_K smaller numbers of samples.

The paper's third data set, AIME2024-45, was not published: AIME 2024 has 30 problems. Your own list
is used if there is one (aime2024-45.jsonl in GPASSK_DATA). Otherwise the 30 problems are used and
shown as AIME2024-30, which can't be compared with the published column.
"""

from mmengine.config import read_base

with read_base():
    from .datasets.aime2024_45.aime2024_45_gpassk_gen import aime2024_45_gpassk_datasets
    from .datasets.aime2024_45.aime2024_45_gpassk_greedy_gen import (
        aime2024_45_gpassk_greedy_datasets,
    )
    from .datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_gpassk_datasets
    from .datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_gpassk_greedy_datasets,
    )
    from .datasets.math500_l5.math500_l5_gpassk_gen import math500_l5_gpassk_datasets
    from .datasets.math500_l5.math500_l5_gpassk_greedy_gen import math500_l5_gpassk_greedy_datasets
    from .models.hf_example import models as hf_models
    from .models.openai_api_example import models as api_models  # noqa: F401
    from .models.vllm_example import models as vllm_models  # noqa: F401
    from .summarizers.gpassk import summarizer  # noqa: F401

models = [*hf_models]  # or vllm_models, or api_models

# The data set's own default is `sample`.
sampled, greedy = (
    __import__('opencompass_gpassk.datasets.settings', fromlist=['settings']).livemathbench(
        default='202412', greedy=alone
    )
    for alone in (False, True)
)
livemathbench_gpassk_datasets[0].update(sampled)
livemathbench_gpassk_greedy_datasets[0].update(greedy)

datasets = [
    *livemathbench_gpassk_greedy_datasets,
    *livemathbench_gpassk_datasets,
    *math500_l5_gpassk_greedy_datasets,
    *math500_l5_gpassk_datasets,
    *aime2024_45_gpassk_greedy_datasets,
    *aime2024_45_gpassk_datasets,
]
judge = __import__('opencompass_gpassk.judging.settings', fromlist=['_']).configured(
    'llm', prompt='opencompass'
)
for dataset in datasets:
    dataset['eval_cfg']['evaluator'].update(judge=judge)
max_out_len = datasets[0]['infer_cfg']['inferencer']['max_out_len']
for model in models:  # with room for prompts of 8192 tokens
    model.update(max_out_len=max_out_len, max_seq_len=max_out_len + 8192)
    if 'max_model_len' in model.get('model_kwargs', {}):
        model['model_kwargs'].update(max_model_len=max_out_len + 8192)
del model, sampled, greedy, dataset
work_dir = 'outputs/paper'
