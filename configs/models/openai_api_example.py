"""Example: a model behind an OpenAI-compatible HTTP API, such as one served by vLLM, SGLang or
LMDeploy. Change `path`, `abbr` and `api_base`.

The key is read from the environment variable OPENAI_API_KEY when the model starts (a server of
your own takes any). Don't write a key here: OpenCompass stores the config beside the results.
"""

from opencompass_gpassk.inference import OpenAICompatible

models = [
    dict(
        type=OpenAICompatible,
        abbr='qwen2.5-7b-instruct-api',
        path='Qwen/Qwen2.5-7B-Instruct',
        api_base='http://127.0.0.1:8000/v1',  # or several: ['http://node1:8000/v1', …]
        max_concurrency=256,  # requests at once to each
        max_out_len=8192,  # of data sets that state no length; ours do
        batch_size=1024,  # of data sets with OpenCompass's own inferencer
    )
]
