"""A config that OpenCompass wrote down, read as data: nothing of it is run.

What OpenCompass dumps into a run's folder are assignments of literals, with ``dict(name=value)``
besides. A folder that somebody else made may hold any Python there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ['read_literal_config']

NEEDED = ('models', 'datasets')
READ = (*NEEDED, 'model_dataset_combinations', 'eval')


def read_literal_config(path: Path) -> Mapping[str, Any]:
    """Return the part of a dumped config that tells the tasks: models, data sets, partitioner.

    Raises:
        ValueError: If it isn't Python, or holds more than data there.
    """
    config: dict[str, Any] = {}
    try:
        for statement in ast.parse(path.read_bytes()).body:
            for name in _names(statement):
                if name in READ and isinstance(statement, ast.Assign):
                    config[name] = _value(statement.value)
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f'{path}: not a config as OpenCompass writes it down: {error}') from error
    for name in NEEDED:
        if not isinstance(config.get(name), list):
            raise ValueError(f'{path}: not a config of OpenCompass: it has no list of {name}')
    return config


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
