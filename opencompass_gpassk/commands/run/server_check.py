"""What a server is asked before a job starts: its models, and a short request with our fields."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import aiohttp

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.inference.http_client import Address, Client, exception_failure
from opencompass_gpassk.inference.request_loop import InferenceStoppedError
from opencompass_gpassk.inference.sampling import MIN_P, Sampling

if TYPE_CHECKING:
    from opencompass_gpassk.inference.openai_compatible import OpenAICompatible

LIST_TIMEOUT = 4.0  # seconds
PATIENCE = 4.0  # seconds for a reply to a short request after one failed
LONGEST_LIST = 2**22  # bytes
MOST_SHOWN = 20  # models in a message
# Models answer this in many ways at temperature 1, and in one way if each token is the likeliest.
# Each of the four values alone leaves only the likeliest token, whose share is above 0.001.
OPEN_PROMPT = 'Write ten words that come to your mind, such as table, river, table, river.'
NARROW = {'temperature': 0.0, 'top_p': 0.001, 'top_k': 1, MIN_P: 1.0}
PENALTY = 'repetition_penalty'
SHORT = 64  # tokens, in which two samples of a model hardly ever agree
ID = re.compile('[ -~]{1,200}')  # an id that is taken from a server, which may be hostile


def served_models(api_base: str | Sequence[str], key_env: str, model: str) -> dict[str, Any]:
    """Return the models that servers list, with what they say is the length of their contexts.

    Args:
        api_base: As in :class:`~opencompass_gpassk.inference.http_client.Client`.
        key_env: Name of the environment variable that may hold the key.
        model: The model that is wanted; '' for any.

    Raises:
        ValueError: If a server doesn't answer, refuses the key, or doesn't list the model; or if
            none is wanted and an id isn't 1 to 200 printable ASCII characters.
    """
    client = Client(api_base, key_env=key_env, cut_slow=False)
    found: dict[str, Any] = {}
    for address in client.addresses:
        status, body = asyncio.run(_listed(client, address))
        # A key that may not list models may still be good for asking one.
        if status == 401 or (status == 403 and not model):
            verb = 'refuses the key in' if client.keys else 'asks for a key; put it into'
            raise ValueError(
                f'the server at {address.name} {verb} the environment variable {key_env}'
            )
        listed = body.get('data') if isinstance(body, Mapping) else None
        models = listed if isinstance(listed, list) else []
        lengths = {
            one['id']: one.get('max_model_len')
            for one in models
            if isinstance(one, Mapping) and isinstance(one.get('id'), str)
        }
        # Some servers have no list; the request that follows tells whether they know the model.
        if model and lengths and model not in lengths:
            raise ValueError(
                f'the server at {address.name} has no model {model!r}; it has '
                f'{shown_models(lengths)}'
            )
        if not model and (odd := [name for name in lengths if not ID.fullmatch(name)]):
            raise ValueError(
                f'the server at {address.name} lists a model whose id is not 1 to 200 printable '
                f'ASCII characters: {shown_models(odd)}; name one as URL#NAME'
            )
        found |= lengths
    return found


def shown_models(names: Collection[str]) -> str:
    """Return the first names for a message."""
    shown = ', '.join(short_line(name, 200) for name in [*names][:MOST_SHOWN])
    return shown + (f' and {len(names) - MOST_SHOWN} more' if len(names) > MOST_SHOWN else '')


async def _listed(client: Client, address: Address) -> tuple[int, Any]:
    """Return status and body of a server's answer to /models; None for a body that isn't JSON."""
    headers = {'Authorization': f'Bearer {client.keys[0]}'} if client.keys else {}
    timeout = aiohttp.ClientTimeout(total=LIST_TIMEOUT)
    url = address.url.removesuffix('/chat/completions') + '/models'
    try:
        async with (
            aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
            # The key is for this host alone.
            session.get(url, proxy=address.proxy, allow_redirects=False) as response,
        ):
            raw = bytearray()
            async for part in response.content.iter_any():
                raw += part
                if len(raw) > LONGEST_LIST:
                    break
            try:
                return response.status, json.loads(client.hide_key(raw.decode('utf-8', 'replace')))
            except (ValueError, RecursionError):
                return response.status, None
    except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
        raise ValueError(
            f'the server at {address.name} does not answer ({exception_failure(error).detail}); '
            'start it, or correct host and port'
        ) from None


def try_requests(
    config: Mapping[str, Any], protocols: Collection[Sampling], *, effects: bool
) -> list[str]:
    """Ask the server of a model for two tokens under each sampling protocol, as the job will.

    Args:
        config: The config of an :class:`~opencompass_gpassk.inference.OpenAICompatible`.
        protocols: Those of the data sets.
        effects: Whether to try which parameters have an effect, too.

    Returns:
        The parameters that the server takes, but was not seen to apply.

    Raises:
        ValueError: If the server doesn't reply; or if it refuses fields, which the message names.
    """
    from opencompass.utils import build_model_from_cfg

    from opencompass_gpassk.inference.openai_compatible import (
        RESUME,
        UNNAMED,
        OpenAICompatibleBackend,
    )

    model = build_model_from_cfg({**config, 'timeout': 120.0, 'give_up_after': PATIENCE})
    refused: dict[str, str] = {}
    model.leave_out = refused.setdefault
    for protocol in protocols:
        backend = OpenAICompatibleBackend(model, protocol, 2, lambda note: None)
        try:
            ((_, output),) = chain.from_iterable(backend.answers([('', '1 + 1 =', 0)]))
        except InferenceStoppedError as error:
            raise ValueError(str(error).removesuffix(f'. {RESUME}')) from None
        if output.lost:
            raise ValueError(f'{config["path"]}: the server refuses a short request: {output.lost}')
    for name in UNNAMED:  # the job leaves them out by itself
        refused.pop(name, None)
    if refused:
        told = '; '.join(f'{name} ({short_line(says, 200)})' for name, says in refused.items())
        without = ' '.join([*config.get('without', ()), *refused])
        raise ValueError(
            f'{config["path"]}: the server refuses {told}. To let the server choose them, which '
            f'the signature of the results says, add: --without {without}'
        )
    sampled = any(one.mode == 'sampled' for one in protocols)
    return _without_effect(model) if effects and sampled else []


def _without_effect(model: OpenAICompatible) -> list[str]:
    """Return the sampling parameters that are sent, but have no effect that can be seen.

    A server may accept a parameter and ignore it. So each parameter is once given a value that
    leaves one response to the model, with another seed each time: those that the server applies
    yield the same text. A penalty is applied if it changes that text.
    """
    from opencompass_gpassk.inference.openai_compatible import REPEAT, OpenAICompatibleBackend

    backend = OpenAICompatibleBackend(model, Sampling('sampled'), SHORT, lambda note: None)
    backend.model.replied = True  # so a value that is refused costs that request alone
    narrow = {name: value for name, value in NARROW.items() if name in backend.fields(0)}
    penalty = {name: 2.0 for name in (PENALTY, REPEAT) if name in backend.fields(0)}
    asked: dict[str, dict[str, float]] = {name: {name: narrow[name]} for name in narrow}
    if penalty:
        asked[PENALTY] = narrow | penalty
    tried = [*asked]
    asked |= {'wide': {}, 'as wide': {}}
    requests = (
        (name, OPEN_PROMPT, {**backend.keep(model.fields), **backend.fields(seed), **values})
        for seed, (name, values) in enumerate(asked.items())
    )
    texts: dict[str, str] = {}
    with suppress(InferenceStoppedError):  # what did not come shows nothing
        for name, output in chain.from_iterable(backend.model.answers(requests, SHORT)):
            texts |= {name: output.text} if output.text else {}
    found = Counter(texts[name] for name in narrow if name in texts)
    likeliest, times = max(found.items(), key=lambda one: one[1], default=('', 0))
    wide = {texts.get(name, likeliest) for name in ('wide', 'as wide')}
    if times < 2 or len(wide - {likeliest}) < 2:  # nothing tells one way from many
        return tried
    unsure = [name for name in narrow if texts.get(name) != likeliest]
    unchanged = penalty and texts.get(PENALTY, likeliest) == likeliest
    return unsure + [PENALTY] * bool(unchanged)
