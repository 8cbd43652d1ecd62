"""OpenCompass's GenericLLMEvaluator, asked to judge the trials of a benchmark."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from judging_trials import Candidate

from opencompass_gpassk.judging.prompt import Prompt

POSTPROCESSOR = 'opencompass.datasets.generic.generic_llmjudge_postprocess'


def judge_by_opencompass(
    candidates: Sequence[Candidate], url: str, folder: Path, workers: int | None
) -> tuple[float, int]:
    """Judge with the judge that the evaluator has for ``judge_cfg=dict()``.

    With a number of workers its rate limit is taken out, not set high: the clock behind it competes
    with the requests for the interpreter. The evaluator is called once for all trials, though an
    evaluation calls it for one sample of each problem after another; nothing is logged. One trial
    is judged before the clock starts, so that imports are over.

    Returns:
        Seconds, and how many trials were called right.
    """
    from opencompass.evaluator import GenericLLMEvaluator

    logging.disable(logging.WARNING)  # two lines for each request
    os.environ |= {'OC_JUDGE_MODEL': 'judge', 'OC_JUDGE_API_KEY': 'none', 'OC_JUDGE_API_BASE': url}
    changes: dict[str, Any] = {'tokenizer_path': str(word_tokenizer(folder / 'tokenizer'))}
    if workers:
        patch('opencompass.models.base_api.TokenBucket.get_token', lambda self: None).start()
        changes |= {'max_workers': workers, 'verbose': False}

    def score(part: Sequence[Candidate], name: str) -> int:
        evaluator = GenericLLMEvaluator(**_config())
        evaluator.judge_cfg = {**evaluator.judge_cfg, **changes}
        evaluator._out_dir, evaluator._dataset_replica_idx = str(folder / name), 0
        result = evaluator.score(
            [one.answer or '' for one in part], [one.gold for one in part], _test_set(part)
        )
        return int(result['correct_count'])

    score(candidates[:1], 'first')
    start = time.perf_counter()
    right = score(candidates, 'all')
    return time.perf_counter() - start, right


def _config() -> dict[str, Any]:
    """Return an evaluator's config with the prompt, and the words of a verdict, that ours has."""
    from opencompass.openicl.icl_prompt_template import PromptTemplate

    words = {'true_tag': r'\boxed{yes}', 'false_tag': r'\boxed{no}'}
    prompt = Prompt.load('default', 'en').text
    return {
        'judge_cfg': {},
        'dataset_cfg': {},  # the test set that is given, not one that it loads
        'prompt_template': {
            'type': PromptTemplate,
            'template': {'round': [{'role': 'HUMAN', 'prompt': prompt}]},
        },
        'dict_postprocessor': {'type': POSTPROCESSOR, **words},
    }


def _test_set(candidates: Sequence[Candidate]) -> Any:
    from datasets import Dataset

    rows = [{'question': c.question, 'gold': c.gold, 'answer': c.answer or ''} for c in candidates]
    return Dataset.from_list(rows)


def word_tokenizer(folder: Path) -> Path:
    """Save a tokenizer of words: the evaluator counts tokens, with one that it downloads."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({'<unk>': 0}, unk_token='<unk>'))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token='<unk>').save_pretrained(folder)
    return folder
