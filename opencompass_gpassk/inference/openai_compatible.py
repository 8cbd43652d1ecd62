"""``OpenAICompatible``: a model behind OpenAI-compatible servers, asked as fast as they answer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any, TypeVar

from opencompass.models.base_api import BaseAPIModel
from opencompass.registry import MODELS

from opencompass_gpassk.formats.parse_settings import check_names
from opencompass_gpassk.inference.backend import OURS, Backend, Options, Output
from opencompass_gpassk.inference.http_client import (
    LENGTH,
    NEWER_LENGTH,
    Client,
    ClientError,
    Counts,
    in_thread,
)
from opencompass_gpassk.inference.request_loop import InferenceStoppedError
from opencompass_gpassk.inference.sample_requests import Request
from opencompass_gpassk.inference.sampling import MIN_P, NEUTRAL
from opencompass_gpassk.inference.server_replies import Failure, GivenUp, Outcome, refuses

ROLES = {'HUMAN': 'user', 'BOT': 'assistant', 'SYSTEM': 'system'}
CHAT = {
    'round': [
        {'role': 'HUMAN', 'api_role': 'HUMAN'},
        {'role': 'BOT', 'api_role': 'BOT', 'generate': True},
    ],
    'reserved_roles': [{'role': 'SYSTEM', 'api_role': 'SYSTEM'}],
}
# Fields that no protocol names. They are sent because a server may have other values of its own.
REPEAT = 'repeat_penalty'  # llama.cpp's name for repetition_penalty
UNNAMED = (MIN_P, REPEAT)
PROTOCOL = (*NEUTRAL, 'seed', 'stop', *UNNAMED)
OWN_FIELDS = {'model', 'messages', 'stream'} | OURS - {'seed'}
OFFICIAL = ('api.openai.com', 'openai.azure.com')
REASONING = ('o1', 'o3', 'o4', 'gpt-5')
# What follows if a field is not sent.
EFFECTS = {
    'seed': ': a repeated run will draw other samples',
    'stop': ': responses may go on after the text that should end them',
}
RESUME = 'Finished responses are saved; resume with opencompass CONFIG -r'
KeyT = TypeVar('KeyT')


@MODELS.register_module()
class OpenAICompatible(BaseAPIModel):
    """A model behind one or many OpenAI-compatible servers: vLLM, SGLang, LMDeploy, a provider.

    ::

        dict(
            type=OpenAICompatible,
            abbr='qwen2.5-7b-instruct',
            path='Qwen/Qwen2.5-7B-Instruct',
            api_base=['http://node1:8000/v1', 'http://node2:8000/v1'],
            max_out_len=8192,
            batch_size=1024,
        )

    Hundreds of requests run at once; their number follows what the servers take. A request is sent
    again only after it failed, with its own seed, and never while it runs: of two responses to one
    request the shorter would come first. A prompt that the server refuses loses its response alone.
    No tokenizer is needed, since the server counts the tokens.

    With this package's inferencer the data set's protocol goes before the sampling settings here,
    and all responses are asked for at once, whatever ``batch_size`` is. OpenCompass's own
    inferencer asks for ``batch_size`` responses and waits for all of them before the next; choose
    some times ``max_concurrency``. It knows no lost responses: they are '' there, with a warning.

    Thoughts that the server keeps apart stand before the response, ended by ``</think>``.

    Args:
        path: The model's name on the servers.
        api_base: URL of the server, such as ``http://127.0.0.1:8000/v1``, or several that serve the
            same model.
        api_key_env: Name of the environment variable that may hold the key. It is sent to the
            hosts of ``api_base`` alone.
        temperature: Sampling settings for data sets that leave them to the model; the server's own
            where None.
        top_p: See ``temperature``.
        top_k: See ``temperature``.
        min_p: See ``temperature``.
        repetition_penalty: See ``temperature``.
        extra_body: Further fields of each request, such as
            ``dict(chat_template_kwargs=dict(enable_thinking=False))``.
        without: Fields of the protocol that the server refuses, such as ``['top_k']``: they are
            not sent, and the records of the responses say so.
        not_known: Parameters that the server was not seen to apply, as ``gpassk run`` found: they
            are sent, and the records of the responses say so.
        max_concurrency: Greatest number of concurrent requests to one server.
        timeout: Seconds for one response.
        give_up_after: Seconds without a response from any server, after which the run ends.
        meta_template: As for all models of OpenCompass; by default plain chat messages.
        max_seq_len: If given, OpenCompass leaves out worked examples that make a prompt longer.

    Raises:
        ValueError: If a setting can't be used.
    """

    def __init__(
        self,
        path: str,
        api_base: str | Sequence[str],
        *,
        api_key_env: str = 'OPENAI_API_KEY',
        temperature: float | None = None,
        top_p: float | None = None,
        top_k: int | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        extra_body: Mapping[str, Any] | None = None,
        without: Sequence[str] = (),
        not_known: Sequence[str] = (),
        max_concurrency: int = 256,
        timeout: float = 3600.0,
        give_up_after: float = 300.0,
        meta_template: Any = None,
        max_seq_len: int | None = None,
    ) -> None:
        super().__init__(path, meta_template=meta_template or CHAT, max_seq_len=max_seq_len)
        check_names(without, PROTOCOL, 'without')
        if not api_key_env.isidentifier():  # not shown: it may be the key
            raise ValueError(
                f'api_key_env of {path} is no name of an environment variable; it names the one '
                'that holds the key, such as OPENAI_API_KEY'
            )
        for name, value in (('max_concurrency', max_concurrency), ('timeout', timeout)):
            if not value > 0:
                raise ValueError(f'{name} of {path} is {value!r}; give more than 0')
        if taken := sorted(OWN_FIELDS & set(extra_body or {})):
            raise ValueError(f'extra_body of {path} sets {taken[0]!r}, which the inferencer sets')
        self.client = Client(
            api_base,
            key_env=api_key_env,
            max_concurrency=max_concurrency,
            timeout=timeout,
            give_up_after=give_up_after,
            cut_slow=False,
        )
        own = {
            'temperature': temperature,
            'top_p': top_p,
            'top_k': top_k,
            'min_p': min_p,
            'repetition_penalty': repetition_penalty,
        }
        self.fields = self.client.plain_fields({**own, **(extra_body or {})}, 'extra_body')
        self.most = max_concurrency * len(self.client.addresses)  # requests at once
        official = any(host in one.url for one in self.client.addresses for host in OFFICIAL)
        self.not_known = set(not_known)
        self.without = {*without, *(not_taken(path) if official else ())}
        # Takes a field that a server refuses, and its words; None if that ends the run.
        self.leave_out: Callable[[str, str], None] | None = None
        self.counts = Counts()  # of the newest asking
        self.replied = False
        self.end_of_thoughts = '</think>'  # as OpenCompass's wrappers write it

    def generate(self, inputs: Sequence[Any], max_out_len: int) -> list[str]:
        """Return a response to each prompt, for OpenCompass's own inferencers.

        Args:
            inputs: Texts, or lists of messages as OpenCompass's templates make them.
            max_out_len: Greatest number of tokens in a response.

        Raises:
            InferenceStoppedError: If no request can succeed.
        """
        texts = [''] * len(inputs)
        lost = ''
        asked = ((index, entry, self.fields) for index, entry in enumerate(inputs))
        with closing(self.answers(asked, max_out_len)) as answers:
            for index, output in chain.from_iterable(answers):
                texts[index] = output.text
                if output.lost:
                    lost = output.lost
                    self.logger.warning(f"'' stands for a lost response of {self.path}: {lost}")
        if lost and not self.replied:
            raise InferenceStoppedError(f'the server answers no prompt of {self.path}: {lost}')
        return texts

    def answers(
        self, requests: Iterable[tuple[KeyT, Any, Mapping[str, Any]]], max_out_len: int
    ) -> Generator[list[tuple[KeyT, Output]], None, None]:
        """Ask requests, and yield the key and the output of each when it arrives.

        Args:
            requests: Key, prompt and sampling fields of each; taken when there is room for it.
            max_out_len: Greatest number of tokens in a response.

        Raises:
            InferenceStoppedError: If no request can succeed; after all outputs are yielded.
        """
        client = copy.copy(self.client)  # to be stopped apart from other threads
        counts = self.counts = Counts()

        def begun() -> Iterable[tuple[Any, dict[str, Any]]]:
            for key, prompt, fields in requests:
                sent = {name: fields[name] for name in fields if name not in self.without}
                sent |= {'model': self.path, **self.asking(prompt, max_out_len)}
                yield (key, sent), sent

        def work(hand_over: Callable[[tuple[KeyT, Output]], None]) -> None:
            def receive(begun: tuple[KeyT, dict[str, Any]], outcome: Outcome) -> bool:
                key, sent = begun
                if name := self._refused(outcome, sent):
                    del sent[name]
                    return True
                hand_over((key, self.output(outcome)))
                return False

            client.ask(begun(), receive, counts)

        try:
            yield from in_thread(work, client.stop)
        except ClientError as error:
            raise InferenceStoppedError(f'{self.path}: {error}. {RESUME}') from None
        finally:
            self.logger.info(
                f'{self.path}: {counts.calls} requests, {counts.retries} of them repeated; '
                f'{counts.prompt_tokens} prompt tokens, {counts.completion_tokens} completion '
                f'tokens; failures: {dict(counts.failures)}'
            )

    def asking(self, prompt: Any, max_out_len: int) -> dict[str, Any]:
        """Return the fields that hold a prompt and the greatest length of a response."""
        return {'messages': messages(prompt), LENGTH: max_out_len}

    def output(self, outcome: Outcome) -> Output:
        """Return an outcome of the client as an output.

        Raises:
            ClientError: If the client has given up.
        """
        if isinstance(outcome, GivenUp):
            raise ClientError(outcome.detail)
        if isinstance(outcome, Failure):
            return Output('', lost=f'{outcome.kind}: {outcome.detail}')
        self.replied = True
        thoughts = outcome.thoughts and outcome.thoughts + self.end_of_thoughts
        return Output(thoughts + outcome.text, outcome.truncated, outcome.completion_tokens or None)

    def _refused(self, outcome: Outcome, sent: Mapping[str, Any]) -> str | None:
        """Return the field that a server refuses, if the request may be sent without it.

        Raises:
            ClientError: If it may not.
        """
        if not isinstance(outcome, Failure) or outcome.kind != 'refused':
            return None
        for name in (*PROTOCOL, *self.fields, LENGTH):
            known = name in self.without or not self.replied  # else the prompt is at fault
            names = (LENGTH, NEWER_LENGTH) if name == LENGTH else (name,)
            told = any(refuses(outcome.detail, one) for one in names)
            if name in sent and known and told:
                if self.leave_out is None or name not in PROTOCOL:
                    raise ClientError(self.refusal(name, outcome.detail))
                self.leave_out(name, outcome.detail)
                self.without.add(name)
                return name
        return None

    def refusal(self, name: str, detail: str) -> str:
        """Return an error's message for a field that is refused."""
        remedy = f'leave {name} out of the config of the model'
        if name in PROTOCOL:
            remedy = (
                f'to let the server choose it, give gpassk run the option --without {name}, or '
                f"write without=['{name}'] into the config of the model"
            )
        elif name == LENGTH:
            remedy = 'lower max_out_len'
        return f'the server refuses the field {name}; {remedy}. It says: {detail}'


def not_taken(path: str) -> set[str]:
    """Return the fields of the protocol that OpenAI's own endpoint doesn't take for a model."""
    reasoning = any(name in path for name in REASONING)
    never = {'top_k', 'repetition_penalty', *UNNAMED}
    return never | ({'temperature', 'top_p', 'stop'} if reasoning else set())


def messages(prompt: Any) -> list[dict[str, Any]]:
    """Return a prompt, as OpenCompass's templates make it, as chat messages."""
    if isinstance(prompt, str):
        return [{'role': 'user', 'content': prompt}]
    return [
        {
            'role': ROLES.get(one['role'], one['role']),
            'content': one['prompt'] if 'prompt' in one else one['content'],
        }
        for one in prompt
    ]


class APIBackend(Backend):
    """Models behind an API, which may not take all fields of the protocol.

    Attributes:
        left_out: The fields that are not sent.
        not_known: Those that are sent, perhaps to no effect.
        keep_all: The top_k that keeps all tokens.
    """

    keep_all: int | None = -1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.left_out: set[str] = set()
        self.not_known: set[str] = set()

    def tell(self) -> None:
        """Let the records say what is not applied or not known."""
        # A server may have a min_p of its own, also where it is not told 0.
        unsure = self.not_known | (self.left_out & {MIN_P})
        self.applied = self.sampling.without(self.left_out, unsure)

    def fields(self, seed: int) -> dict[str, Any]:
        """Return the fields of the protocol that are sent."""
        fields = self.sampling.fields(seed, self.keep_all)
        if self.sampling.mode != 'model':
            fields[REPEAT] = fields['repetition_penalty']
        if self.sampling.mode == 'sampled':
            fields[MIN_P] = 0.0
        if self.sampling.stop:
            fields['stop'] = [*self.sampling.stop]
        return {name: value for name, value in fields.items() if name not in self.left_out}

    def leave_out(self, name: str, reason: str) -> None:
        """Stop sending a field, and tell the user."""
        if name not in self.fields(0):
            return
        self.left_out.add(name)
        self.tell()
        if name == REPEAT:
            return  # repetition_penalty tells of itself
        usual = ''
        if self.sampling.mode == 'sampled':
            usual = ': responses are drawn with the value of the API instead'
        elif name == 'temperature':
            usual = ': this model can NOT be decoded greedily'
        effect = EFFECTS.get(name, usual)
        self.note(f'{self.model.path}: {name} is not sent ({reason[:200]}){effect}')


class OpenAICompatibleBackend(APIBackend):
    """:class:`OpenAICompatible`, which sends as many requests at once as its servers take.

    Its client repeats what failed.
    """

    concurrent = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.model = copy.copy(self.model)
        self.model.replied = False  # to requests with the fields of this protocol
        self.not_known |= self.model.not_known
        self.tell()
        self.model.leave_out = self.model.leave_out or self._leave_out_unnamed
        for name in sorted(self.model.without):
            self.leave_out(name, "by without in its config, or since OpenAI's endpoint refuses it")

    def _leave_out_unnamed(self, name: str, reason: str) -> None:
        if name not in UNNAMED or self.sampling.mode == 'model':
            raise ClientError(self.model.refusal(name, reason))
        self.leave_out(name, reason)

    def workers(self, batch_size: int) -> int:
        """Return how many requests may run at once."""
        return self.model.most

    def status(self) -> dict[str, Any]:
        """Return for how long no reply has come."""
        return self.model.counts.silence()

    def stream(
        self, requests: Iterable[Request], options: Options, workers: int
    ) -> Generator[list[tuple[Request, Output]], None, None]:
        """Draw requests concurrently; yield each when it is finished."""
        return self.answers((one, one.entry, one.seed) for one in requests)

    def answers(
        self, asked: Iterable[tuple[KeyT, Any, int]]
    ) -> Generator[list[tuple[KeyT, Output]], None, None]:
        """Ask for responses; each has a key, an entry and a seed."""
        own = self.keep(self.model.fields)
        stop = own.pop('stop', None) or []
        stops = [stop] if isinstance(stop, str) else [*stop]

        def sent(seed: int) -> dict[str, Any]:
            fields = {**own, **self.fields(seed)}
            ends = stops + fields.get('stop', [])
            return fields | ({'stop': ends} if ends else {})

        requests = (
            (key, self.model.parse_template(entry, mode='gen'), sent(seed))
            for key, entry, seed in asked
        )
        return self.model.answers(requests, self.max_out_len)
