"""J_chi2 on golub: time against scikit-learn trees and a loop over features, s and BCR."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.explain.data import golub
from benchmarks.measure import Line
from srs.explain.analyses import vote_shift

N_TREES, PEER_TREES, PEER_FEATURES = 10_000, 40, 50
N_SPLITS = 5  # the slides have 200


def run() -> Iterator[Line]:
    X, y = golub()
    vote_shift(X, y, n_trees=50)  # compiles
    start = perf_counter()
    vote_shift(X, y, n_trees=N_TREES)
    ours = perf_counter() - start
    theirs = _peer_seconds(X, y)
    yield Line(
        f"vote shift: golub, {N_TREES:,} trees, against scikit-learn (extrapolated)",
        f"{ours:.1f} s against {theirs:,.0f} s: {theirs / ours:,.0f} x",
        "at least 20 x",
        theirs / ours >= 20,
    )
    yield from _resampled(X, y)


def _peer_seconds(X: np.ndarray, y: np.ndarray) -> float:
    """Fit, then shuffle each feature for each tree: a few of both, extrapolated."""
    start = perf_counter()
    forest = RandomForestClassifier(PEER_TREES, n_jobs=1, random_state=0).fit(X, y)
    fit = (perf_counter() - start) / PEER_TREES
    rng = np.random.default_rng(0)
    single = X.astype(np.float32)
    start = perf_counter()
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        outside = np.setdiff1d(np.arange(len(X)), rows)
        shuffled = single[outside]
        for column in range(PEER_FEATURES):
            kept = shuffled[:, column].copy()
            shuffled[:, column] = rng.permutation(kept)
            tree.tree_.predict(shuffled)
            shuffled[:, column] = kept
    predict = (perf_counter() - start) / PEER_TREES / PEER_FEATURES
    return N_TREES * (fit + predict * X.shape[1])


def _resampled(X: np.ndarray, y: np.ndarray) -> Iterator[Line]:
    """s and BCR over splits of 90 and 10 %; the slide counts p-values below 0.05, uncorrected.

    Bounds: three standard errors of a mean of counts, two of a rate of so many test samples.
    """
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.1, random_state=0).split(X, y)
    sizes, corrected, rates = [], [], []
    for train, test in splits:
        found = vote_shift(X[train], y[train], n_trees=N_TREES)
        chosen = np.flatnonzero(found.column("p_value") < 0.05)
        sizes.append(len(chosen))
        corrected.append(int((found.column("q_value") < 0.05).sum()))
        if len(chosen):
            model = RandomForestClassifier(500, random_state=0).fit(X[train][:, chosen], y[train])
            predicted = model.predict(X[test][:, chosen])
            rates.append(balanced_accuracy_score(y[test], predicted))
        else:
            rates.append(0.5)
    yield Line(
        f"vote shift: golub, {N_SPLITS} splits: s (p < 0.05; after correction), BCR",
        f"{np.mean(sizes):.1f} ({np.mean(corrected):.1f}), {np.mean(rates):.2f}",
        "slide: 10.8, 0.96",
        abs(np.mean(sizes) - 10.8) < 3 * np.sqrt(10.8 / N_SPLITS) and np.mean(rates) >= 0.9,
    )
