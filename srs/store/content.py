"""What the codes of features say of them: the hash that decides their place, and their levels.

A pure function of codes and names, so that threads can look at several parts at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.store.layout import MISSING
from srs.tree.random import mix64

FEW = 4  # codes that are counted one after the other


@dataclass(frozen=True)
class Content:
    """Of some features, one value each.

    hashes   uint64: of the codes, and of the name where there is one
    shares   uint8: share of the most frequent code, missing values aside, in 255ths
    tops     uint8: largest code, missing values aside
    missing  bool: whether any code is MISSING
    """

    hashes: np.ndarray
    shares: np.ndarray
    tops: np.ndarray
    missing: np.ndarray


@njit(nogil=True, cache=True)
def _hash_rows(codes, salts, hashes):  # type: ignore[no-untyped-def]
    """A 64-bit hash of each row of codes, started from its salt.

    Four rows at a time: each step of a hash waits for the one before.
    """
    n_rows, n = codes.shape
    prime = np.uint64(0x100000001B3)
    h = np.empty(4, np.uint64)
    for f in range(0, n_rows, 4):
        for k in range(4):
            h[k] = mix64(np.uint64(salts[min(f + k, n_rows - 1)]) + np.uint64(n))
        h0, h1, h2, h3 = h[0], h[1], h[2], h[3]
        last = n_rows - 1
        a, b = codes[f], codes[min(f + 1, last)]
        c, d = codes[min(f + 2, last)], codes[min(f + 3, last)]
        for i in range(n):
            h0 = (h0 ^ np.uint64(a[i])) * prime
            h1 = (h1 ^ np.uint64(b[i])) * prime
            h2 = (h2 ^ np.uint64(c[i])) * prime
            h3 = (h3 ^ np.uint64(d[i])) * prime
        h[0], h[1], h[2], h[3] = h0, h1, h2, h3
        for k in range(min(4, n_rows - f)):
            hashes[f + k] = mix64(h[k])


@njit(nogil=True, cache=True)
def _count_code(codes, code):  # type: ignore[no-untyped-def]
    count = 0
    for i in range(codes.shape[0]):
        count += codes[i] == code
    return count


@njit(nogil=True, cache=True)
def _count_most(codes):  # type: ignore[no-untyped-def]
    """How often the most frequent code occurs, missing values aside."""
    counts = np.zeros((2, 256), np.int32)
    n = codes.shape[0]
    for i in range(0, n - 1, 2):  # two tables: equal neighbours would wait for one another
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
    if n % 2:
        counts[0, codes[n - 1]] += 1
    most = 0
    for c in range(MISSING):
        most = max(most, counts[0, c] + counts[1, c])
    return most


@njit(nogil=True, cache=True)
def _count_codes(codes, shares, tops, missing):  # type: ignore[no-untyped-def]
    """Comparing all codes with a few takes 0.1 ns a code, counting them in a table 0.5."""
    n = codes.shape[1]
    for f in range(codes.shape[0]):
        top = 0
        for i in range(n):
            code = codes[f, i]
            top = max(top, 0 if code == MISSING else code)
        n_missing = _count_code(codes[f], MISSING)
        most = 0
        if top < FEW:
            for c in range(top + 1):
                most = max(most, _count_code(codes[f], c))
        else:
            most = _count_most(codes[f])
        shares[f] = np.uint8(255 * most // max(n - n_missing, 1))
        tops[f], missing[f] = top, n_missing > 0


def look_at(codes: np.ndarray, names: Sequence[str] | None) -> Content:
    """The content of features: codes (k, n_samples), and their names (None: unnamed)."""
    k = len(codes)
    salts = np.zeros(k, np.uint64)
    if names is not None:
        digests = (hashlib.blake2b(n.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                   for n in names)  # fmt: skip
        salts = np.frombuffer(b"".join(digests), np.uint64)
    content = Content(
        np.empty(k, np.uint64), np.empty(k, np.uint8), np.empty(k, np.uint8), np.empty(k, np.bool_)
    )
    _hash_rows(codes, salts, content.hashes)
    _count_codes(codes, content.shares, content.tops, content.missing)
    return content
