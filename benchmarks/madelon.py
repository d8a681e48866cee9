"""Madelon among 50,000 features: what is found in how many trees, and the time of peers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import srs
from benchmarks.madelon_data import load_madelon, widen
from benchmarks.measure import Line, temporary_folder, write_codes_store

N_FEATURES, MAX_TREES, N_SEEDS = 50_000, 150, 5
PEER_SECONDS = 600


def run() -> Iterator[Line]:
    data = load_madelon()
    if data is None:
        yield Line("madelon", "skipped: no reference data (SRS_REFERENCE_DATA)")
        return
    X, y, relevant = data
    truth = set(relevant.tolist())
    seconds = []
    with temporary_folder() as folder:
        for seed in range(N_SEEDS):
            wide = widen(X, relevant, N_FEATURES, seed)
            write_codes_store(
                folder / "m.zarr", lambda first, n, w=wide: w[first : first + n], N_FEATURES, y
            )
            start = perf_counter()
            result = srs.select(folder / "m.zarr", seed=seed, max_trees=MAX_TREES)
            seconds.append(perf_counter() - start)
            found = set(result.relevant_ids.tolist())
            n_true, n_false = len(found & truth), len(found - truth)
            yield Line(
                f"madelon among {N_FEATURES}, seed {seed}",
                f"{n_true} of 20, {n_false} false, {result.n_trees} trees, {seconds[-1]:.1f} s",
                f"20 of 20, at most 2 false, {MAX_TREES} trees",
                n_true == 20 and n_false <= 2 and result.n_trees <= MAX_TREES,
            )
    yield _against_extra_trees(wide, y, relevant, float(np.median(seconds)))
    if os.environ.get("SRS_BENCH_PEERS"):
        yield from _peers(X, y, relevant)


def _against_extra_trees(
    wide: np.ndarray, y: np.ndarray, relevant: np.ndarray, ours: float
) -> Line:
    X = np.ascontiguousarray(wide.T, dtype=np.float32)
    start = perf_counter()
    forest = ExtraTreesClassifier(1000, max_features="sqrt", n_jobs=-1, random_state=0).fit(X, y)
    theirs = perf_counter() - start
    top = np.argsort(-forest.feature_importances_)[:20]
    in_top = len(set(top.tolist()) & set(relevant.tolist()))
    return Line(
        "against 1000 sqrt extra-trees of scikit-learn, all cores",
        f"{ours:.1f} s against {theirs:.1f} s: {theirs / ours:.1f} x ({in_top} in its top 20)",
        "at least 5 x",
        theirs / ours >= 5,
    )


def _peers(X: np.ndarray, y: np.ndarray, relevant: np.ndarray) -> Iterator[Line]:
    """BorutaPy and a random forest at the largest p that each manages in ten minutes."""
    from boruta import BorutaPy

    truth = set(relevant.tolist())
    for name in ("BorutaPy", "random forest"):
        sizes = (500, 2_000, 5_000, 20_000, 50_000)
        for n_features, following in zip(sizes, (*sizes[1:], 0), strict=True):
            wide = np.ascontiguousarray(
                widen(X, relevant, max(n_features, 500), 0).T, dtype=np.float32
            )
            start = perf_counter()
            if name == "BorutaPy":
                forest = RandomForestClassifier(n_jobs=-1, max_depth=7, class_weight="balanced")
                found = set(
                    np.flatnonzero(
                        BorutaPy(forest, n_estimators="auto", random_state=1).fit(wide, y).support_
                    ).tolist()
                )
            else:
                fitted = RandomForestClassifier(1000, n_jobs=-1, random_state=0).fit(wide, y)
                found = set(np.argsort(-fitted.feature_importances_)[:20].tolist())
            took = perf_counter() - start
            yield Line(
                f"{name} among {n_features}",
                f"{len(found & truth)} of 20, {len(found - truth)} false, {took:.0f} s",
            )
            if took * following / n_features > PEER_SECONDS:
                break  # the next size would take longer than ten minutes
