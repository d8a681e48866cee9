"""GENIE3 on DREAM4, 1,000 trees a target, against scikit-learn's RandomForestRegressor.

Times compare full trees with full trees; AUPR is that of the default, trees of depth 3.
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

N_TREES = 1000
PEER_TREES = 200  # extrapolated in time; its AUPR hardly moves from here on
PUBLISHED = {1: (0.745, 0.154), 2: (0.733, 0.155), 3: (0.775, 0.231)}


def run() -> Iterator[Line]:
    found: dict[str, list[float]] = {"ours": [], "all tried": [], "sqrt tried": []}
    network(dream4(1)[0], n_trees=2)  # compiles
    for number in (1, 2, 3):
        X, truth = dream4(number)
        names = [f"f{i}" for i in range(X.shape[1])]
        start = perf_counter()
        ours = link_matrix(network(X, n_trees=N_TREES), names)
        quick = perf_counter() - start
        auroc, aupr = _areas(truth, ours)
        found["ours"].append(aupr)
        floor = _areas(truth, np.abs(np.corrcoef(X.T)))
        yield Line(
            f"network: DREAM4 network {number}, AUROC, AUPR",
            f"{auroc:.3f}, {aupr:.3f} in {quick:.0f} s",
            f"above Pearson {floor[0]:.3f}, {floor[1]:.3f} (GENIE3: {PUBLISHED[number]})",
            auroc > floor[0] and aupr > floor[1],
        )
        start = perf_counter()
        full = link_matrix(network(X, n_trees=N_TREES, max_depth=None), names)
        seconds = perf_counter() - start
        yield Line(
            f"network {number}: the same with full trees",
            "{:.3f}, {:.3f}".format(*_areas(truth, full)) + f" in {seconds:.0f} s",
        )
        for tried, label in ((1.0, "all tried"), ("sqrt", "sqrt tried")):
            theirs, weights = _peer(X, tried)
            theirs *= N_TREES / PEER_TREES
            found[label].append(_areas(truth, weights)[1])
            yield Line(
                f"network {number}: against RandomForestRegressor, {label}",
                f"{theirs / seconds:.1f} x ({theirs:.0f} s), its AUPR {found[label][-1]:.3f}",
                "at least 5 x", theirs / seconds >= 5,
            )  # fmt: skip
    for number, values in enumerate(zip(*found.values(), strict=True), 1):
        yield Line(
            f"network {number}: AUPR, ours; all tried; sqrt tried",
            "; ".join(f"{aupr:.3f}" for aupr in values), "not lower than either",
            values[0] >= max(values[1:]),
        )  # fmt: skip


def _peer(X: np.ndarray, tried: float | str) -> tuple[float, np.ndarray]:
    p = X.shape[1]
    weights = np.zeros((p, p))
    start = perf_counter()
    for target in range(p):
        inputs = np.delete(np.arange(p), target)
        y = X[:, target] / X[:, target].std()
        forest = RandomForestRegressor(
            PEER_TREES, max_features=tried, n_jobs=-1, random_state=target
        ).fit(X[:, inputs], y)
        weights[inputs, target] = forest.feature_importances_
    return perf_counter() - start, weights


def _areas(truth: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    off = ~np.eye(len(truth), dtype=bool)
    known, guessed = truth[off], weights[off]
    return roc_auc_score(known, guessed), average_precision_score(known, guessed)
