"""Where a judge is reached: URLs of endpoints, and the proxies on the way to them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

__all__ = ['Address', 'read_addresses']

CHAT = '/chat/completions'
PLAIN = re.compile(r'([a-z]{1,9}://[\w.-]+(:\d+)?)(/[^\s?#@]*)?', re.ASCII)


class Address(NamedTuple):
    """One endpoint.

    Attributes:
        url: Where requests go.
        name: Scheme, host and port, which is all that is ever shown.
        proxy: URL of the proxy on the way, None for none.
    """

    url: str
    name: str
    proxy: str | None


def read_addresses(bases: str | Iterable[str]) -> list[Address]:
    """Read ``api_base``: URLs with or without ``/chat/completions``, each kept once.

    A proxy comes from the environment (``https_proxy``, ``no_proxy`` and their like); this machine
    itself is never reached through one.

    Raises:
        ValueError: If there is none, or one isn't http or https, or may hold a secret.
    """
    given = bases.split(',') if isinstance(bases, str) else list(bases)
    named = {base.strip(): place for place, base in enumerate(given, 1) if base.strip()}
    if not named:
        raise ValueError("api_base of judge names no endpoint; give one as 'http://host:8000/v1'")
    addresses = [_read(base, place) for base, place in named.items()]
    return list({address.url: address for address in addresses}.values())


def _read(base: str, place: int) -> Address:
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ('http', 'https') or re.search(r'\s', base):
        raise ValueError(
            f"{_shown(base, place)} is no URL such as 'http://host:8000/v1'; set it to one"
        )
    if re.search('[@?#]', base):
        raise ValueError(
            f'{_shown(base, place)} holds a user, a password, a query or a fragment; leave it out: '
            'configs are written to the work dir, a key is read from the environment alone'
        )
    path = parts.path.rstrip('/').removesuffix(CHAT).rstrip('/')
    bracketed = f'[{host}]' if ':' in host else host
    name = f'{parts.scheme}://{bracketed}' + (f':{port}' if port else '')
    return Address(name + path + CHAT, name, _proxy(parts.scheme, host, port))


def _shown(base: str, place: int) -> str:
    """Name an entry; what isn't plainly an address may be a key in the wrong place."""
    plain = PLAIN.fullmatch(base)
    return f'entry {place} of api_base of judge' + (f' ({plain[1]})' if plain else '')


def _proxy(scheme: str, host: str, port: int | None) -> str | None:
    if _is_this_machine(host) or proxy_bypass(f'{host}:{port}' if port else host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get('all') or ''
    if proxy and '://' not in proxy:
        proxy = f'http://{proxy}'
    if not proxy.startswith(('http://', 'https://')):
        return None  # aiohttp speaks no SOCKS
    try:
        parts = urlsplit(proxy)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or '@' in parts.path + parts.query + parts.fragment:
        raise ValueError(
            f'the proxy for {scheme} in the environment is no URL such as '
            "'http://user:password@host:3128'; write / ? # and @ in a password as %2F %3F %23 %40"
        )
    return proxy


def _is_this_machine(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == 'localhost' or host.endswith('.localhost')
    return address.is_loopback or address.is_unspecified
