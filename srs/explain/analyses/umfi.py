"""Ultra-marginal feature importance (Janssen and Guan 2022): what a feature tells at most."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.forest import OnProgress
from srs.explain.independence import METHODS
from srs.explain.matrix import Matrix, check_classes, open_matrix
from srs.explain.score import oob_score
from srs.ingest.encode.codes import encode_numeric
from srs.results.analysis import AnalysisResult, check_counts, make_table
from srs.seeds import EXPLAIN
from srs.trees import MISSING

UMFI = EXPLAIN + 7


def umfi(
    data: Any,
    target: Any = None,
    *,
    features: Any = None,
    method: str = "transport",
    n_trees: int = 100,
    n_repeats: int = 3,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> AnalysisResult:
    """What each feature adds to all others once these tell nothing of it any more.

    method     how the others are made independent of the feature: "linear" (regression) or
               "transport" (pairwise optimal transport); the latter removes more on real data
    n_repeats  forests are grown so often; the value is the mean

    value  out-of-bag score (accuracy, or R squared) of the others and the feature, less that of
           the others; what is below 0 is 0, as in the paper
    error  standard error over repeats

    Two forests per feature and repeat: time is linear in the number of features, times that of one
    forest, which grows with it too.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 2]
    >>> found = umfi(X, X[:, 0] + X[:, 1], method="linear")
    >>> [bool(v > 0.2) for v in found.column("value")]  # a copy takes nothing away
    [True, True, True]
    """
    if method not in METHODS:
        raise InputError(f"the method of umfi is {method!r}; it must be linear or transport.")
    check_counts(seed=seed, n_trees=n_trees, n_repeats=n_repeats, threads=threads)
    matrix = open_matrix(data, target, features)
    check_classes(matrix)
    values = filled(matrix)

    def score(spec: tuple[int, int]) -> float:
        codes, categorical = _others_then(matrix, values, spec[0], method)
        return _added(matrix, codes, categorical, n_trees, (seed, UMFI, *spec))

    specs = [(column, r) for column in range(matrix.n_features) for r in range(n_repeats)]
    found = []
    with threadpool_limits(1):  # our threads are enough, those of BLAS would get in their way
        for value in LocalExecutor(threads).map(score, specs):
            found.append(value)
            if on_progress:
                on_progress(len(found) / len(specs))
    raw = np.array(found).reshape(matrix.n_features, n_repeats)
    error = raw.std(axis=1, ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else None
    table = make_table(
        matrix.names, np.maximum(raw.mean(axis=1), 0.0), error=error, raw=raw.mean(axis=1)
    )
    settings = {"method": method, "n_trees": n_trees, "n_repeats": n_repeats, "seed": seed}
    return AnalysisResult("umfi", table, settings, (*NOTES, *matrix.notices))


NOTES = (
    "UMFI does not divide importance among features that carry the same information: a copy of "
    "an important feature is as important. It has no null distribution: treat values up to two "
    "standard errors as noise.",
)


def filled(matrix: Matrix) -> np.ndarray:
    """Values with missing ones replaced by the median of their column."""
    values = matrix.values
    missing = np.isnan(values)
    if not missing.any():
        return values
    return np.where(missing, np.nanmedian(values, axis=0), values)


def _added(
    matrix: Matrix,
    codes: np.ndarray,
    categorical: np.ndarray,
    n_trees: int,
    place: tuple[int, ...],
) -> float:
    """The score of all columns, less that of all but the last."""

    def score(codes: np.ndarray, categorical: np.ndarray) -> float:
        target, subjects = matrix.tree_target, matrix.subjects
        return oob_score(codes, categorical, target, n_trees, place, subjects=subjects)

    alone = score(np.ascontiguousarray(codes[:, :-1]), categorical[:-1])
    return score(codes, categorical) - alone


def _others_then(
    matrix: Matrix, values: np.ndarray, column: int, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the others, which tell nothing of the column, and then the column; which are
    categories."""
    others = np.delete(np.arange(matrix.n_features), column)
    codes = np.empty((matrix.n_samples, matrix.n_features), np.uint8)
    codes[:, :-1] = _independent(matrix, values, column, others, method)
    codes[:, -1] = matrix.codes[:, column]
    return codes, matrix.is_categorical[np.append(others, column)]


def _independent(
    matrix: Matrix, values: np.ndarray, column: int, others: np.ndarray, method: str
) -> np.ndarray:
    """Codes of the other features after removing what they share with the column."""
    moved = METHODS[method](
        values[:, others], values[:, column], bool(matrix.is_categorical[column])
    )
    codes = encode_numeric(moved.T)[0].T
    kept = matrix.is_categorical[others]
    codes[:, kept] = matrix.codes[:, others[kept]]
    codes[matrix.codes[:, others] == MISSING] = MISSING
    return np.asarray(codes)


UMFI_ANALYSIS = Analysis(
    name="umfi",
    title="Ultra-marginal importance",
    question="How much information a feature carries at most, including what it shares with others",
    run=umfi,
    value="method",
    options=(
        Option(
            "method",
            "str",
            "how the others are made independent of the feature",
            "transport",
            choices=tuple(METHODS),
        ),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
        Option("n_repeats", "int", "number of repeats", 3, low=1, high=MOST),
    ),
    whole_subjects=True,
    section=Section(
        "What a feature adds to all others after their information about it is removed. Copies "
        "do not take importance from one another. Whiskers are two standard errors over repeats.",
        columns=("raw",),
    ),
)
