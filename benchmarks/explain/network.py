"""GENIE3 on DREAM4, 1,000 trees a target, against scikit-learn's RandomForestRegressor.

AUPR moves with the seed: ours is the mean over seeds with its spread, the peer's has a jackknife
error over groups of its trees, so that a difference can be told from noise. The peer grows fewer
trees, from 200 of which on its AUPR hardly moves. Speed is processor time for the same targets and
numbers of trees, one after the other: of the trees that we grow by default, of these without a
limit of depth, and of the peer's own kind (best cuts of bootstrap samples, no limit).
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.explain.data import dream4
from benchmarks.measure import Line
from srs.explain.analyses import link_matrix, network, open_matrix

N_TREES, N_SEEDS = 1000, 3
PEER_TREES, PEER_GROUPS = 200, 20
N_TIMED = 20  # targets
KINDS = {
    "as it comes": {},
    "full trees": {"max_depth": None},
    "the peer's trees": {"max_depth": None, "best_cuts": 1.0},
}
PUBLISHED = {1: (0.745, 0.154), 2: (0.733, 0.155), 3: (0.775, 0.231)}


def run(numbers: tuple[int, ...] = (1, 2, 3)) -> Iterator[Line]:
    network(dream4(1)[0], n_trees=2)  # compiles
    for number in numbers:
        X, truth = dream4(number)
        start = process_time()
        found = [_areas(truth, _links(X, seed)) for seed in range(N_SEEDS)]
        seconds = (process_time() - start) / N_SEEDS
        auroc, aupr = np.mean(found, axis=0)
        spread = np.std(found, axis=0, ddof=1)[1]
        floor = _areas(truth, np.abs(np.corrcoef(X.T)))
        yield Line(
            f"network {number}: AUROC, AUPR (standard deviation over {N_SEEDS} seeds)",
            f"{auroc:.3f}, {aupr:.4f} ({spread:.4f}) in {seconds:.1f} s of CPU",
            f"above Pearson {floor[0]:.3f}, {floor[1]:.3f} (GENIE3: {PUBLISHED[number]})",
            auroc > floor[0] and aupr > floor[1],
        )
        yield from _speed(number, X)
        peer, error = _peer(X, truth)
        yield Line(
            f"network {number}: AUPR of RandomForestRegressor, our difference in errors of it",
            f"{peer:.4f} ({error:.4f}); {aupr - peer:+.4f}, "
            f"{(aupr - peer) / np.hypot(error, spread / np.sqrt(N_SEEDS)):+.1f}",
            "not lower",
            aupr >= peer,
        )


def _links(X: np.ndarray, seed: int, **options: int | None) -> np.ndarray:
    names = [f"f{i}" for i in range(X.shape[1])]
    return link_matrix(network(X, n_trees=N_TREES, seed=seed, **options), names)


def _speed(number: int, X: np.ndarray) -> Iterator[Line]:
    matrix = open_matrix(X, needs_target=False)
    ours, theirs = dict.fromkeys(KINDS, 0.0), 0.0
    for target in range(N_TIMED):
        for kind, options in KINDS.items():
            start = process_time()
            network(matrix, targets=[target], n_trees=PEER_TREES, threads=1, **options)
            ours[kind] += process_time() - start
        inputs = np.delete(X, target, axis=1)
        start = process_time()
        RandomForestRegressor(PEER_TREES, n_jobs=1, random_state=target).fit(inputs, X[:, target])
        theirs += process_time() - start
    for kind, seconds in ours.items():
        yield Line(
            f"network {number}: {kind}, against RandomForestRegressor",
            f"{seconds:.1f} s against {theirs:.1f} s: {theirs / seconds:.1f} x",
            "at least 5 x",
            theirs / seconds >= 5,
        )


def _peer(X: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """AUPR, and its jackknife error over groups of trees."""
    p = X.shape[1]
    weights = np.zeros((PEER_GROUPS, p, p))
    for target in range(p):
        inputs = np.delete(np.arange(p), target)
        y = X[:, target] / X[:, target].std()
        forest = RandomForestRegressor(PEER_TREES, n_jobs=-1, random_state=target)
        trees = forest.fit(X[:, inputs], y).estimators_
        for at, tree in enumerate(trees):
            weights[at % PEER_GROUPS, inputs, target] += tree.feature_importances_
    total = weights.sum(axis=0)
    left_out = [_areas(truth, total - group)[1] for group in weights]
    error = np.sqrt((PEER_GROUPS - 1) / PEER_GROUPS * np.sum((left_out - np.mean(left_out)) ** 2))
    return _areas(truth, total)[1], float(error)


def _areas(truth: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    off = ~np.eye(len(truth), dtype=bool)
    known, guessed = truth[off], weights[off]
    return roc_auc_score(known, guessed), average_precision_score(known, guessed)
