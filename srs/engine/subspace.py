"""Draw the features of each batch and each tree.

Default mode: a pass explores every feature once. The chunks of the store are shuffled and dealt
to batches (slabs); inside a slab, strips of neighbouring places are shuffled and cut into
subspaces. Neighbours in the store are strangers (places follow from a hash), so a strip is a random
set of features, and copying strips of 64 bytes is what memory likes. Paper mode: uniform draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

WANDERING_SHARE = 0.5  # of the trees, where all see all features
MIN_RUN, MAX_RUN = 8, 64  # features; whole words that fit into a tile of the store


@dataclass(frozen=True)
class Pool:
    """The columns that trees may carry, chosen among features and probes alike.

    places       int64: features
    roles        uint8: the feature itself (0), or which of its probes
    outstanding  bool: whether its evidence is far beyond that of all columns taken together
    """

    places: np.ndarray
    roles: np.ndarray
    outstanding: np.ndarray

    @classmethod
    def of_pinned(cls, places: np.ndarray) -> Pool:
        """Pinned features alone: what trees carry before anything is known."""
        return cls(places, np.zeros(len(places), np.uint8), np.zeros(len(places), np.bool_))


def strip_length(n_features: int) -> int:
    """Features in a strip: words in small stores, cache lines in large ones.

    >>> [strip_length(p) for p in (100, 5_000, 50_000)]
    [8, 16, 64]
    """
    return min(MAX_RUN, max(MIN_RUN, 1 << int(np.log2(max(1, n_features / 256)))))


def deal_chunks(n_chunks: int, slab_chunks: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Shuffle the chunks and deal them into slabs of at most `slab_chunks`, nearly equal."""
    n_slabs = -(-n_chunks // slab_chunks)
    return np.array_split(rng.permutation(n_chunks), n_slabs)


def slab_strips(chunk_ids: np.ndarray, n_features: int, chunk_features: int) -> np.ndarray:
    """The strips of a slab: strip r holds the places r * length .. r * length + length - 1."""
    length = strip_length(n_features)
    a_chunk = chunk_features // length
    strips = (chunk_ids[:, None] * a_chunk + np.arange(a_chunk)).ravel()
    return strips[strips * length < n_features]


def strip_places(strips: np.ndarray, n_features: int) -> np.ndarray:
    """Places of the features of strips in order; the last may lie beyond the features (padding)."""
    length = strip_length(n_features)
    return (strips[:, None] * length + np.arange(length)).ravel()


def count_subspaces(n_chunks: int, chunk_features: int, subspace_size: int, n_features: int) -> int:
    """Into how many subspaces a slab is cut: as equal, and as near to the size, as can be.

    n_features: of the store; the last chunk of a small one is mostly padding

    >>> count_subspaces(1, 64, 30, n_features=30), count_subspaces(2, 64, 30, n_features=128)
    (1, 4)
    """
    return max(1, round(min(n_chunks * chunk_features, n_features) / subspace_size))


def subspace_limit(
    slab_chunks: int, chunk_features: int, subspace_size: int, n_features: int
) -> int:
    """Most features of a subspace, in slabs of so many chunks or one fewer (see `deal_chunks`)."""
    return max(
        min(n * chunk_features, MAX_RUN - 1 + -(-n * chunk_features // count))
        for n in (slab_chunks, slab_chunks - 1)
        for count in [count_subspaces(n, chunk_features, subspace_size, n_features)]
    )


def cut_subspaces(
    strips: np.ndarray, n_subspaces: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Shuffle the strips and cut them into subspaces, nearly equal; none is empty."""
    return np.array_split(rng.permutation(strips), min(n_subspaces, len(strips)))


def draw_recall(
    n_pool: int, blocked: np.ndarray, most: int, rng: np.random.Generator, full: bool = False
) -> np.ndarray:
    """Which columns of the pool a tree carries: a random number of them, of those not blocked.

    With all of them in every tree, relevant features that are redundant with them would be masked
    for ever; with none, features that matter only given others would not be found.
    """
    free = np.flatnonzero(~blocked)
    most = min(most, len(free), n_pool)
    n_carried = most if full else int(rng.integers(0, most + 1))
    return rng.permutation(free)[:n_carried]


def draw_root(
    outstanding: np.ndarray, carried: np.ndarray, share: float, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """For a share of trees, a column to split at the root: one of those that stand out.

    Below that split, all others are looked at given it. What matters only given another feature
    is so found in some passes, where it would else wait for the other to win a node by chance.
    Returns the carried columns with that one among them, and its index there; -1: no such.
    """
    wanted = rng.random() < share
    candidates = np.flatnonzero(outstanding)
    if not wanted or not len(candidates):
        return carried, -1
    root = candidates[rng.integers(len(candidates))]
    at = np.flatnonzero(carried == root)
    if len(at):
        return carried, int(at[0])
    return np.append(carried, root), len(carried)


def count_carried(carry_fraction: float, subspace_size: int) -> int:
    """floor(alpha q), of the numbers that are written: 0.29 x 100 is 29, and no float below it.

    >>> count_carried(0.29, 100), int(0.29 * 100), count_carried(0.5, 9)
    (29, 28, 4)
    """
    return math.floor(carry_fraction * subspace_size + 1e-9)


def draw_paper(
    n_features: int,
    subspace_size: int,
    carry_fraction: float,
    relevant: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """R and C of Algorithm 7.1 (a): carried places of the relevant set, explored of the rest."""
    n_carried = min(count_carried(carry_fraction, subspace_size), len(relevant))
    carried = rng.choice(relevant, n_carried, replace=False) if n_carried else relevant[:0]
    n_explored = min(subspace_size, n_features) - n_carried
    free = np.delete(np.arange(n_features), carried) if n_carried else n_features
    return carried, rng.choice(free, n_explored, replace=False)
