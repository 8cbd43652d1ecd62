"""A run of OpenCompass: its folder, and the models and data sets that its config asks for.

A config in a run's folder is read as data (assignments of literals and ``dict(name=value)``), since
a folder made by someone else may contain any Python code. Only the user's own config is executed.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.stored_files import CONFIG_BYTES, read_bytes

NEEDED = ('models', 'datasets')
# From the name at the beginning of a line up to the next statement, which is not parsed.
ASSIGNMENT = re.compile(
    rb'^(models|datasets|model_dataset_combinations|infer|summarizer)[ \t]*=(?!=)(.*?)'
    rb'(?=^[^\s)\]}#]|\Z)',
    re.MULTILINE | re.DOTALL,
)
MOST_PARSED = 1_800_000  # bytes, for a thousand data sets; parsed, "{},{},…" takes a gigabyte
MOST_PAIRS = 100_000  # pairs of a model and a data set
LONGEST_NAME = 255  # bytes of a file's name
N_OF_NAME = re.compile(r'[-_]n\d+$')  # the samples of each problem, in the name of a data set
SHOWN = 200  # characters of a value in a message
# What mmengine replaces in the text of a config before Python parses it: {{$VAR:default}},
# {{ _base_.name }}, {{ fileDirname }}. Braces of a dictionary around a value may close it too.
REPLACED = re.compile(r"""\{\{['"]?\s*(\$|_base_|file)""")
MOST_SAMPLES = 4096  # of a problem; an untrusted config that asks for more was made to do harm


def read_literal_config(path: Path) -> Mapping[str, Any]:
    """Return the part of a dumped config that defines the tasks: models, data sets, partitioner.

    Raises:
        ValueError: If it isn't Python, is more than data, or its values can't be a run's.
    """
    text = read_bytes(path, CONFIG_BYTES)
    config: dict[str, Any] = {}
    try:
        assigned = ASSIGNMENT.findall(text)
        if sum(len(value) for _, value in assigned) > MOST_PARSED:
            raise ValueError(f'its models and data sets take more than {MOST_PARSED} bytes')
        for name, value in assigned:
            tree = ast.parse(value.strip(), mode='eval')
            config[name.decode()] = ast.literal_eval(_Literals().visit(tree))
        _check(config)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f'{path}: not a config as OpenCompass writes it down: {error}') from error
    return config


def _check(config: Mapping[str, Any]) -> None:
    """Raise a ValueError if models and data sets can't be those of a run."""
    combinations = config.get('model_dataset_combinations') or [config]
    if not isinstance(combinations, list):
        raise ValueError('model_dataset_combinations is not a list')
    for one in [config, *combinations]:
        for name in NEEDED:
            if not isinstance(one, Mapping) or not isinstance(one.get(name), list):
                raise ValueError(f'it has no list of {name}')
    pairs = sum(len(one['models']) * len(one['datasets']) for one in combinations)
    if pairs > MOST_PAIRS:
        raise ValueError(f'it has {pairs} pairs of a model and a data set, above {MOST_PAIRS}')
    for one in combinations:
        for model in one['models']:
            for part in model if isinstance(model, (list, tuple)) else [model]:
                _check_names(part, ('type', 'path'))
        for dataset in one['datasets']:
            _check_names(dataset, ('path',))


def _check_names(config: Any, otherwise: Sequence[str]) -> None:
    """Raise a ValueError if a name for files is not one inside the run's folder."""
    if not isinstance(config, Mapping):
        raise ValueError(f'a {type(config).__name__} stands for a model or a data set')
    if not isinstance(config.get('summarizer_abbr', ''), str | None):
        raise ValueError('summarizer_abbr of a model is not a text')
    for key in ['abbr'] if 'abbr' in config else otherwise:
        name = config.get(key)
        if not isinstance(name, str) or not name or '\0' in name:
            raise ValueError(f'{key} of a model or a data set is {str(name)[:60]!r}')
        if key == 'abbr' and (
            name.startswith('/')
            or any(
                part in ('', '.', '..') or len(part.encode('utf-8', 'replace')) > LONGEST_NAME
                for part in name.split('/')
            )
        ):
            raise ValueError(f'abbr {name[:60]!r} names no file inside the run')


class _Literals(ast.NodeTransformer):
    """Writes ``dict(name=value)`` as ``{'name': value}``, which is a literal."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        names = [word.arg for word in node.keywords]
        if node.args or getattr(node.func, 'id', '') != 'dict' or None in names:
            return node
        return ast.Dict(
            [ast.Constant(name) for name in names], [word.value for word in node.keywords]
        )


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        folder: The timestamp folder.
        pairs: (model, data set) abbrs in the order of the config.
        samples: Data set → how often each problem is sampled; not of those cut by a test_range.
        min_coverage: Data set → least share of the responses that an evaluation needs.
    """

    folder: Path
    pairs: list[tuple[str, str]]
    samples: Mapping[str, int] = field(default_factory=dict)
    min_coverage: Mapping[str, float] = field(default_factory=dict)


def find_run(path: Path) -> Path:
    """Return the run at a path: the timestamp folder itself, or the newest run of a work dir.

    Raises:
        ValueError: If there is no run.
    """
    if not path.is_dir():
        raise ValueError(f'{path}: there is no such folder; name the work dir of a run')
    if (path / 'configs').is_dir():
        return path
    runs = [folder.parent for folder in path.glob('*/configs') if folder.is_dir()]
    if not runs:
        raise ValueError(
            f'{path}: there is no run of OpenCompass in it; name its work dir, such as '
            'outputs/default, or a timestamp folder in that'
        )
    # A run that died at its start has a folder, and no config.
    return max(runs, key=lambda run: (any(run.glob('configs/*.py')), run.name))


def require_inside(run: Path, path: Path) -> None:
    """Refuse to write a file whose folder is, or is in, a link that leads out of the run."""
    if not path.parent.resolve().is_relative_to(run.resolve()):
        raise ValueError(f'{path.parent} is a link out of the run; replace it by a folder')


def read_run_config(folder: Path) -> Mapping[str, Any]:
    """Return the config that OpenCompass wrote when it was last started on a run.

    Args:
        folder: The timestamp folder. It may come from someone else, so the config is read as data.

    Raises:
        ValueError: If there is no config, or it can't be read.
    """
    return read_literal_config(run_config(folder))


def run_config(folder: Path) -> Path:
    """Return the file of a run's config.

    Raises:
        ValueError: If there is no config.
    """
    configs = sorted(
        (folder / 'configs').glob('*.py'), key=lambda path: (path.lstat().st_mtime_ns, path.name)
    )
    if not configs:
        raise ValueError(f'{folder / "configs"}: there is no config; OpenCompass did not start')
    return configs[-1]


def require_literal(value: Any, place: str) -> None:
    """Refuse what would not come back as the same data when OpenCompass reads its config again.

    OpenCompass writes the config into the run, and one for each task. mmengine replaces variables
    in their text, in which a default may end its quotes and run as code, and does not escape keys.

    Args:
        value: A config, or a value in one.
        place: Its name in messages, such as ``models``.

    Raises:
        ValueError: If a key or a value would be replaced, or a key would not be quoted.
    """
    if isinstance(value, Mapping):
        for key, one in value.items():
            if not isinstance(key, int | float | None) and repr(key) != f"'{key}'":
                raise ValueError(
                    f'{place}: a key is {short_line(repr(key), SHOWN)}; OpenCompass would write it '
                    'without escapes; use letters, digits, blanks and underscores'
                )
            require_literal(str(key), f'{place}: a key')
            require_literal(one, f'{place}.{key}')
    elif isinstance(value, list | tuple | set | frozenset):
        for number, one in enumerate(value):
            require_literal(one, f'{place}[{number}]')
    elif found := REPLACED.search(str(value)):
        raise ValueError(
            f'{place} is {short_line(repr(value), SHOWN)}; in a config, OpenCompass would replace '
            f'what begins with {found[0]}, and might run it as code; use another name or text'
        )


def planned(config: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return each pair of a model's config and the config of a data set that it answers."""
    combinations = config.get('model_dataset_combinations') or [config]
    return [(m, d) for one in combinations for m in one['models'] for d in one['datasets']]


def planned_run(folder: Path, config: Mapping[str, Any]) -> Run:
    """Return a run with the models and data sets that its config asks for."""
    pairs = [(_model_abbr(model), _dataset_abbr(dataset)) for model, dataset in planned(config)]
    datasets = {_dataset_abbr(dataset): dataset for _, dataset in planned(config)}
    coverage = {abbr: evaluator_of(one).get('min_coverage') for abbr, one in datasets.items()}
    return Run(
        folder,
        list(dict.fromkeys(pairs)),
        {
            abbr: n
            for abbr, one in datasets.items()
            if type(n := one.get('n', 1)) is int
            and 1 <= n <= MOST_SAMPLES
            and not _section(one, 'reader_cfg').get('test_range')
        },
        {abbr: share for abbr, share in coverage.items() if isinstance(share, (int, float))},
    )


def evaluator_of(dataset: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the config of a data set's evaluator, {} if it has none."""
    return _section(_section(dataset, 'eval_cfg'), 'evaluator')


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name)
    return found if isinstance(found, Mapping) else {}


def _model_abbr(config: Any) -> str:
    """Return a model's name in file paths by OpenCompass's rule, without its slow import."""
    if isinstance(config, (list, tuple)):
        return '_'.join(map(_model_abbr, config))
    if 'abbr' in config:
        return str(config['abbr'])
    folders = '_'.join(str(Path(config['path']).resolve()).split('/')[-2:])
    return f'{config["type"]}_{folders}'.replace('/', '_')


def _dataset_abbr(config: Mapping[str, Any]) -> str:
    """Return a data set's name in file paths, by the same rule."""
    if 'abbr' in config:
        return str(config['abbr'])
    name = f'_{config["name"]}' if 'name' in config else ''
    return f'{config["path"]}{name}'.replace('/', '_')


# Settings that change no verdict, or depend on the machine: in a hash they would separate equal
# judges. Secrets are left out too: not even a hash of one belongs in a file's name.
SECRETS = {'key', 'api_key', 'openai_api_key', 'access_key', 'secret_key', 'secret', 'token', 'org'}
OPERATION = {'abbr', 'dataset_cfg', 'query_per_second', 'retry', 'run_cfg', 'verbose'}


def config_hash(config: Mapping[str, Any]) -> str:
    """Return eight hexadecimal digits that name a config, the same in every process.

    An empty ``judge_cfg`` stands for the model of the environment variable OC_JUDGE_MODEL, as in
    OpenCompass.
    """
    return stable_hash(_plain(config))[:8]


def _plain(value: Any, name: str = '') -> Any:
    """Return a value as JSON can hold it; classes and functions become their import paths."""
    if name == 'judge_cfg' and not value:
        return {'OC_JUDGE_MODEL': os.environ.get('OC_JUDGE_MODEL', '')}
    if isinstance(value, Mapping):
        kept = ((str(k), v) for k, v in value.items() if k not in SECRETS | OPERATION)
        return {key: _plain(one, key) for key, one in kept}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if name == 'type' and isinstance(value, str) and '.' in value:
        # A class can be imported from several modules; its own module gives one name.
        from mmengine.utils import get_object_from_string

        value = get_object_from_string(value) or value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, functools.partial):
        return [_plain(value.func), _plain(value.args), _plain(value.keywords)]
    if hasattr(value, '__qualname__'):
        return f'{value.__module__}.{value.__qualname__}'
    return re.sub(r' at 0x[0-9a-f]+', '', repr(value))


def named(value: Any) -> Any:
    """Return a config with classes replaced by their names."""
    if isinstance(value, Mapping):
        return {str(name): named(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [named(one) for one in value]
    return f'{value.__module__}.{value.__qualname__}' if isinstance(value, type) else value
