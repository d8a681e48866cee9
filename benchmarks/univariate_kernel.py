"""Univariate tests of all columns against scipy and scikit-learn's f_classif, one thread.

`python -m benchmarks univariate_kernel`. Values are codes; the time of reading them once is beside.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats
from sklearn.feature_selection import f_classif

from benchmarks.measure import Line, best_seconds
from srs.evidence.univariate.target import UnivariateTest

N_SAMPLES, N_TILES = 1000, 64
MILLION_SECONDS = 5.0  # bar: a million columns of two classes


def run() -> Iterator[Line]:
    rng = np.random.default_rng(0)
    shape = (N_TILES, N_SAMPLES, 64)
    n_columns = N_TILES * 64
    everyone = np.arange(N_SAMPLES)
    two, eight = rng.integers(0, 2, N_SAMPLES), rng.integers(0, 8, N_SAMPLES)
    values, strata = rng.normal(size=N_SAMPLES), rng.integers(0, 5, N_SAMPLES)
    tests = {
        "2 classes": UnivariateTest.of_classes(two, 2, everyone),
        "2 classes, 5 strata": UnivariateTest.of_classes(two, 2, everyone, strata),
        "8 classes": UnivariateTest.of_classes(eight, 8, everyone),
        "numbers": UnivariateTest.of_numbers(values, everyone),
    }
    columns = {
        "255 levels": rng.integers(0, 255, shape, dtype=np.uint8),
        "genotypes": rng.binomial(2, 0.2, shape).astype(np.uint8),
        "rare variants": rng.binomial(2, 0.005, shape).astype(np.uint8),
    }
    ordered = np.zeros(n_columns, bool)
    for of_columns, codes in columns.items():
        words = codes.reshape(-1).view(np.uint64)
        read = best_seconds(lambda w=words: w.sum())
        for of_test, test in tests.items():
            seconds = best_seconds(lambda t=test, c=codes: t.run_tile(c, ordered), 3)
            million = seconds / n_columns * 1e6
            yield Line(
                f"{of_columns}, {of_test}",
                f"{seconds / codes.size * 1e9:.2f} ns a value, {seconds / read:.0f} x reading",
                f"a million columns in {MILLION_SECONDS:.0f} s: {million:.1f} s",
                million <= MILLION_SECONDS if of_test == "2 classes" else None,
            )
    yield from against_peers(columns["255 levels"], two, tests["2 classes"])


def against_peers(codes: np.ndarray, y: np.ndarray, test: UnivariateTest) -> Iterator[Line]:
    """The same p-values from scipy, and other ones from scikit-learn."""
    few = codes[:8]
    X = few.transpose(1, 0, 2).reshape(N_SAMPLES, -1).astype(np.float64)
    ordered = np.zeros(X.shape[1], bool)
    ours = best_seconds(lambda: test.run_tile(few, ordered))
    for name, bar, function in (
        ("scipy mannwhitneyu", 20, lambda: stats.mannwhitneyu(X[y == 1], X[y == 0])),
        ("scikit-learn f_classif", 1, lambda: f_classif(X, y)),
    ):
        theirs = best_seconds(function, 2)
        yield Line(
            f"{X.shape[1]} columns of 255 levels, 2 classes",
            f"{ours * 1e3:.1f} ms against {theirs * 1e3:.1f} ms: {theirs / ours:.1f} x",
            f"at least {bar} x {name}",
            theirs / ours >= bar,
        )
