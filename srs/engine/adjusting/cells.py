"""Cells: samples that are alike in what features follow of the covariates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from srs.store import FeatureStore
from srs.store.layout import MISSING

SAMPLED = 1_024  # features that say which directions features follow
CELL = 8  # samples of a cell, at least; below twice as many it is not cut again
BLOCK_VALUES = 1 << 22  # of features that are looked at together
DIGITS = 6
LOOSE = 4.0  # features that count as one for noise, as neighbours are correlated


def find_cells(
    store: FeatureStore,
    columns: np.ndarray,
    parts: Sequence[np.ndarray],
    strata: np.ndarray | None,
    subjects: np.ndarray | None,
) -> np.ndarray | None:
    """The cell of each sample; without cells, as features do not follow the covariates, `strata`.

    columns   covariates, a column of ones before them
    parts     sets of samples that are cut separately, the training samples first
    strata    int by sample: cells do not cross them
    subjects  int by sample: a subject is in one cell
    """
    places = followed(store, columns, parts[0])
    if not places.shape[1]:
        return strata
    owner = np.arange(len(columns)) if subjects is None else subjects
    counts = np.maximum(np.bincount(owner), 1)
    places = np.stack([np.bincount(owner, one) / counts for one in places.T], axis=1)
    cells = np.zeros(len(counts), np.int64)
    n_cells = 0
    for part in parts:
        for group in _cut(np.unique(owner[part]), np.round(places, DIGITS)):
            cells[group] = n_cells
            n_cells += 1
    found: np.ndarray = cells[owner]
    if strata is None:
        return found
    both = np.unique(np.stack([strata, found]), axis=1, return_inverse=True)[1]
    return np.asarray(both, np.int64).reshape(-1)


def _cut(units: np.ndarray, places: np.ndarray) -> Iterator[np.ndarray]:
    """Sets of CELL units or a few more: halves of halves, each across its widest direction."""
    groups = [units]
    while groups:
        group = groups.pop()
        if len(group) < 2 * CELL:
            yield group
            continue
        widest = int(np.ptp(places[group], axis=0).argmax())
        order = group[np.argsort(places[group, widest], kind="stable")]
        groups += [order[: len(group) // 2], order[len(group) // 2 :]]


def followed(store: FeatureStore, columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Where samples are in the directions of the covariates that features follow, (n_samples, d);
    a direction counts by the square root of what features follow it beyond chance.

    Rounded, so that all machines put samples in the same order.
    """
    q, r = np.linalg.qr(columns[train])
    own = _projected(store, q[:, 1:], train)
    n, m = len(train), max(own.shape[1], 1)
    values, vectors = np.linalg.eigh(own @ own.T * (n / m))
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    chance = (1.0 + np.sqrt(LOOSE * len(values) / m)) ** 2
    kept = values > chance
    basis = np.linalg.solve(r.T, columns.T).T[:, 1:]  # q, of all samples
    places = basis @ (vectors[:, kept] * np.sqrt(values[kept] - 1.0))
    scale = np.abs(places).max(initial=1e-300)
    return np.asarray(np.round(places / scale, DIGITS))


def _projected(store: FeatureStore, basis: np.ndarray, train: np.ndarray) -> np.ndarray:
    """The first features of a store, which are random ones, as mid-ranks of mean 0 and length 1,
    in the directions of a basis: (k, m)."""
    n_features = min(SAMPLED, store.n_features)
    step = max(1, min(64, BLOCK_VALUES // store.n_samples))
    found = [np.empty((basis.shape[1], 0))]
    for start in range(0, n_features, step):
        codes = store.read_places(np.arange(start, min(start + step, n_features)))[train]
        ranks = np.stack([_mid_ranks(codes[:, at]) for at in range(codes.shape[1])], axis=1)
        size = np.sqrt((ranks**2).sum(axis=0))
        varies = size > 1e-9
        found.append(basis.T @ (ranks[:, varies] / size[varies]))
    return np.concatenate(found, axis=1)


def _mid_ranks(codes: np.ndarray) -> np.ndarray:
    counts = np.bincount(codes, minlength=256)[:MISSING].astype(np.float64)
    middle = np.cumsum(counts) - counts / 2
    total = max(counts.sum(), 1.0)
    values = np.append(middle - float(counts @ middle) / total, 0.0)
    found: np.ndarray = values[codes] / total
    return found
