"""OpenCompass's wrappers of providers' APIs that take sampling as attributes or in a dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.inference.api_wrappers import UPSTREAM, WrapperBackend
from opencompass_gpassk.inference.backend import LENGTHS
from opencompass_gpassk.inference.sampling import NOT_APPLIED


@dataclass(frozen=True)
class Parameters:
    """The parameters of a protocol that a wrapper sends with a request.

    Attributes:
        names: Their names. One that is an attribute of the wrapper is set there, others in
            ``settings``. ``do_sample`` turns sampling on.
        settings: The wrapper's attribute with further fields of a request; '' if it has none.
        keep_all: The top_k that keeps all tokens; None if the service has none.
    """

    names: tuple[str, ...]
    settings: str = 'generation_kwargs'
    keep_all: int | None = None


USUAL = ('temperature', 'top_p')
# Module and class in opencompass.models → what it sends. Only what the wrapper's own defaults, its
# config in OpenCompass or its SDK name: a service may refuse a request with other fields, and some
# wrappers return the refusal as the model's response.
PROVIDERS = {
    'ai360_api.AI360GPT': Parameters((*USUAL, 'top_k', 'repetition_penalty'), keep_all=0),
    'baidu_api.ERNIEBot': Parameters(USUAL),
    'bailing_api_oc.BailingAPI': Parameters((*USUAL, 'top_k'), keep_all=-1),
    'bluelm_api.BlueLMAPI': Parameters((*USUAL, 'top_k')),
    'bytedance_api.ByteDance': Parameters((*USUAL, 'top_k'), keep_all=0),
    'claude_sdk_api.ClaudeSDK': Parameters((*USUAL, 'top_k'), 'claude_extra_kwargs'),
    'doubao_api.Doubao': Parameters(USUAL),
    'gemini_api.Gemini': Parameters((*USUAL, 'top_k'), ''),
    'gemini_sdk_api.GeminiSDK': Parameters((*USUAL, 'top_k', 'seed'), 'gemini_extra_kwargs'),
    'lightllm_api.LightllmAPI': Parameters(
        (*USUAL, 'top_k', 'repetition_penalty', 'do_sample'), keep_all=-1
    ),
    'qwen_api.Qwen': Parameters((*USUAL, 'top_k', 'repetition_penalty', 'seed')),
    'rendu_api.Rendu': Parameters(USUAL),
    'sensetime_api.SenseTime': Parameters((*USUAL, 'repetition_penalty'), 'params'),
    'telechat_api.telechat_api.TeleChat': Parameters((*USUAL, 'repetition_penalty')),
    'telechat_api.telechat_api_streaming.TeleChatStream': Parameters(
        (*USUAL, 'repetition_penalty')
    ),
    'unigpt_api.UniGPT': Parameters(('temperature',), ''),
    'yayi_api.Yayi': Parameters(('temperature',), ''),
}


def parameters_taken(wrapper: type) -> Parameters | None:
    """Return what a class of wrappers sends; None if it is unknown.

    A class of the user's own is known if it replaces no method of OpenCompass's class.
    """
    methods: set[str] = set()
    for base in wrapper.__mro__:
        name = f'{base.__module__}.{base.__name__}'.removeprefix(f'{UPSTREAM}models.')
        if name in PROVIDERS:
            return None if methods & set(vars(base)) else PROVIDERS[name]
        methods |= {method for method in vars(base) if not method.startswith('__')}
    return None


class ProviderBackend(WrapperBackend):
    """The wrappers in :data:`PROVIDERS`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.taken = taken = parameters_taken(type(self.model)) or Parameters(())
        self.keep_all = taken.keep_all
        self.left_out |= {
            name
            for name, value in self.fields(0).items()
            if name not in taken.names or value is None
        }
        self.tell()
        if NOT_APPLIED in self.applied:
            self.note(
                f'{type(self.model).__name__} cannot set {self.applied[NOT_APPLIED]}: responses '
                'are drawn with the values of its provider, and results say so'
            )

    def set_parameters(self, model: Any, seed: int) -> None:
        """Set the protocol in a request's own copy of the wrapper."""
        sent = self.fields(seed)
        if self.sampling.mode != 'model':
            for name in self.sampling.parameters.keys() & vars(model).keys():
                setattr(model, name, sent.pop(name, None))
            if 'do_sample' in self.taken.names:
                sent['do_sample'] = self.sampling.mode == 'sampled'
        if self.taken.settings:
            own = getattr(model, self.taken.settings) or {}
            # The length stays too: not every wrapper sends max_out_len.
            lengths = {name: own[name] for name in own if name in LENGTHS}
            setattr(model, self.taken.settings, {**self.keep(own), **lengths, **sent})
