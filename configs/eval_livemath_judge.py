"""The main job with a judge: rules first, then an LLM for the answers that they don't confirm.

    OC_JUDGE_MODEL=Qwen/Qwen2.5-72B-Instruct OC_JUDGE_API_BASE=http://host:8000/v1 \\
        opencompass configs/eval_livemath_judge.py

Use any OpenAI-compatible endpoint, or several separated by commas: vLLM, SGLang, LMDeploy or a
provider's. A key is read from OC_JUDGE_API_KEY and written nowhere. To try it without a model,
start the server of the tests, which compares answers by their text:

    python tests/kit/judge_server.py --port 8123

Everything else is as in eval_livemath.py, which explains how to set your model and the data.
GPASSK_JUDGE=llm asks about every answer, as arXiv 2412.13147 does; `prompt='opencompass'` uses
OpenCompass's prompt. Continue interrupted judging with `-r`: no verdict is paid for twice.
"""

from mmengine.config import read_base

with read_base():
    from .eval_livemath import datasets, models, summarizer  # noqa: F401

# Model and endpoints come from the environment, or are set here, with further settings:
# configured('cascade', model='…', api_base=['http://a:8000/v1', 'http://b:8000/v1'],
#            prompt='opencompass', max_tokens=2048, price_per_mtok=0.4)
settings = __import__('opencompass_gpassk.judging.settings', fromlist=['_'])
judge = settings.configured('cascade')
del settings

for dataset in datasets:
    dataset['eval_cfg']['evaluator'].update(judge=judge)
del dataset
work_dir = 'outputs/livemath_judge'
