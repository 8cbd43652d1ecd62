"""Example: a model behind an OpenAI-compatible HTTP API, such as one served by vLLM, SGLang or
LMDeploy. Change `path`, `abbr` and `openai_api_base`.

The key is read from the environment variable OPENAI_API_KEY when the model starts (a server of
your own takes any). Don't write a key here: OpenCompass stores the config beside the results.
"""

from opencompass.models import OpenAISDK

models = [
    dict(
        type=OpenAISDK,
        abbr='qwen2.5-7b-instruct-api',
        path='Qwen/Qwen2.5-7B-Instruct',
        key='ENV',
        openai_api_base='http://127.0.0.1:8000/v1',
        meta_template=dict(
            round=[
                dict(role='HUMAN', api_role='HUMAN'),
                dict(role='BOT', api_role='BOT', generate=True),
            ],
        ),
        # The wrapper's tokenizer: of the model itself, from the hub or a folder. Without it,
        # OpenCompass downloads a vocabulary of tiktoken when it starts.
        tokenizer_path='Qwen/Qwen2.5-7B-Instruct',
        query_per_second=16,
        max_workers=64,
        max_seq_len=16384,
        max_out_len=8192,
        batch_size=64,
        retry=3,
    )
]
