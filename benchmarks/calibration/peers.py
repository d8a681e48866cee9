"""Peers that come as packages of their own: knockoffs (knockpy) and stability selection (ipss).

Both are in the extra `bench`. Neither takes missing values or more than two classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np

from benchmarks.calibration.problems import Problem

PACKAGES = {"BorutaPy": "boruta", "knockoffs": "knockpy", "IPSS": "ipss"}
TWO_CLASSES_ONLY = ("knockoffs", "IPSS")
MANY_CLASSES = ("clique", "many_classes")
# Above 500 features, where the covariance takes long, or fewer samples than half of them.
KNOCKOFF_WIDE = ("few_samples", "rare_variants", "pair_of_20000")
IPSS_WIDE = ("pair_of_20000",)


def missing_peers() -> dict[str, str]:
    """A sentence for each peer that is not installed."""
    return {
        method: f"{method} is left out: {package} is not installed (the extra bench has it)."
        for method, package in PACKAGES.items()
        if find_spec(package) is None
    }


def knockoffs(problem: Problem, seed: int) -> np.ndarray:
    """Second-order Gaussian knockoffs, differences of lasso coefficients, knockoff+ at the rate."""
    from knockpy.knockoff_filter import KnockoffFilter

    with _numpy_seeded(seed):
        chosen = KnockoffFilter(ksampler="gaussian", fstat="lasso").forward(
            X=problem.X.astype(float), y=problem.y.astype(float), fdr=0.1
        )
    return np.flatnonzero(chosen)


def ipss_boosting(problem: Problem, seed: int) -> np.ndarray:
    """Integrated path stability selection with gradient boosting, its q-values at the rate."""
    from ipss import ipss

    with _numpy_seeded(seed):
        found = ipss(problem.X.astype(float), problem.y, target_fdr=0.1, n_jobs=1)
    return np.array(sorted(found["selected_features"]), dtype=np.int64)


@contextmanager
def _numpy_seeded(seed: int) -> Iterator[None]:
    """Both draw from numpy's global state, and warn a lot."""
    state = np.random.get_state()
    np.random.seed(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)
