"""Feature classes: features whose evidence has the same null.

The evidence of an irrelevant feature depends on what its values look like: a column of two rare
levels offers other splits than one of 200 categories. A feature is compared with the probes of its
class only: features split alike (by cut or by subset), of about as many levels, of which the most
frequent has about the same share. All of that is the same for a feature and its probes, and knows
nothing of the target.
"""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import PIECE
from srs.store import CATEGORICAL, FeatureStore

LEVEL_EDGES = (3, 4, 6, 11, 51)  # 2 | 3 | 4..5 | 6..10 | 11..50 | more levels
SHARE_EDGES = (0.75, 0.9, 0.97)  # share of the most frequent level
MIN_PROBES = 500  # fewest probes of a feature class; smaller ones join their neighbour


def find_feature_classes(store: FeatureStore, n_probes: int) -> np.ndarray:
    """uint8 by place: the class of each feature; classes are numbered from 0 without gaps."""
    n_levels, kinds, shares = store.n_levels, store.kinds, store.top_shares
    n_level_classes, n_shares = len(LEVEL_EDGES) + 1, len(SHARE_EDGES) + 1
    cell = np.empty(store.n_features, np.uint8)
    for start in range(0, len(cell), PIECE):
        here = slice(start, start + PIECE)
        by_subset = (kinds[here] == CATEGORICAL) & (n_levels[here] > 2)
        levels = np.searchsorted(LEVEL_EDGES, n_levels[here].astype(np.int64), side="right")
        share = np.searchsorted(SHARE_EDGES, shares[here], side="right")
        cell[here] = (by_subset * n_level_classes + levels) * n_shares + share
    counts = np.zeros(2 * n_level_classes * n_shares, np.int64)
    for start in range(0, len(cell), PIECE):
        counts += np.bincount(cell[start : start + PIECE], minlength=len(counts))
    joined = join_small(counts, n_probes).astype(np.uint8)
    feature_classes: np.ndarray = joined[cell][store.feature_ids]
    return feature_classes


def join_small(counts: np.ndarray, n_probes: int) -> np.ndarray:
    """Number the cells so that each feature class has at least MIN_PROBES probes.

    Neighbouring cells are alike, so a small one joins the one before it, the first ones the next.

    >>> import numpy as np
    >>> join_small(np.array([10, 3_000, 0, 5, 4_000]), 1).tolist()
    [0, 0, 0, 0, 1]
    """
    numbers = np.zeros(len(counts), np.int64)
    current, held = 0, 0
    for cell, count in enumerate(counts * n_probes):
        if held >= MIN_PROBES and count >= MIN_PROBES:
            current, held = current + 1, 0
        numbers[cell] = current
        held += int(count)
    return numbers
