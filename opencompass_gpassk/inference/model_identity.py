"""The identity of a model: what tells its responses from another model's, stored with each of them.

Two configs have one identity if they draw the same responses to the same requests. Two servers that
serve other weights under one name have one identity too: nothing in a config tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from opencompass_gpassk.formats.hashing import stable_hash

# The fields of a config that change no draw, at any depth, and why. All others count.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    'names in tables': ('abbr', 'summarizer_abbr'),
    'what a request says itself': ('max_out_len', 'min_out_len', 'not_known'),
    'work on finished responses': ('pred_postprocessor', 'verbose', 'rpm_verbose'),
    'proxies': ('proxy', 'proxies', 'proxy_url', 'openai_proxy_url', 'http_client_cfg'),
    'requests at once, and how often they are tried': (
        *('batch_size', 'max_batch_size', 'max_num_seqs', 'max_num_batched_tokens'),
        *('concurrency', 'max_concurrency', 'max_workers', 'query_per_second', 'rpm'),
        *('rate', 'rate_per_worker', 'max_workers_per_task'),
        *('retry', 'retries', 'max_retries', 'timeout', 'wait', 'give_up_after'),
    ),
    'machines': (
        *('run_cfg', 'num_gpus', 'num_procs', 'distributed_executor_backend'),
        *('tensor_parallel_size', 'pipeline_parallel_size', 'data_parallel_size'),
        *('enable_expert_parallel', 'max_parallel_loading_workers', 'tp', 'pp', 'dp', 'ep'),
        *('device', 'devices', 'device_map', 'max_memory', 'low_cpu_mem_usage'),
        *('offload_folder', 'offload_state_dict'),
    ),
    'memory and caches': (
        *('gpu_memory_utilization', 'swap_space', 'cpu_offload_gb', 'enforce_eager'),
        *('block_size', 'num_gpu_blocks_override', 'enable_prefix_caching'),
        *('enable_chunked_prefill', 'cache_max_entry_count', 'cache_block_seq_len'),
        *('cache_chunk_size', 'max_prefill_token_num', 'use_cache', 'cache_dir', 'download_dir'),
        *('hf_cache_dir', 'ms_cache_dir'),
    ),
}
# Not even a hash of a secret belongs into a file.
SECRET = re.compile(
    r'(.*_)?(keys?|secrets?|secret_id|password|authorization|headers)|(.*_)?key_env'
    r'|(access|secret|api|app)key|((access|api|auth|hf|use_auth)_)?token|ak|sk|app_?id|orgs?'
    r'|organization'
)
# Where a model is served. If a config has no path, its address is its only name.
ADDRESSES = {
    *('address', 'api_addr', 'api_base', 'api_url', 'base_url', 'endpoint', 'host'),
    *('openai_api_base', 'port', 'token_url', 'url'),
}
LONGEST_PATH = 80  # characters


def model_identity(
    config: Mapping[str, Any], decided: Collection[str] = (), *, served: bool = False
) -> str:
    """Return a model's path, or the name of its class, with a hash: ``Qwen/Qwen2.5-7B#d6c1…``.

    Args:
        config: The model's config, as OpenCompass has it.
        decided: Fields that the sampling protocol replaces: see ``Backend.decided``.
        served: Whether a server has the model. Then ``max_seq_len`` limits only what is sent.
    """
    gone = {name for names in LEFT_OUT.values() for name in names}.union(decided)
    if config.get('path'):
        gone |= ADDRESSES
    if served:
        gone.add('max_seq_len')
    kind = _plain(config.get('type'), gone)
    counted = {**_plain(config, gone), 'type': str(kind).rpartition('.')[2]}
    name = str(config.get('path') or counted['type'])[-LONGEST_PATH:]
    return f'{name}#{stable_hash(counted)[:16]}'


def readable(identity: str) -> str:
    """Return a model's path, or the name of its class, from its identity."""
    return identity.rpartition('#')[0] or identity


def _plain(value: Any, gone: Collection[str]) -> Any:
    """Return a value as JSON can hold it, without the fields that don't count or hold nothing."""
    if isinstance(value, Mapping):
        kept = {
            str(name): _plain(one, gone)
            for name, one in value.items()
            if name not in gone and not SECRET.fullmatch(str(name).lower())
        }
        return {name: one for name, one in kept.items() if one not in (None, {}, [])}
    if isinstance(value, (list, tuple)):
        return [_plain(one, gone) for one in value]
    if hasattr(value, '__qualname__'):
        return f'{value.__module__}.{value.__qualname__}'
    return value
