"""A tiny random Llama checkpoint, and OpenCompass's objects around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from datasets import Dataset
from opencompass.datasets.base import BaseDataset
from opencompass.models import HuggingFace
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from opencompass_gpassk.inference.inferencer import GPassKGenInferencer

torch.set_num_threads(1)  # a model this small gains nothing from more

CPU = {'device_map': 'cpu', 'torch_dtype': 'torch.float'}
CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz +-*=?.:\n'
TEMPLATE = (
    "{% for m in messages %}{{ m['role'][0] + ':' + m['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'a:' }}{% endif %}"
)


def save_checkpoint(folder: Path, **generation: Any) -> Path:
    """Save a model of a few thousand parameters; ``generation`` is its generation config."""
    tokens = ['<pad>', '<s>', '</s>', '<unk>', *CHARACTERS]
    core = Tokenizer(models.WordLevel({t: i for i, t in enumerate(tokens)}, unk_token='<unk>'))
    core.pre_tokenizer = pre_tokenizers.Split('', 'isolated')
    core.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token='<pad>',
        bos_token='<s>',
        eos_token='</s>',
        unk_token='<unk>',
        chat_template=TEMPLATE,
        model_input_names=['input_ids', 'attention_mask'],
        padding_side='left',
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.update(**generation)
    model.generation_config.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def build(kind: type, checkpoint: Path, **settings: Any) -> Any:
    """Return one of OpenCompass's wrappers."""
    if kind is HuggingFace:
        settings = {'pad_token_id': 0, **settings}
    return kind(str(checkpoint), model_kwargs=dict(CPU), max_seq_len=256, **settings)


class Problems(BaseDataset):
    """Problems in the columns of this package's data sets."""

    @staticmethod
    def load(problems: int = 4, replicas: int = 3) -> Dataset:
        return Dataset.from_list(
            [
                {
                    'problem_id': f'p/{i}',
                    'replica': replica,
                    'prompt': f'what is {i}+{i}',
                    'answer': str(2 * i),
                }
                for replica in range(replicas)
                for i in range(problems)
            ]
        )


PAPER = {'temperature': 1.0, 'top_p': 0.8, 'top_k': 50, 'repetition_penalty': 1.0}


class InTask:
    """What the inferencer asks OpenCompass's task for."""

    dataset_cfg: ClassVar[dict[str, Any]] = {}

    def __init__(self, model_cfg: dict[str, Any]) -> None:
        self.model_cfg = model_cfg
        self.max_out_len = model_cfg.get('max_out_len')

    def infer(self, inferencer: GPassKGenInferencer, *args: Any, **settings: Any) -> None:
        """Call the inferencer, which finds this object on the stack."""
        inferencer.inference(*args, **settings)


def run(
    model: Any,
    folder: Path,
    name: str = 'problems',
    *,
    test_range: str | None = None,
    problems: int = 4,
    replicas: int = 3,
    dataset: type[BaseDataset] = Problems,
    model_cfg: dict[str, Any] | None = None,
    template: str = '{prompt}',
    **settings: Any,
) -> list[dict[str, Any]]:
    """Run the inferencer on a wrapper as OpenCompass's task does; return the records."""
    rows = dataset(
        reader_cfg={
            'input_columns': ['prompt'],
            'output_column': 'answer',
            'test_range': test_range,
        },
        problems=problems,
        replicas=replicas,
    )
    settings = {'max_out_len': 12, 'batch_size': 5, 'sampling': PAPER, **settings}
    inferencer = GPassKGenInferencer(model, output_json_filepath=str(folder), **settings)
    InTask(model_cfg or {'type': type(model), 'path': model.path}).infer(
        inferencer,
        ZeroRetriever(rows),
        prompt_template=PromptTemplate({'round': [{'role': 'HUMAN', 'prompt': template}]}),
        output_json_filepath=str(folder),
        output_json_filename=f'{name}.json',
    )
    records = json.loads((folder / f'{name}.json').read_text('utf-8'))
    return [records[str(i)] for i in range(len(records))]


def texts(records: list[dict[str, Any]]) -> list[str]:
    """Return the responses."""
    return [record['prediction'] for record in records]


class Recorder:
    """Notes the arguments of each call of transformers' generate."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        generate = model.model.generate

        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(kwargs)
            return generate(*args, **kwargs)

        monkeypatch.setattr(model.model, 'generate', recorded)


class Killed(BaseException):
    """Stands for a kill in the middle of inference."""


def kill_at(monkeypatch: pytest.MonkeyPatch, model: Any, call: int) -> None:
    """Let the process die in the given call of generate."""
    generate, calls = model.model.generate, []

    def dying(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise Killed
        return generate(*args, **kwargs)

    monkeypatch.setattr(model.model, 'generate', dying)


def fail_on(monkeypatch: pytest.MonkeyPatch, model: Any, bad: Any, error: Exception) -> list[int]:
    """Let generate fail on batches for which ``bad(input_ids)``; note all batch sizes."""
    generate, sizes = model.model.generate, []

    def failing(*args: Any, **kwargs: Any) -> Any:
        sizes.append(len(kwargs['input_ids']))
        if bad(kwargs['input_ids']):
            raise error
        return generate(*args, **kwargs)

    monkeypatch.setattr(model.model, 'generate', failing)
    return sizes
