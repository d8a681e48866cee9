"""UMFI on BRCA, 50 features, against the same with scikit-learn forests; MCI's cost."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from benchmarks.explain.data import brca
from benchmarks.measure import Line
from srs.explain.analyses import mci, umfi
from srs.explain.independence import transport

N_TREES = 100
PEER_GENES = 10  # extrapolated to 50
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
