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
    given = bases.split(',') if isinstance(bases, str) else bases
    urls = dict.fromkeys(base.strip() for base in given if base.strip())
    if not urls:
        raise ValueError("api_base of judge names no endpoint; give one as 'http://host:8000/v1'")
    addresses = {address.url: address for address in map(_read, urls)}
    return list(addresses.values())


def _read(base: str) -> Address:
    shown = re.sub(r'[?#].*', '?…', re.sub(r'//.*@', '//…@', base))
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ('http', 'https') or re.search(r'\s', base):
        raise ValueError(
            f"api_base of judge is {shown!r}; it is a URL such as 'http://host:8000/v1'"
        )
    if shown != base:
        raise ValueError(
            f'api_base of judge is {shown!r}; leave user, password, query and fragment out of it: '
            'configs are written to the work dir, a key is read from the environment alone'
        )
    path = parts.path.rstrip('/').removesuffix(CHAT).rstrip('/')
    bracketed = f'[{host}]' if ':' in host else host
    name = f'{parts.scheme}://{bracketed}' + (f':{port}' if port else '')
    return Address(name + path + CHAT, name, _proxy(parts.scheme, host, port))


def _proxy(scheme: str, host: str, port: int | None) -> str | None:
    if _is_this_machine(host) or proxy_bypass(f'{host}:{port}' if port else host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get('all') or ''
    if '://' not in proxy:
        return f'http://{proxy}' if proxy else None
    return proxy if proxy.startswith('http') else None  # aiohttp speaks no SOCKS


def _is_this_machine(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == 'localhost' or host.endswith('.localhost')
    return address.is_loopback or address.is_unspecified
