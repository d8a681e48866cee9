"""UMFI on BRCA, 50 features, against the same with scikit-learn forests; MCI's cost."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

from benchmarks.explain.data import brca
from benchmarks.measure import Line
from srs.explain.analyses import mci, umfi
from srs.explain.independence import make_independent, transport

N_TREES = 100
PEER_GENES = 10  # extrapolated to 50
FIGURE_GENES = 15  # of figures 2 and 3
KNOWN = {"BCL11A", "EZH2", "IGF1R", "LFNG", "BRCA1", "SLC22A5", "CDK6", "BRCA2", "TEX14", "CCND1"}


def run() -> Iterator[Line]:
    X, y = brca()
    umfi(X.iloc[:, :3], y, n_trees=5)  # compiles
    start = perf_counter()
    once = umfi(X, y, n_trees=N_TREES, n_repeats=1)
    ours = perf_counter() - start
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        theirs = _peer_seconds(X, y, kind)
        is_bar = kind is RandomForestClassifier
        yield Line(
            f"marginal: UMFI on BRCA against {kind.__name__}",
            f"{ours:.1f} s against {theirs:.1f} s: {theirs / ours:.1f} x",
            "at least 5 x" if is_bar else "",
            theirs / ours >= 5 if is_bar else None,
        )
    for method in ("linear", "transport"):
        found = umfi(X, y, method=method) if method == "linear" else once
        frame = found.frame.sort_values("value", ascending=False)
        n_known = len(KNOWN & set(frame["feature"][:15]))
        n_zero = int((frame["value"] == 0).sum())
        yield Line(
            f"marginal: UMFI ({method}) on BRCA: first, known in 15, at 0",
            f"{frame['feature'].iloc[0]}, {n_known}, {n_zero}",
            "BCL11A, most of ten, some",
            frame["feature"].iloc[0] == "BCL11A" and n_known >= 6 and n_zero > 0,
        )
    yield from _growth(X, y)
    yield from _removal(X)


def _peer_seconds(X: pd.DataFrame, y: pd.Series, kind: type) -> float:
    values = X.to_numpy(float)
    start = perf_counter()
    for column in range(PEER_GENES):
        others = transport(np.delete(values, column, axis=1), values[:, column], False)
        for inputs in (others, np.column_stack([others, values[:, column]])):
            kind(N_TREES, bootstrap=True, oob_score=True, n_jobs=-1, random_state=0).fit(inputs, y)
    return (perf_counter() - start) * values.shape[1] / PEER_GENES


def _growth(X: pd.DataFrame, y: pd.Series) -> Iterator[Line]:
    seconds: dict[str, list[float]] = {"umfi": [], "mci": []}
    for p in (5, 7, 9):
        start = perf_counter()
        umfi(X.iloc[:, :p], y, n_repeats=1, n_trees=20)
        middle = perf_counter()
        mci(X.iloc[:, :p], y, method="exact", n_trees=20)
        seconds["umfi"].append(middle - start)
        seconds["mci"].append(perf_counter() - middle)
    for name, values in seconds.items():
        yield Line(
            f"marginal: time of {name} at 5, 7, 9 features, by the first",
            ", ".join(f"{value / values[0]:.1f}" for value in values),
            "linear" if name == "umfi" else "exponential",
        )


def _removal(X: pd.DataFrame) -> Iterator[Line]:
    """Figures 2 and 3: what is left of a feature in the others, and what is left of the others."""
    values = X.iloc[:, :FIGURE_GENES].to_numpy(float)
    for method in ("linear", "transport"):
        left, kept = [], []
        for column in range(FIGURE_GENES):
            others = np.delete(values, column, axis=1)
            rng = np.random.default_rng(column)
            moved = make_independent(others, values[:, column], False, method, rng)
            forest = RandomForestRegressor(N_TREES, oob_score=True, n_jobs=-1, random_state=0)
            left.append(forest.fit(moved, values[:, column]).oob_score_)
            kept += [information_coefficient(a, b) for a, b in zip(others.T, moved.T, strict=True)]
        removed = method == "transport"
        yield Line(
            f"marginal: UMFI ({method}), Figure 2: R squared that is left, median",
            f"{np.median(left):.2f}",
            "0" if removed else "above 0",
            abs(np.median(left)) < 0.1 if removed else np.median(left) > 0.1,
        )
        yield Line(
            f"marginal: UMFI ({method}), Figure 3: kept of other features: 5 %, median, lowest",
            f"{np.quantile(kept, 0.05):.2f}, {np.median(kept):.2f}, {min(kept):.2f}",
            "0.6 to 0.9, some as low as 0.37" if removed else "more than transport",
        )


def information_coefficient(x: np.ndarray, y: np.ndarray) -> float:
    """The maximal information coefficient on grids of equal counts: the largest mutual information
    by the logarithm of the shorter side, over grids of at most n**0.6 cells."""
    n, best = len(x), 0.0
    most = int(n**0.6)
    ranks = [np.argsort(np.argsort(v, kind="stable"), kind="stable") for v in (x, y)]
    for rows in range(2, most // 2 + 1):
        for columns in range(2, most // rows + 1):
            cells = (ranks[0] * rows // n) * columns + ranks[1] * columns // n
            shares = np.bincount(cells, minlength=rows * columns).reshape(rows, columns) / n
            joint = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
            known = shares > 0
            told = (shares[known] * np.log2(shares[known] / joint[known])).sum()
            best = max(best, float(told / np.log2(min(rows, columns))))
    return best
