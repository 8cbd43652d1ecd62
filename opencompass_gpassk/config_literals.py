"""A config that OpenCompass wrote down, read as data: nothing of it is run.

What OpenCompass dumps into a run's folder are assignments of literals, with ``dict(name=value)``
besides. A folder that somebody else made may hold any Python there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.stored_files import CONFIG_BYTES, read_bytes

__all__ = ['read_literal_config']

NEEDED = ('models', 'datasets')
READ = (*NEEDED, 'model_dataset_combinations', 'eval', 'summarizer')
MOST_PAIRS = 100_000  # of a model and a data set
LONGEST_NAME = 255  # bytes of a file's name


def read_literal_config(path: Path) -> Mapping[str, Any]:
    """Return the part of a dumped config that tells the tasks: models, data sets, partitioner.

    Raises:
        ValueError: If it isn't Python, holds more than data there, or asks for what no run has.
    """
    config: dict[str, Any] = {}
    try:
        for statement in ast.parse(read_bytes(path, CONFIG_BYTES)).body:
            for name in _names(statement):
                if name in READ and isinstance(statement, ast.Assign):
                    config[name] = _value(statement.value)
        _check(config)
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f'{path}: not a config as OpenCompass writes it down: {error}') from error
    return config


def _check(config: Mapping[str, Any]) -> None:
    """Raise a ValueError if models and data sets can't be those of a run."""
    combinations = config.get('model_dataset_combinations') or [config]
    if not isinstance(combinations, list):
        raise ValueError('model_dataset_combinations is no list')
    for one in [config, *combinations]:
        for name in NEEDED:
            if not isinstance(one, Mapping) or not isinstance(one.get(name), list):
                raise ValueError(f'it has no list of {name}')
    pairs = sum(len(one['models']) * len(one['datasets']) for one in combinations)
    if pairs > MOST_PAIRS:
        raise ValueError(f'it names {pairs} pairs of a model and a data set, above {MOST_PAIRS}')
    for one in combinations:
        for model in one['models']:
            for part in model if isinstance(model, (list, tuple)) else [model]:
                _check_names(part, ('type', 'path'))
        for dataset in one['datasets']:
            _check_names(dataset, ('path',))


def _check_names(config: Any, otherwise: Sequence[str]) -> None:
    """Raise a ValueError if what files are named after is no name of one below a folder."""
    if not isinstance(config, Mapping):
        raise ValueError(f'a {type(config).__name__} stands for a model or a data set')
    for field in ['abbr'] if 'abbr' in config else otherwise:
        name = config.get(field)
        if not isinstance(name, str) or not name or '\0' in name:
            raise ValueError(f'{field} of a model or a data set is {str(name)[:60]!r}')
        if field == 'abbr' and (
            name.startswith('/')
            or any(
                part in ('', '.', '..') or len(part.encode('utf-8', 'replace')) > LONGEST_NAME
                for part in name.split('/')
            )
        ):
            raise ValueError(f'abbr {name[:60]!r} names no file below the run')


def _names(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return _pairs(zip(node.keys, node.values, strict=True))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == 'dict':
        if node.args:
            raise ValueError(f'line {node.lineno}: dict() of something else')
        keys = [None if word.arg is None else ast.Constant(word.arg) for word in node.keywords]
        return _pairs(zip(keys, [word.value for word in node.keywords], strict=True))
    return ast.literal_eval(node)


def _pairs(pairs: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key is None:  # ** of another
            found.update(_value(value))
        else:
            found[_value(key)] = _value(value)
    return found
