"""Example: a model that OpenCompass runs with LMDeploy's TurboMind. Change `path` and `abbr`."""

from opencompass.models import TurboMindModelwithChatTemplate

models = [
    dict(
        type=TurboMindModelwithChatTemplate,
        abbr='qwen2.5-7b-instruct-turbomind',
        path='Qwen/Qwen2.5-7B-Instruct',
        # The samples of a problem share their prompt, which a prefix cache reads once.
        engine_config=dict(session_len=16384, max_batch_size=64, tp=1, enable_prefix_caching=True),
        gen_config=dict(do_sample=False, max_new_tokens=8192),
        max_seq_len=16384,
        max_out_len=8192,
        batch_size=64,
        run_cfg=dict(num_gpus=1),
    )
]
