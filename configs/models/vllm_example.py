"""Example: a model that OpenCompass runs with vLLM in its own process. Change `path` and `abbr`.

vLLM needs numpy 2 and OpenCompass numpy 1, so recent releases of both don't share an environment:
there, serve the model with ``vllm serve`` and use openai_api_example.py.
"""

from opencompass.models import VLLMwithChatTemplate

models = [
    dict(
        type=VLLMwithChatTemplate,
        abbr='qwen2.5-7b-instruct-vllm',
        path='Qwen/Qwen2.5-7B-Instruct',
        model_kwargs=dict(tensor_parallel_size=1, max_model_len=16384),
        generation_kwargs=dict(temperature=0),
        max_out_len=8192,
        max_seq_len=16384,
        batch_size=256,
        run_cfg=dict(num_gpus=1),
    )
]
