"""What a server is asked before a job starts: its models, and a short request with our fields."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import aiohttp

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.inference.http_client import Address, Client, exception_failure
from opencompass_gpassk.inference.request_loop import InferenceStoppedError
from opencompass_gpassk.inference.sampling import Sampling

LIST_TIMEOUT = 4.0  # seconds
PATIENCE = 4.0  # seconds for a reply to a short request after one failed
LONGEST_LIST = 2**22  # bytes
MOST_SHOWN = 20  # models in a message
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
    client = Client(api_base, key_env=key_env, race=False)
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


def try_requests(config: Mapping[str, Any], samplings: Sequence[Any]) -> None:
    """Ask the server of a model for two tokens under each sampling protocol, as the job will.

    Args:
        config: The config of an :class:`~opencompass_gpassk.inference.OpenAICompatible`.
        samplings: The values of ``sampling`` of the data sets.

    Raises:
        ValueError: If the server doesn't reply; or if it refuses fields, which the message names.
    """
    from opencompass.utils import build_model_from_cfg

    from opencompass_gpassk.inference.openai_compatible import RESUME, OpenAICompatibleBackend

    model = build_model_from_cfg({**config, 'timeout': 120.0, 'give_up_after': PATIENCE})
    refused: dict[str, str] = {}
    model.leave_out = refused.setdefault
    for sampling in samplings:
        protocol = Sampling.parse(sampling)
        backend = OpenAICompatibleBackend(model, protocol, 2, lambda note: None)
        try:
            (output,) = backend.generate(['1 + 1 ='], [0], {})
        except InferenceStoppedError as error:
            raise ValueError(str(error).removesuffix(f'. {RESUME}')) from None
        if output.lost:
            raise ValueError(f'{config["path"]}: the server refuses a short request: {output.lost}')
    if refused:
        told = '; '.join(f'{name} ({short_line(says, 200)})' for name, says in refused.items())
        without = ' '.join([*config.get('without', ()), *refused])
        raise ValueError(
            f'{config["path"]}: the server refuses {told}. To let the server choose them, which '
            f'the signature of the results says, add: --without {without}'
        )
