"""Which addresses on the network may be reached for users: public ones, and trusted networks.

A name is resolved once, every address that it has is checked, and the connection goes to one of
those: a name that resolves to something else a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from srs_service.errors import OutOfReach

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"http": 80, "https": 443}
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # IPv4 behind a gateway: the last 32 bits count
MAX_URL = 2_000


@dataclass(frozen=True)
class Pinned:
    """A URL whose host was resolved and checked.

    url      where to connect: the host is an address
    host     the Host header, as the user wrote it
    name     the name for TLS
    """

    url: str
    host: str
    name: str


def is_public(address: Address, trusted: Sequence[str] = ()) -> bool:
    """Whether an address is on the public internet, or in a network that is trusted.

    >>> [is_public(ipaddress.ip_address(a)) for a in ("1.1.1.1", "10.0.0.1", "::ffff:127.0.0.1")]
    [True, False, False]
    """
    inner: Address = address
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            inner = address.ipv4_mapped
        elif address.sixtofour is not None:
            inner = address.sixtofour
        elif address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(inner in ipaddress.ip_network(network) for network in trusted):
        return True
    return inner.is_global and not inner.is_multicast and not inner.is_reserved


def pin(url: str, trusted: Sequence[str] = ()) -> Pinned:
    """Resolve and check the host of a URL; OutOfReach if it may not be reached."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise OutOfReach("this is not an address.") from None
    if parts.scheme not in PORTS or not host or len(url) > MAX_URL or not url.isprintable():
        raise OutOfReach("only http and https addresses are read.")
    if parts.username is not None or parts.password is not None or " " in url or "\\" in url:
        raise OutOfReach("an address must not hold credentials, spaces or backslashes.")
    address = _resolve(host, port or PORTS[parts.scheme], trusted)
    shown = f"[{address}]" if address.version == 6 else str(address)
    authority = shown if port is None else f"{shown}:{port}"
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    named = f"[{host}]" if ":" in host else host
    return Pinned(
        f"{parts.scheme}://{authority}{path}{query}",
        named if port is None else f"{named}:{port}",
        host,
    )


def _resolve(host: str, port: int, trusted: Sequence[str]) -> Address:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutOfReach("the name of the host cannot be resolved.") from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found]
    if not addresses or not all(is_public(address, trusted) for address in addresses):
        raise OutOfReach("this host is not on the public internet.")
    return addresses[0]
