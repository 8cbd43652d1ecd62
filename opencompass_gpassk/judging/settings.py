"""How verdicts are reached: the settings behind ``judge=`` in configs and on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from opencompass_gpassk.formats.parse_settings import Settings, gpus_asked, settings_from
from opencompass_gpassk.inference.http_client import read_addresses
from opencompass_gpassk.judging.prompt import BUILT_IN, Prompt
from opencompass_gpassk.judging.verdict import MENUS
from opencompass_gpassk.runs.config import SECRETS, named

NO_GPU = (
    'this process sees no GPU; OpenCompass gives an evaluation the GPUs of num_gpus beside its '
    'evaluator: eval_cfg=dict(num_gpus={}, evaluator=dict(type=GPassKEvaluator, judge=…))'
)


def judge_name(config: Mapping[str, Any]) -> str:
    """Return the class name of the evaluator."""
    kind = config['type']
    return kind.rsplit('.', 1)[-1] if isinstance(kind, str) else kind.__name__


def check_gpus(config: Mapping[str, Any]) -> None:
    """Refuse a model or an evaluator that asks for GPUs where there are none.

    OpenCompass gives an evaluation GPUs for ``eval_cfg.num_gpus``, or for a ``judge_cfg`` directly
    in ``eval_cfg.evaluator``. The config of a judge is one level deeper.

    Raises:
        ValueError: If any ``run_cfg.num_gpus`` in the config is above 0 and no GPU is visible.
    """
    if (gpus := gpus_asked(config)) and not sees_gpus():
        raise ValueError(
            f'judge: run_cfg.num_gpus of {judge_name(config)} is {gpus}, but {NO_GPU.format(gpus)}'
        )


def sees_gpus() -> bool:
    """Tell whether torch finds a GPU that this process may use."""
    if os.environ.get('CUDA_VISIBLE_DEVICES') == '':
        return False
    import torch

    return torch.cuda.is_available()


NO_SECRET = {'', 'ENV', 'EMPTY', 'NONE'}  # values in OpenCompass's configs that are not keys


def secret_in(value: Any) -> str:
    """Return the field in which a config holds a secret key; '' if it holds none."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            given = one if isinstance(one, (list, tuple)) else [one]
            real = [part for part in given if str(part or '').strip().upper() not in NO_SECRET]
            if real and str(name) in SECRETS - {'org'}:
                return str(name)
    values = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (Mapping, list, tuple)):
        return next((found for one in values if (found := secret_in(one))), '')
    return ''


Mode = Literal['rule', 'llm', 'cascade']
Match = Literal['value', 'exact']
MODES: tuple[str, ...] = get_args(Mode)
MATCHES: tuple[str, ...] = get_args(Match)
AboveZero = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]
OF_RULES = ('mode', 'match', 'undecided')
# Verdicts depend on these settings. Others choose where a judge is, or what is sent there.
OF_VERDICTS = (
    *(*OF_RULES, 'model', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length'),
    *('recheck_different', 'temperature', 'max_tokens'),
)
OWN_FIELDS = {
    'model': 'set model instead',
    'messages': 'they hold the prompt',
    'stream': 'replies are read whole',
}
VARIABLE = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')


@dataclass(frozen=True)
class JudgeSettings(Settings):
    """How verdicts are reached.

    Attributes:
        mode: ``'rule'`` compares answers by rule, without a judge; ``'llm'`` asks a judge about
            every answer, as in arXiv 2412.13147; ``'cascade'`` asks about those that the rules
            neither confirm nor find to be another number or option.
        match: When rules call an answer correct: ``'value'``, if its value equals the gold's, or
            ``'exact'``, if it is the same text, as in arXiv 2501.11790; only in mode ``'rule'``.
        undecided: What an answer is if the rules can't decide: ``'unjudged'`` or, for a metric
            without a judge, ``'incorrect'``; only in mode ``'rule'``.
        model: The judge's name at its endpoint, by default the one in ``OC_JUDGE_MODEL``.
        api_base: URL of an OpenAI-compatible endpoint, or several; by default those in
            ``OC_JUDGE_API_BASE``, separated by commas.
        api_key_env: Name of the environment variable that holds the key.
        prompt: ``'default'``, ``'opencompass'`` for OpenCompass's prompt for LiveMathBench, or the
            path of a file with placeholders {question}, {gold}, {answer}.
        menu: The format of the judge's replies: ``'boxed'``, ``'compassverifier'`` or
            ``'xverify'``.
        candidate: What the judge sees: the extracted ``'answer'``, or the whole ``'response'``
            without its thoughts.
        no_answer: How a finished response without a recognised answer is treated: ``'tail'``: the
            judge sees its last ``tail_length`` characters; or ``'incorrect'``, without a call.
        tail_length: Number of characters.
        recheck_different: In a cascade, ask also about numbers and options that differ by rule.
        temperature: The judge's sampling temperature.
        max_tokens: Length limit of a reply in tokens, thoughts included.
        extra_body: Further request fields, such as ``{'seed': 0}``; a value of None removes one.
        max_concurrency: Greatest number of concurrent requests to one endpoint.
        timeout: Seconds for one request; more at a server that replied to none in them.
        deadline: Seconds for all requests of one data set; None for no limit.
        retries: How often a failed request is tried again.
        give_up_after: Seconds without any reply from any endpoint, after which judging ends.
        price_per_mtok: Price of a million tokens: one number, or one for prompts, one for replies.
        recorded: Signature of an earlier judging under these settings. No judge is asked: only
            its verdicts in the store are used. See :func:`recorded_judge`.

    Raises:
        ValueError: If a setting is out of its range.
    """

    name: ClassVar[str] = 'judge'
    text_sets: ClassVar[str] = 'mode'
    example: ClassVar[str] = "dict(model='…', api_base='…')"

    mode: Mode = 'cascade'
    match: Match = 'value'
    undecided: Literal['unjudged', 'incorrect'] = 'unjudged'
    model: str | None = None
    api_base: str | Sequence[str] | None = None
    api_key_env: str = 'OC_JUDGE_API_KEY'
    prompt: str = 'default'
    menu: Literal['boxed', 'compassverifier', 'xverify'] = 'boxed'
    candidate: Literal['answer', 'response'] = 'answer'
    no_answer: Literal['incorrect', 'tail'] = 'tail'
    tail_length: AboveZero = 2000
    recheck_different: bool = False
    temperature: Annotated[float, Field(ge=0)] = 0.0
    max_tokens: AboveZero = 8192
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    max_concurrency: AboveZero = 256
    timeout: Seconds = 600.0
    deadline: Seconds | None = None
    retries: Annotated[int, Field(ge=0)] = 12
    give_up_after: Seconds = 300.0
    price_per_mtok: Price | Annotated[Sequence[Price], Field(min_length=2, max_length=2)] | None = (
        None
    )
    recorded: str = ''

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.match == 'exact' and self.mode != 'rule':
            raise ValueError(
                f"match of judge is 'exact', but in mode {self.mode!r} a judge may accept other "
                "texts; use mode 'rule', or leave match out"
            )
        if self.undecided == 'incorrect' and (self.mode, self.match) != ('rule', 'value'):
            why = f'match {self.match!r} decides' if self.mode == 'rule' else 'a judge is asked'
            raise ValueError(
                f"undecided of judge is 'incorrect', but {why}; use mode 'rule' with match "
                "'value', or leave undecided out"
            )
        if not VARIABLE.fullmatch(self.api_key_env):
            raise ValueError(
                'api_key_env of judge is not the name of an environment variable; it names the '
                'one that holds the key, such as OC_JUDGE_API_KEY, and is not the key itself'
            )
        own = [name for name, menu in MENUS.items() if self.prompt in menu.prompts]
        if self.prompt in BUILT_IN and self.menu not in own:
            raise ValueError(
                f'menu of judge is {self.menu!r}, but prompt {self.prompt!r} asks for replies of '
                f'menu {" or ".join(own)}; leave menu out, or name the file that holds the prompt '
                'of your judge model: prompt=PATH'
            )
        for name in OWN_FIELDS.keys() & self.extra_body.keys():
            raise ValueError(
                f'extra_body of judge sets {name!r}, which it must not: {OWN_FIELDS[name]}'
            )

    @classmethod
    def of(cls, given: Any) -> JudgeSettings:
        """Return the settings of a config: a mode, or a mapping of these fields.

        Raises:
            ValueError: If a field is unknown or out of its range; it names the field.
        """
        if secret := secret_in(given):
            raise ValueError(
                f'judge holds {secret!r}: a key must not stand in a config, which is written to '
                'the work dir; put it into the environment variable OC_JUDGE_API_KEY, or another '
                "that api_key_env='NAME' names"
            )
        return super().of(given)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, as JSON can hold them."""
        return {name: named(value) for name, value in self.changed().items()}

    def resolved(self) -> dict[str, Any]:
        """Return :meth:`as_dict`, with model and endpoints from the environment filled in."""
        given = self.as_dict()
        given.pop('recorded', None)
        if self.mode == 'rule' or self.recorded:
            return given
        variables = {'model': 'OC_JUDGE_MODEL', 'api_base': 'OC_JUDGE_API_BASE'}
        found = {name: os.environ.get(variable, '') for name, variable in variables.items()}
        return {name: value for name, value in found.items() if value} | given

    @property
    def rules(self) -> str:
        """The name of the rules in signatures."""
        special = 'undecided-incorrect' if self.undecided == 'incorrect' else self.match
        return 'rule' if special == 'value' else f'rule:{special}'

    @property
    def policy(self) -> list[Any]:
        """What verdicts depend on besides the judge: what it sees, and which answers it gets."""
        asked = self.recheck_different or 'not number or choice'
        return [self.candidate, self.no_answer, self.tail_length, asked]

    @property
    def decoding(self) -> dict[str, Any]:
        """The settings that replies of a judge over HTTP depend on."""
        return {
            'temperature': self.temperature,
            'max_tokens': self.max_tokens,
            'extra_body': dict(self.extra_body),
        }

    @property
    def model_name(self) -> str:
        """The judge's name at its endpoint.

        Raises:
            ValueError: If no name is set.
        """
        name = self.model or os.environ.get('OC_JUDGE_MODEL', '').strip()
        if not name:
            raise ValueError(
                f"judge: mode {self.mode!r} asks a model, but none is named; set model='…' in the "
                'judge config or the environment variable OC_JUDGE_MODEL, and where it is served '
                'with api_base or OC_JUDGE_API_BASE'
            )
        return name

    @property
    def endpoints(self) -> list[str]:
        """The URLs of the judge's endpoints.

        Raises:
            ValueError: If no endpoint is set.
        """
        given = self.api_base or os.environ.get('OC_JUDGE_API_BASE', '')
        urls = given.split(',') if isinstance(given, str) else list(given)
        found = [url.strip() for url in urls if url.strip()]
        if not found:
            raise ValueError(
                "judge: no endpoint is named; set api_base='http://…/v1' in the judge config or "
                'the environment variable OC_JUDGE_API_BASE (several are separated by commas)'
            )
        return found

    @property
    def prices(self) -> tuple[float, float] | None:
        """Price of a million prompt tokens and of a million completion tokens."""
        given = self.price_per_mtok
        if given is None:
            return None
        both = given if isinstance(given, Sequence) else (given, given)
        return both[0], both[1]


def read_settings(named: str, undecided: str | None = None) -> JudgeSettings:
    """Return the settings that a command line names: a mode, or a JSON file of settings.

    With a mode, the environment variable GPASSK_MATCH sets ``match``. If ``undecided`` is given, it
    goes before the file's.

    Raises:
        ValueError: If it is neither, or a setting in the file is wrong; it names file and setting.
    """
    given = {'undecided': undecided} if undecided else {}
    if named in MODES:
        return JudgeSettings.of({'mode': named, 'match': environment_match(), **given})
    if not Path(named).is_file():
        raise ValueError(
            f'judge {named!r} is neither {", ".join(MODES)} nor a JSON file of settings such as '
            '{"model": "…", "api_base": "http://…/v1"}'
        )
    return settings_from(Path(named), lambda read: JudgeSettings.of({**read, **given}))


def recorded_judge(settings: Mapping[str, Any], signature: str = '') -> dict[str, Any]:
    """Return the settings of a judge that a result records, which may be someone else's.

    It is only asked if the environment sets an address (OC_JUDGE_API_BASE) and names no other
    model, and the prompt is a built-in one. Otherwise only stored verdicts are used.

    Args:
        settings: The settings in the result.
        signature: The judge's signature in the result, by which stored verdicts are found.

    Raises:
        ValueError: If a setting is out of its range.
    """
    kept = {name: settings[name] for name in OF_VERDICTS if name in settings}
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


def environment_match(default: str = 'value') -> str:
    """Return the setting ``match`` in the environment variable GPASSK_MATCH, if it is set."""
    match = os.environ.get('GPASSK_MATCH', '').strip() or default
    if match and match not in MATCHES:
        raise ValueError(f'GPASSK_MATCH is {match!r}; choose one of {", ".join(MATCHES)}')
    return match


def configured(mode: str = 'rule', **settings: Any) -> str | dict[str, Any]:
    """Return the value of ``judge=`` for a config that environment variables can change.

    Errors in the settings are raised here, before the inference, not after it.

    Args:
        mode: The mode unless GPASSK_JUDGE is set; GPASSK_MATCH sets ``match``.
        **settings: Fields of :class:`JudgeSettings`; model and endpoints are by default those in
            OC_JUDGE_MODEL and OC_JUDGE_API_BASE.

    Raises:
        ValueError: If a setting is wrong, or nothing names the judge that the mode asks.
    """
    named = os.environ.get('GPASSK_JUDGE', '').strip()
    if match := environment_match(''):
        settings['match'] = match
    if named and named not in MODES:
        raise ValueError(f'GPASSK_JUDGE is {named!r}; choose one of {", ".join(MODES)}')
    chosen = JudgeSettings.of({**settings, 'mode': named or mode})
    if chosen.mode == 'rule':
        rule = {name: one for name, one in chosen.as_dict().items() if name in OF_RULES}
        return rule if len(rule) > 1 else 'rule'
    if chosen.prompt not in BUILT_IN:
        Prompt.load(chosen.prompt, 'en')
    named_judge = {'model': chosen.model_name, 'api_base': chosen.endpoints}
    read_addresses(chosen.endpoints)
    return {**settings, 'mode': chosen.mode, **named_judge}
