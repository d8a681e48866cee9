"""Which columns the trees of the next round may carry: the best by any kind of evidence."""

from __future__ import annotations

import numpy as np

from srs.engine.subspace import Pool
from srs.evidence.arrays import PIECE, Evidence
from srs.evidence.registry import evidence_kind, with_probes
from srs.inference.scale import scaled_statistic

SURE = 0.05  # chance that any feature of a run without signal is carried by its p-value
PERCENTILE_SAMPLE = 10_000  # features that percentiles of the evidence are taken from


def choose_pool(
    evidence: Evidence,
    kinds: tuple[str, ...],
    size: int,
    pinned: np.ndarray,
    feature_classes: np.ndarray | None = None,
) -> Pool:
    """The columns that trees may carry next: the best, by any kind, of features and probes alike.

    Kinds take turns, so that each has its own best in the pool. Pinned features stand first. Kinds
    with p-values have no probes to be carried beside their features, so only features that are sure
    by them are, in half of the pool at most: noise that was carried would confirm itself.
    """
    n_features = len(evidence.n_drawn)
    rankings = []
    outstanding: set[int] = set()
    for kind in with_probes(kinds):
        statistic = scaled_statistic(evidence, kind, feature_classes)
        flat = statistic.ravel()
        best = _largest(flat, size)
        # Ties by column number would favour features over probes: break them by place first.
        ranking = best[np.lexsort((best // n_features, best % n_features, -flat[best]))][:size]
        rankings.append(ranking)
        outstanding.update(ranking[flat[ranking] > outstanding_from(statistic)].tolist())
        del statistic, flat  # before the next are made
    chosen: dict[int, None] = dict.fromkeys(_sure(evidence, kinds, size // 2))
    outstanding.update(chosen)
    for rank in range(size):
        for ranking in rankings:
            if rank < len(ranking):
                chosen.setdefault(int(ranking[rank]))
    apart = set(pinned.tolist())
    columns = np.array([c for c in chosen if c % n_features not in apart], np.int64)[:size]
    stands_out = np.array([c in outstanding for c in columns.tolist()], np.bool_)
    fixed = Pool.of_pinned(pinned)
    return Pool(
        np.concatenate([fixed.places, columns % n_features]),
        np.concatenate([fixed.roles, (columns // n_features).astype(np.uint8)]),
        np.concatenate([fixed.outstanding, stands_out]),
    )


def _sure(evidence: Evidence, kinds: tuple[str, ...], size: int) -> list[int]:
    """Places of features that are sure by the p-values of a kind, the surest first."""
    found: list[int] = []
    for kind in (kind for kind in kinds if evidence_kind(kind).carried):
        values = evidence.by_kind[kind][0]
        places = np.flatnonzero(values > np.log(len(values) / SURE))
        found += places[np.lexsort((places, -values[places]))][:size].tolist()
    return found[:size]


def _largest(values: np.ndarray, size: int) -> np.ndarray:
    """Where the `size` largest of the positive values are, and all that tie with the least.

    >>> _largest(np.array([3.0, 0.0, 1.0, 2.0]), 2), _largest(np.array([3.0, 1.0]), 0)
    (array([0, 3]), array([], dtype=int64))
    """
    if size == 0:
        return np.empty(0, np.int64)
    found = []
    for start in range(0, len(values), PIECE):
        piece = values[start : start + PIECE]
        positive = piece[piece > 0]  # most columns made no split: partitioning zeros is slow
        least = 0.0
        if len(positive) > size:
            least = np.partition(positive, len(positive) - size)[len(positive) - size]
        found.append(start + np.flatnonzero((piece > 0) & (piece >= least)))
    best = np.concatenate(found)
    if len(found) == 1 or len(best) <= size:
        return best
    largest: np.ndarray = best[values[best] >= np.sort(values[best])[len(best) - size]]
    return largest


def outstanding_from(statistic: np.ndarray) -> float:
    """From where on a column stands out, from features and probes together.

    The exponential tail through the 95th and 99th percentiles, which a few relevant features do
    not move, at the level of one column in twenty runs.
    """
    some = statistic[:, :: max(1, statistic.shape[1] // PERCENTILE_SAMPLE)].ravel()
    at = [int(len(some) * 0.95), int(len(some) * 0.99)]
    low, high = np.partition(some, at)[at]
    scale = (high - low) / np.log(5.0)
    return float(high + scale * np.log(max(0.01 * statistic.size / 0.05, 1.0)))
