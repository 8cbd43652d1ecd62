"""Objects built from a run folder's config: known classes with checked arguments.

A run folder may come from anyone. Its config is read as data, and classes are looked up by their
exact names in the lists below; nothing is imported by a path from the folder. The config may set
options of a judge or scorer that change verdicts, but never where anything is sent or loaded from.
Anything else is refused.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opencompass_gpassk.datasets import MODULES
from opencompass_gpassk.judging.prompt import BUILT_IN
from opencompass_gpassk.judging.settings import OF_RULES, JudgeSettings
from opencompass_gpassk.reasoneval.settings import DEMO, ReasoningSettings, configured
from opencompass_gpassk.rv.question import is_executed

TRUST = 'If the run is your own, --trust-config runs its config as OpenCompass did'
SUMMARIZER = 'opencompass_gpassk.summarizer.GPassKSummarizer'
SUMMARIZERS = (SUMMARIZER, 'opencompass_gpassk.report.summarizer.GPassKSummarizer')
EVALUATORS = {
    'opencompass_gpassk.evaluator.GPassKEvaluator',
    'opencompass_gpassk.evaluator.ReasonEvalEvaluator',
}
DATA_SETS = {
    f'opencompass_gpassk.datasets{module}.{name}'
    for name, home in MODULES.items()
    for module in ('', f'.{home}')
    if name != 'GPassKDataset'  # which loads nothing by itself
}
# OpenCompass's own, for models that think aloud; its arguments are two texts, and it only cuts.
POSTPROCESSORS = {'opencompass.utils.text_postprocessors.extract_non_reasoning_content'}

# Verdicts depend on these settings. Others choose where a judge is, or what is sent there.
VERDICT_SETTINGS = (
    *(*OF_RULES, 'model', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length'),
    *('recheck_different', 'temperature', 'max_tokens'),
)
SCORE_SETTINGS = ('threshold', 'validity_by', 'redundancy_by', 'delimiter', 'thinking')
MODEL_SETTINGS = ('dtype', 'torch_dtype', 'device_map')  # others may name code on a hub
ELSEWHERE = ('hub', 'modelscope')  # arguments that name a remote source of data
FILES = ('path', 'originals')
RANGE = re.compile(r'\[-?\d*:-?\d*(:-?\d+)?\]')  # OpenCompass evaluates it as Python
MOST = {'n': 4096, 'per_group': 100}  # these multiply the rows


class UnknownPartError(ValueError):
    """A run's config needs something that is not built from an untrusted config."""

    def __init__(self, message: str) -> None:
        super().__init__(f'{message}. {TRUST}')


def known_model(config: Any) -> dict[str, Any]:
    """Return the part of a model's config that an evaluation reads: its names and postprocessor.

    Raises:
        UnknownPartError: If the config has no abbr, or the postprocessor is not a known one.
    """
    if not isinstance(config, Mapping) or not isinstance(config.get('abbr'), str):
        raise UnknownPartError('the config of the model names no abbr')
    given = {key: config.get(key) for key in ('abbr', 'summarizer_abbr')}
    names = {key: name for key, name in given.items() if isinstance(name, str)}
    return names | _postprocessor(config, 'the model')


def known_dataset(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of a data set and its evaluator, with classes in place of their names.

    Raises:
        UnknownPartError: If a class or one of its arguments is not a known one.
    """
    kind = _known(config.get('type'), DATA_SETS, 'the data set')
    names = {*inspect.signature(kind.load).parameters, 'abbr', 'n', 'k', 'limit'}
    made = _arguments(config, names, 'the data set', apart=('reader_cfg', 'infer_cfg', 'eval_cfg'))
    for name in ELSEWHERE:
        if name in made and made[name] != inspect.signature(kind.load).parameters[name].default:
            raise UnknownPartError(f'{name} of the data set is {made[name]!r}, not its own')
    for name in FILES:
        if made.get(name) is not None and not _is_there(made[name]):
            raise UnknownPartError(f'{name} of the data set is {made[name]!r}, no file or folder')
        if is_executed(made.get(name)):
            raise UnknownPartError(f'{name} of the data set is {made[name]!r}, which is executed')
    for name, most in MOST.items():
        if not isinstance(made.get(name, 1), int) or not 1 <= made.get(name, 1) <= most:
            raise UnknownPartError(f'{name} of the data set is {made[name]!r}, not 1 to {most}')
    return {
        **made,
        'type': kind,
        'reader_cfg': _reader(config.get('reader_cfg')),
        'infer_cfg': {},
        'eval_cfg': _evaluation(config.get('eval_cfg')),
    }


def known_summarizer(config: Any) -> dict[str, Any]:
    """Return the config of our summarizer, with the safe settings of the run's summarizer."""
    given = config if isinstance(config, Mapping) and config.get('type') in SUMMARIZERS else {}
    kept = {key: given[key] for key in ('dataset_abbrs', 'intervals') if _is_plain(given.get(key))}
    return {**kept, 'type': SUMMARIZER}


def recorded_judge(settings: Mapping[str, Any], signature: str = '') -> dict[str, Any]:
    """Return recorded settings of a judge without its address.

    It is only asked if the environment sets an address (OC_JUDGE_API_BASE) and names no other
    model, and the prompt is a built-in one. Otherwise only stored verdicts are used.

    Args:
        settings: The settings in a result or a config of a run folder.
        signature: The judge's signature in the result, by which stored verdicts are found.

    Raises:
        UnknownPartError: If the judge is an evaluator of OpenCompass.
        ValueError: If a setting is out of its range.
    """
    if 'type' in settings:
        raise UnknownPartError(f'the judge is {str(settings["type"])[:80]}, an evaluator')
    kept = {name: settings[name] for name in VERDICT_SETTINGS if name in settings}
    if kept.get('mode') == 'rule':
        return {name: kept[name] for name in OF_RULES if name in kept}
    extra = settings.get('extra_body') or {}
    named = os.environ.get('OC_JUDGE_MODEL', '').strip()
    served = os.environ.get('OC_JUDGE_API_BASE', '').strip()
    known = kept.get('model') or named
    if served and not extra and named in ('', known) and kept.get('prompt', 'default') in BUILT_IN:
        return kept
    if not known:
        return kept  # the error for missing settings then says what to set
    recorded = {**kept, 'model': known, 'extra_body': extra, 'recorded': signature or 'unknown'}
    JudgeSettings.of(recorded)
    return recorded


def recorded_reasoning(settings: Any) -> dict[str, Any]:
    """Return recorded settings of a scorer of steps, if it is the demonstration's classifier, the
    model in GPASSK_STEP_MODEL, or a judge.

    Raises:
        UnknownPartError: If it is another scorer.
        ValueError: If a setting is out of its range.
    """
    given = _mapping({'model': settings} if isinstance(settings, str) else settings, 'reasoning')
    kept = {name: given[name] for name in SCORE_SETTINGS if name in given}
    judge = given.get('judge')
    if isinstance(judge, Mapping):
        return {**kept, 'judge': recorded_judge({**judge, 'mode': 'llm'})}
    if judge:
        return {**kept, 'judge': 'llm'}
    model = given.get('model')
    if model != DEMO and (not model or model != configured().get('model')):
        who = str(model or given.get('reward_model') or given.get('type'))[:80]
        named = f'--model MODEL, or GPASSK_STEP_MODEL={who}' if model else '--reward-model MODEL'
        remedy = f'name it: gpassk reasoneval run RUN {named}' if not given.get('type') else ''
        raise UnknownPartError(
            f'steps were scored by {who}, and a run folder can not choose which model is loaded; '
            f'{remedy or "for a class of your own, trust the config: --trust-config"}'
        )
    options = _mapping(given.get('options') or {}, 'options of reasoning')
    where = _mapping(given.get('model_kwargs') or {}, 'model_kwargs of reasoning')
    kept['model'] = model
    kept['options'] = {str(key): value for key, value in options.items() if _is_plain(value)}
    kept['model_kwargs'] = {n: where[n] for n in MODEL_SETTINGS if isinstance(where.get(n), str)}
    return ReasoningSettings.of(kept).as_dict()


def _evaluation(config: Any) -> dict[str, Any]:
    given = _mapping(config, 'eval_cfg')
    if 'pred_role' in given:
        raise UnknownPartError('eval_cfg has a pred_role, for which the model would be looked up')
    evaluator = _mapping(given.get('evaluator'), 'the evaluator')
    kind = _known(evaluator.get('type'), EVALUATORS, 'the evaluator')
    apart = ('judge', 'reasoning', 'pred_postprocessor', 'intervals')
    made = _arguments(evaluator, {*inspect.signature(kind).parameters}, 'the evaluator', apart)
    judge = evaluator.get('judge')
    if judge is not None:
        made['judge'] = recorded_judge(judge) if isinstance(judge, Mapping) else judge
    if evaluator.get('reasoning') is not None:
        made['reasoning'] = recorded_reasoning(evaluator['reasoning'])
    if 'intervals' in evaluator:  # the evaluator checks them
        made['intervals'] = evaluator['intervals']
    made |= _postprocessor(evaluator, 'the evaluator')
    return {'evaluator': {**made, 'type': kind}} | _postprocessor(given, 'the data set')


def _postprocessor(config: Mapping[str, Any], whose: str) -> dict[str, Any]:
    if 'dataset_postprocessor' in config:
        raise UnknownPartError(f'dataset_postprocessor of {whose} is not one of this package')
    given = config.get('pred_postprocessor')
    if not given:
        return {}
    what = f'pred_postprocessor of {whose}'
    kind = _known(_mapping(given, what).get('type'), POSTPROCESSORS, what)
    made = _arguments(given, {*inspect.signature(kind).parameters} - {'text'}, what)
    return {'pred_postprocessor': {**made, 'type': kind}}


def _reader(config: Any) -> dict[str, Any]:
    names = {'input_columns', 'output_column', 'test_range'}
    made = _arguments(_mapping(config, 'reader_cfg'), names, 'reader_cfg')
    if 'test_range' in made and not RANGE.fullmatch(str(made['test_range'])):
        raise UnknownPartError(f'test_range is {str(made["test_range"])[:80]!r}, not a range')
    return made


def _arguments(
    config: Mapping[str, Any], names: set[str], of: str, apart: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the arguments in a config except those in ``apart``; all must be known and plain."""
    made = {key: value for key, value in config.items() if key not in ('type', *apart)}
    for name, value in made.items():
        mapped = name == 'columns' and isinstance(value, Mapping)
        plain = _is_plain([*value.values()] if mapped else value)
        if name not in names or not (value is None or plain):
            raise UnknownPartError(f'{of} sets {str(name)[:80]!r}, which a run folder may not set')
    return made


def _known(name: Any, known: set[str], what: str) -> Any:
    if not isinstance(name, str) or name not in known:
        raise UnknownPartError(f'{what} is {str(name)[:80]!r}, not one of this package')
    module, _, attribute = name.rpartition('.')
    return getattr(importlib.import_module(module), attribute)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnknownPartError(f'{what} is not a dict(…)')
    return value


def _is_plain(value: Any) -> bool:
    """Tell whether a value is a text, a number, a truth value, or a list of such lists."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, (str, int, float))


def _is_there(path: Any) -> bool:
    return isinstance(path, str) and (Path(path).is_file() or Path(path).is_dir())
