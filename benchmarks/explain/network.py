"""GENIE3 on DREAM4, 1,000 trees a target, against scikit-learn's RandomForestRegressor.

AUPR moves with the seed: ours is the mean over seeds with its spread, the peer's has a jackknife
error over groups of its trees, so that a difference can be told from noise. The peer grows fewer
trees; its time is extrapolated, and its AUPR hardly moves from 200 trees on.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.explain.data import dream4
from benchmarks.measure import Line
from srs.importance import link_matrix, network

N_TREES, N_SEEDS = 1000, 3
PEER_TREES, PEER_GROUPS = 200, 20
PUBLISHED = {1: (0.745, 0.154), 2: (0.733, 0.155), 3: (0.775, 0.231)}


def run(numbers: tuple[int, ...] = (1, 2, 3)) -> Iterator[Line]:
    network(dream4(1)[0], n_trees=2)  # compiles
    for number in numbers:
        X, truth = dream4(number)
        start = perf_counter()
        found = [_areas(truth, _links(X, seed)) for seed in range(N_SEEDS)]
        seconds = (perf_counter() - start) / N_SEEDS
        auroc, aupr = np.mean(found, axis=0)
        spread = np.std(found, axis=0, ddof=1)[1]
        floor = _areas(truth, np.abs(np.corrcoef(X.T)))
        yield Line(
            f"network {number}: AUROC, AUPR (standard deviation over {N_SEEDS} seeds)",
            f"{auroc:.3f}, {aupr:.4f} ({spread:.4f}) in {seconds:.1f} s",
            f"above Pearson {floor[0]:.3f}, {floor[1]:.3f} (GENIE3: {PUBLISHED[number]})",
            auroc > floor[0] and aupr > floor[1],
        )
        start = perf_counter()
        full = _areas(truth, _links(X, 0, max_depth=None))
        full_seconds = perf_counter() - start
        theirs, peer, error = _peer(X, truth)
        yield Line(
            f"network {number}: full trees, AUROC, AUPR; against RandomForestRegressor",
            f"{full[0]:.3f}, {full[1]:.3f}; {full_seconds:.0f} s against {theirs:.0f} s: "
            f"{theirs / full_seconds:.1f} x (default depth: {theirs / seconds:.0f} x)",
            "at least 5 x", theirs / full_seconds >= 5,
        )  # fmt: skip
        yield Line(
            f"network {number}: AUPR of RandomForestRegressor, our difference in errors of it",
            f"{peer:.4f} ({error:.4f}); {aupr - peer:+.4f}, "
            f"{(aupr - peer) / np.hypot(error, spread / np.sqrt(N_SEEDS)):+.1f}",
            "not lower", aupr >= peer,
        )  # fmt: skip


def _links(X: np.ndarray, seed: int, **options: int | None) -> np.ndarray:
    names = [f"f{i}" for i in range(X.shape[1])]
    return link_matrix(network(X, n_trees=N_TREES, seed=seed, **options), names)


def _peer(X: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Seconds for N_TREES trees, AUPR, and its jackknife error over groups of trees."""
    p = X.shape[1]
    weights = np.zeros((PEER_GROUPS, p, p))
    seconds = 0.0
    for target in range(p):
        inputs = np.delete(np.arange(p), target)
        y = X[:, target] / X[:, target].std()
        start = perf_counter()
        forest = RandomForestRegressor(PEER_TREES, n_jobs=-1, random_state=target)
        trees = forest.fit(X[:, inputs], y).estimators_
        seconds += perf_counter() - start
        for at, tree in enumerate(trees):
            weights[at % PEER_GROUPS, inputs, target] += tree.feature_importances_
    total = weights.sum(axis=0)
    left_out = [_areas(truth, total - group)[1] for group in weights]
    error = np.sqrt((PEER_GROUPS - 1) / PEER_GROUPS * np.sum((left_out - np.mean(left_out)) ** 2))
    return seconds * N_TREES / PEER_TREES, _areas(truth, total)[1], float(error)


def _areas(truth: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    off = ~np.eye(len(truth), dtype=bool)
    known, guessed = truth[off], weights[off]
    return roc_auc_score(known, guessed), average_precision_score(known, guessed)
