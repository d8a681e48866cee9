"""Simulated regulatory networks, to choose settings of GENIE3 on others than those it is judged by.

Steady states of Hill kinetics under perturbed basal rates, as multifactorial experiments have them:
100 genes, 100 samples, about two regulators a gene, few of which regulate many.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks.measure import Line
from srs.explain.analyses import link_matrix, network

N_NETWORKS, N_TREES = 3, 200


def run() -> Iterator[Line]:
    made = [simulate(seed) for seed in range(N_NETWORKS)]
    for share in (0.0, 0.25, 0.5, 1.0):
        found = ", ".join(f"{_aupr(X, truth, share):.3f}" for X, truth in made)
        yield Line(
            f"regulation: AUPR of simulated networks, best cuts in {share:.0%} of trees", found
        )


def simulate(seed: int, p: int = 100, n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Expressions (n x p) and the true links (regulator x target)."""
    rng = np.random.default_rng([77, seed])
    links = np.zeros((p, p), bool)
    weight = rng.pareto(1.5, p) + 0.2
    for target in range(p):
        chance = np.where(np.arange(p) == target, 0.0, weight)
        links[rng.choice(p, rng.poisson(2), replace=False, p=chance / chance.sum()), target] = True
    effect = np.where(rng.random((p, p)) < 0.6, 1, -1) * links
    middle, steep = rng.uniform(0.3, 1.0, (p, p)), rng.uniform(1, 4, (p, p))
    basal = rng.uniform(0.3, 1.0, p)
    X = np.empty((n, p))
    for sample in range(n):
        rate, level = basal * np.exp(0.3 * rng.normal(size=p)), np.full(p, 0.5)
        for _ in range(400):
            bound = (level[:, None] / middle) ** steep
            bound /= 1 + bound
            change = np.select([effect > 0, effect < 0], [0.25 + bound, 1 - 0.75 * bound], 1.0)
            level = 0.8 * level + 0.2 * rate * change.prod(axis=0)
        X[sample] = level
    return X * (1 + 0.05 * rng.normal(size=X.shape)), links


def _aupr(X: np.ndarray, truth: np.ndarray, share: float) -> float:
    names = [f"f{i}" for i in range(X.shape[1])]
    weights = link_matrix(network(X, n_trees=N_TREES, best_cuts=share), names)
    off = ~np.eye(len(truth), dtype=bool)
    return float(average_precision_score(truth[off], weights[off]))
