"""Counter-based random numbers for the tree kernel.

A random number is a pure function of a key and a counter, so that a tree is a function of its
arguments alone: no state is carried from tree to tree or from thread to thread. Keys for trees
are made by `srs.seeds`; this module only mixes them.

numba widens uint32 arithmetic to uint64 unless every step is cast back, hence the many casts:
without them the stream is silently another one (there is a test against plain Python integers).
"""

import numpy as np
from numba import njit

U32 = np.uint32
U64 = np.uint64

# One domain per use of randomness inside a node, so that no two uses share a stream.
DOMAIN_CUT = U64(1)
DOMAIN_MISSING = U64(2)
DOMAIN_SUBSET = U64(3)
DOMAIN_TIE = U64(4)
DOMAIN_COLUMNS = U64(5)
DOMAIN_WANDER = U64(6)


@njit(nogil=True, cache=True, inline="always")
def mix32(x):
    """Scramble a uint32 (MurmurHash3's finaliser: every input bit reaches every output bit)."""
    x = U32(x ^ U32(x >> U32(16)))
    x = U32(x * U32(0x85EBCA6B))
    x = U32(x ^ U32(x >> U32(13)))
    x = U32(x * U32(0xC2B2AE35))
    return U32(x ^ U32(x >> U32(16)))


@njit(nogil=True, cache=True)
def mix64(x):
    """Scramble a uint64 (the finaliser of SplitMix64)."""
    x = U64(x ^ (x >> U64(30)))
    x = U64(x * U64(0xBF58476D1CE4E5B9))
    x = U64(x ^ (x >> U64(27)))
    x = U64(x * U64(0x94D049BB133111EB))
    return U64(x ^ (x >> U64(31)))


@njit(nogil=True, cache=True)
def node_key(tree_key, node, domain):
    """The uint32 key of one use of randomness (`domain`) in one node of one tree."""
    x = mix64(U64(tree_key) + U64(node + 1) * U64(0x9E3779B97F4A7C15))
    return U32(mix64(U64(x) + domain * U64(0xD1B54A32D192ED03)) >> U64(32))


@njit(nogil=True, cache=True, inline="always")
def random_u32(key, counter):
    """The random uint32 number `counter` of the stream `key`."""
    return mix32(U32(U32(counter) * U32(0x9E3779B9)) ^ U32(key))


@njit(nogil=True, cache=True, inline="always")
def scale_u32(random, n):
    """Map a random uint32 to 0..n-1 for n up to 256, in 32 bits so that it vectorises."""
    return U32(U32(U32(random >> U32(8)) * U32(n)) >> U32(24))


@njit(nogil=True, cache=True)
def random_below(key, counter, n):
    """A random integer in 0..n-1 for any n below 2**31."""
    return np.int64((U64(random_u32(key, counter)) * U64(n)) >> U64(32))
