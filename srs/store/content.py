"""What the codes of features say of them: the hash that decides their place, and their levels.

A pure function of codes and names, so that threads can look at several parts at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from srs.store.layout import MAX_LEVELS, MISSING
from srs.trees.random import mix64


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
def _count_few(codes):  # type: ignore[no-untyped-def]
    """How often 0, 1, 2 and MISSING occur. Narrow sums take wide instructions: 0.1 ns a code."""
    n0, n1, n2, n_missing = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
    for i in range(codes.shape[0]):
        n0 = np.int32(n0 + np.int32(codes[i] == 0))
        n1 = np.int32(n1 + np.int32(codes[i] == 1))
        n2 = np.int32(n2 + np.int32(codes[i] == 2))
        n_missing = np.int32(n_missing + np.int32(codes[i] == MISSING))
    return n0, n1, n2, n_missing


@njit(nogil=True, cache=True)
def _find_top(codes):  # type: ignore[no-untyped-def]
    """The largest code; there is one that is not MISSING, which 1 more makes 0."""
    top = np.uint8(0)
    for i in range(codes.shape[0]):
        top = max(top, np.uint8(codes[i] + np.uint8(1)))
    return top - 1


@njit(nogil=True, cache=True)
def _count_all(codes):  # type: ignore[no-untyped-def]
    """How often the most frequent code occurs, and the largest code, missing values aside."""
    counts = np.zeros((2, 256), np.int32)
    n = codes.shape[0]
    for i in range(0, n - 1, 2):  # two tables: equal neighbours would wait for one another
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
    if n % 2:
        counts[0, codes[n - 1]] += 1
    most, top = 0, 0
    for c in range(MISSING):
        count = counts[0, c] + counts[1, c]
        most = max(most, count)
        top = c if count else top
    return most, top


@njit(nogil=True, cache=True)
def _count_codes(codes, n_ranked, shares, tops, missing):  # type: ignore[no-untyped-def]
    """ns a code: few levels 0.1 (0.4 with a pass for each), mostly zeros 0.2, others 0.6."""
    for f in range(codes.shape[0]):
        if n_ranked[f] > 0:
            most = (n_ranked[f] + MAX_LEVELS - 1) // MAX_LEVELS
            shares[f] = np.uint8(255 * most // n_ranked[f])
            tops[f], missing[f] = MAX_LEVELS - 1, n_ranked[f] < codes.shape[1]
            continue
        n0, n1, n2, n_missing = _count_few(codes[f])
        n_known = codes.shape[1] - n_missing
        if n0 + n1 + n2 == n_known:
            most, top = max(n0, n1, n2), (2 if n2 else (1 if n1 else 0))
        elif 2 * n0 >= n_known:
            most, top = n0, _find_top(codes[f])
        else:
            most, top = _count_all(codes[f])
        shares[f] = np.uint8(255 * most // max(n_known, 1))
        tops[f], missing[f] = top, n_missing > 0


def _hash_names(names: Sequence[str]) -> np.ndarray:
    """A 64-bit hash of each name; an empty digest is copied, which is faster than a new one."""
    empty, digests = hashlib.blake2b(digest_size=8), []
    for name in names:
        digest = empty.copy()
        digest.update(name.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), np.uint64)


def look_at(
    codes: np.ndarray, names: Sequence[str] | None, n_ranked: np.ndarray | None = None
) -> Content:
    """The content of features: codes (k, n_samples), and their names (None: unnamed).

    n_ranked  int32 (k,): how many values a feature has, missing ones aside, where it is known that
              each of the 255 codes occurs equally often, give or take one; else 0
    """
    k = len(codes)
    n_ranked = np.zeros(k, np.int32) if n_ranked is None else n_ranked
    salts = np.zeros(k, np.uint64) if names is None else _hash_names(names)
    content = Content(
        np.empty(k, np.uint64), np.empty(k, np.uint8), np.empty(k, np.uint8), np.empty(k, np.bool_)
    )
    _hash_rows(codes, salts, content.hashes)
    _count_codes(codes, n_ranked, content.shares, content.tops, content.missing)
    return content
