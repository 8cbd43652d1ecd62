"""What tells one model's saved responses from another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opencompass.models.base import BaseModel
from tiny import Killed, run

from opencompass_gpassk.inference.backend import DECODING
from opencompass_gpassk.inference.inferencer import GPassKGenInferencer
from opencompass_gpassk.inference.model_identity import model_identity

SERVED: dict[str, Any] = {
    'type': 'opencompass.models.OpenAISDK',
    'abbr': 'qwen',
    'path': 'Qwen/Qwen2.5-7B-Instruct',
    'openai_api_base': 'http://node1:8000/v1',
    'key': 'sk-1',
    'max_seq_len': 8192,
    'temperature': 0.7,
    'batch_size': 8,
}
LOCAL: dict[str, Any] = {
    'type': 'opencompass.models.VLLMwithChatTemplate',
    'abbr': 'qwen',
    'path': 'Qwen/Qwen2.5-7B-Instruct',
    'model_kwargs': {'tensor_parallel_size': 1, 'gpu_memory_utilization': 0.8, 'dtype': 'float16'},
    'generation_kwargs': {'temperature': 0.6, 'stop_token_ids': [7]},
    'max_seq_len': 8192,
    'run_cfg': {'num_gpus': 1},
}
LMDEPLOY: dict[str, Any] = {
    'type': 'opencompass.models.TurboMindModelwithChatTemplate',
    'path': 'Qwen/Qwen2.5-7B-Instruct',
    'engine_config': {'session_len': 8192, 'max_batch_size': 16, 'tp': 1, 'quant_policy': 0},
}
LIGHTLLM: dict[str, Any] = {'type': 'opencompass.models.LightllmAPI', 'url': 'http://a:8080'}

SAME = [
    (SERVED, {'abbr': 'other'}),
    (SERVED, {'openai_api_base': ['http://node2:8000/v1', 'http://node3:8000/v1']}),
    (SERVED, {'key': 'sk-2', 'token': 't', 'openai_proxy_url': 'http://proxy'}),
    (SERVED, {'batch_size': 64, 'query_per_second': 9, 'max_workers': 3, 'retry': 9, 'timeout': 9}),
    (SERVED, {'max_seq_len': 32768}),
    (SERVED, {'temperature': 0.0}),
    (LOCAL, {'model_kwargs': {'tensor_parallel_size': 4, 'swap_space': 8, 'dtype': 'float16'}}),
    (LOCAL, {'run_cfg': {'num_gpus': 4}, 'pred_postprocessor': {'type': 'x'}}),
    (LOCAL, {'generation_kwargs': {'temperature': 1.0, 'top_k': 9, 'stop_token_ids': [7]}}),
    (LOCAL, {'type': 'opencompass.models.vllm_with_tf_above_v4_33.VLLMwithChatTemplate'}),
    (LMDEPLOY, {'engine_config': {**LMDEPLOY['engine_config'], 'max_batch_size': 2, 'tp': 2}}),
]
OTHER = [
    (SERVED, {'path': 'Qwen/Qwen2.5-72B-Instruct'}),
    (SERVED, {'extra_body': {'chat_template_kwargs': {'enable_thinking': False}}}),
    (SERVED, {'type': 'opencompass_gpassk.inference.OpenAICompatible'}),
    (SERVED, {'without': ['top_k']}),
    (LOCAL, {'model_kwargs': {**LOCAL['model_kwargs'], 'revision': 'v2'}}),
    (LOCAL, {'model_kwargs': {**LOCAL['model_kwargs'], 'dtype': 'bfloat16'}}),
    (LOCAL, {'model_kwargs': {**LOCAL['model_kwargs'], 'quantization': 'awq'}}),
    (LOCAL, {'lora_path': 'adapter'}),
    (LOCAL, {'tokenizer_path': 'other', 'tokenizer_kwargs': {'use_fast': False}}),
    (LOCAL, {'generation_kwargs': {'temperature': 0.6, 'stop_token_ids': [8]}}),
    (LMDEPLOY, {'engine_config': {**LMDEPLOY['engine_config'], 'quant_policy': 4}}),
    (LIGHTLLM, {'url': 'http://b:8080'}),
]


def identity(config: dict[str, Any], decided: Any = DECODING) -> str:
    """Return the identity under the protocol."""
    return model_identity(config, decided, served='model_kwargs' not in config)


@pytest.mark.parametrize(('config', 'edit'), SAME)
def test_edits_that_change_no_draw_keep_the_identity(
    config: dict[str, Any], edit: dict[str, Any]
) -> None:
    """Machines, addresses, keys and what the protocol sets are no part of a model."""
    assert identity({**config, **edit}) == identity(config)


@pytest.mark.parametrize(('config', 'edit'), OTHER)
def test_edits_that_change_draws_change_the_identity(
    config: dict[str, Any], edit: dict[str, Any]
) -> None:
    """Weights, tokenizer, number format, adapters and templates are."""
    assert identity({**config, **edit}) != identity(config)


class Echo(BaseModel):
    """Answers with its path; dies at the seventh prompt."""

    def generate(self, inputs: list[str], max_out_len: int) -> list[str]:
        """Answer."""
        self.asked = getattr(self, 'asked', 0) + len(inputs)
        if self.asked == self.max_seq_len:
            raise Killed
        return [f'{self.path}: {text}' for text in inputs]


def begun(folder: Path, config: dict[str, Any], *configs: dict[str, Any]) -> Path:
    """Leave six responses of a model, and stored configs; return the folder of its predictions."""
    predictions = folder / 'predictions/m'
    predictions.mkdir(parents=True)
    with pytest.raises(Killed):
        run(Echo('a', max_seq_len=7), predictions, batch_size=1, model_cfg=config)
    (folder / 'configs').mkdir()
    for number, one in enumerate(configs):
        text = f'models = [{one!r}]\ndatasets = [dict(abbr="problems")]\n'
        (folder / f'configs/{number}.py').write_text(text)
    return predictions


A = {'abbr': 'm', 'type': 'tests.Echo', 'path': 'a'}
B = {**A, 'path': 'b'}


def test_resumed_run_never_mixes_two_models(tmp_path: Path, said: list[str]) -> None:
    """Under one abbr another path was set: all are asked of it, and the former ones are kept."""
    predictions = begun(tmp_path, A)
    records = run(Echo('b'), predictions, model_cfg=B)
    assert {record['prediction'][0] for record in records} == {'b'}
    assert '6 saved responses were made by another model' in said[-1]
    assert said[-1].partition('settings: ')[2].startswith('a;')
    assert len((predictions / 'unused_problems.jsonl').read_text().splitlines()) == 6
    assert {record['model'] for record in records} == {model_identity(B)}
    assert len({record['key'] for record in records}) == 12


def test_task_that_names_no_model_is_refused(tmp_path: Path) -> None:
    """OpenCompass's concurrent task doesn't tell its inferencers which model they ask."""
    from opencompass.openicl.icl_prompt_template import PromptTemplate
    from opencompass.openicl.icl_retriever import ZeroRetriever
    from tiny import Problems

    rows = Problems(reader_cfg={'input_columns': ['prompt'], 'output_column': 'answer'})
    inferencer = GPassKGenInferencer(Echo('a'), max_out_len=5, output_json_filepath=str(tmp_path))
    with pytest.raises(ValueError, match='OpenICLInferTask'):
        inferencer.inference(ZeroRetriever(rows), prompt_template=PromptTemplate('{prompt}'))
