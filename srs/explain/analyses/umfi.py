"""Ultra-marginal feature importance (Janssen and Guan 2022): what a feature tells at most.

Columns of the table:

value      out-of-bag score (accuracy, or R squared) of the others and the feature, less that of the
           others; what is below 0 is 0, as in the paper
raw        the same with what is below 0
error      standard error over repeats
remaining  what the others still tell of the feature once they were made independent of it: the
           out-of-bag score with the feature as target; where it is well above 0, the value is too
           low
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from srs.catalogue import MOST, Analysis, Option, Section
from srs.errors import InputError
from srs.executors import LocalExecutor
from srs.explain.analyses.network import normalised_target
from srs.explain.forest import OnProgress
from srs.explain.independence import METHODS, is_discrete, make_independent
from srs.explain.matrix import Matrix, check_classes, open_matrix
from srs.explain.score import oob_score
from srs.ingest.encode.codes import encode_numeric
from srs.results.analysis import AnalysisResult, check_counts, make_table
from srs.seeds import EXPLAIN, make_rng
from srs.trees import MISSING

UMFI = EXPLAIN + 7
TIES, LEFT = 1_000_003, 1_000_004  # what else is drawn for a column and a repeat


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

    method     how the others are made independent of the feature: "linear" (regression),
               "transport" (pairwise optimal transport), or "chain" (transport given others as
               well, for many features). Regression cannot do it for features of few values, and
               these are transported then
    n_repeats  forests are grown so often, each with other random ranks of equal values

    Two forests per feature and repeat, and one more: time is linear in the number of features,
    times that of one forest, which grows with it too.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> X[:, 2] = X[:, 0] + 0.1 * X[:, 2]
    >>> found = umfi(X, X[:, 0] + X[:, 1], method="linear")
    >>> [bool(v > 0.2) for v in found.column("value")]  # a copy takes nothing away
    [True, True, True]
    """
    if method not in METHODS:
        raise InputError(f"the method of umfi is {method!r}; it must be {', '.join(METHODS)}.")
    check_counts(seed=seed, n_trees=n_trees, n_repeats=n_repeats, threads=threads)
    matrix = open_matrix(data, target, features)
    check_classes(matrix)
    values = _values(matrix)

    def score(spec: tuple[int, int]) -> tuple[float, float]:
        codes, categorical = _others_then(matrix, values, spec, method, seed)
        added = _added(matrix, codes, categorical, n_trees, (seed, UMFI, *spec))
        if spec[1]:
            return added, np.nan
        return added, _remaining(matrix, codes, categorical, n_trees, (seed, UMFI, spec[0]))

    specs = [(column, r) for column in range(matrix.n_features) for r in range(n_repeats)]
    found: list[tuple[float, float]] = []
    with threadpool_limits(1):  # our threads are enough, those of BLAS would get in their way
        for value in LocalExecutor(threads).map(score, specs):
            found.append(value)
            if on_progress:
                on_progress(len(found) / len(specs))
    raw = np.array(found)[:, 0].reshape(matrix.n_features, n_repeats)
    remaining = np.array(found)[::n_repeats, 1]
    error = raw.std(axis=1, ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else None
    mean = raw.mean(axis=1)
    own = {"raw": mean, "remaining": remaining}
    table = make_table(matrix.names, np.maximum(mean, 0.0), error=error, **own)
    settings = {"method": method, "n_trees": n_trees, "n_repeats": n_repeats, "seed": seed}
    notes = (*NOTES, *_of_method(matrix, values, method, remaining), *matrix.notices)
    return AnalysisResult("umfi", table, settings, notes)


NOTES = (
    "UMFI does not divide importance among features that carry the same information: a copy of "
    "an important feature is as important. It has no null distribution: treat values up to two "
    "standard errors as noise.",
)


REMAINING = 0.1  # score of the others for a feature from which on readers are told


def _of_method(matrix: Matrix, values: np.ndarray, method: str, remaining: np.ndarray) -> list[str]:
    """What to know of how features were made independent."""
    notes = []
    few = [name for name, is_few in zip(matrix.names, is_discrete(values), strict=True) if is_few]
    if method == "linear" and few:
        notes.append(
            f"Regression cannot make features of few values independent of another: {len(few)} of "
            f"{len(matrix.names)}, the first is {few[0]!r}, were transported instead."
        )
    left = np.flatnonzero(remaining > REMAINING)
    if len(left):
        most = int(remaining.argmax())
        other = "transport or chain" if method == "linear" else "chain"
        better = f" The method {other} may remove more." if method != "chain" else ""
        notes.append(
            f"The others still tell of {len(left)} of {len(remaining)} features after they were "
            f"made independent, most of {matrix.names[most]!r} (score {remaining[most]:.2f}): the "
            f"values of these are too low.{better}"
        )
    return notes


def _values(matrix: Matrix) -> np.ndarray:
    """Values, NaN where missing; of categories, their codes."""
    codes = matrix.codes.astype(np.float64)
    values = np.where(matrix.is_categorical, codes, matrix.values)
    return np.where(matrix.codes == MISSING, np.nan, values)


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


def _remaining(
    matrix: Matrix,
    codes: np.ndarray,
    categorical: np.ndarray,
    n_trees: int,
    place: tuple[int, ...],
) -> float:
    """How well all columns but the last predict the last, out of bag."""
    target, _ = normalised_target(codes[:, -1].astype(np.float64), bool(categorical[-1]))
    others = np.ascontiguousarray(codes[:, :-1])
    return oob_score(
        others, categorical[:-1], target, n_trees, (*place, LEFT), subjects=matrix.subjects
    )


def _others_then(
    matrix: Matrix, values: np.ndarray, spec: tuple[int, int], method: str, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the others, which tell nothing of a column, and then the column; which are
    categories.

    spec  the column, and the number of the repeat
    """
    column = spec[0]
    others = np.delete(np.arange(matrix.n_features), column)
    protected = values[:, column]
    level = -1.0 if matrix.is_categorical[column] else np.nanmedian(protected)
    moved = make_independent(
        values[:, others],
        np.where(np.isnan(protected), level, protected),
        bool(matrix.is_categorical[column]),
        method,
        make_rng(seed, UMFI, *spec, TIES),
    )
    codes = np.empty((matrix.n_samples, matrix.n_features), np.uint8)
    codes[:, :-1] = encode_numeric(moved.T)[0].T
    kept = matrix.is_categorical[others]
    known = np.where(np.isnan(moved[:, kept]), MISSING, moved[:, kept])
    codes[:, :-1][:, kept] = known.astype(np.uint8)
    codes[:, -1] = matrix.codes[:, column]
    return codes, matrix.is_categorical[np.append(others, column)]


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
            choices=METHODS,
        ),
        Option("n_trees", "int", "trees of each forest", 100, low=1, high=MOST),
        Option("n_repeats", "int", "number of repeats", 3, low=1, high=MOST),
    ),
    whole_subjects=True,
    section=Section(
        "What a feature adds to all others after their information about it is removed. Copies "
        "do not take importance from one another. Whiskers are two standard errors over repeats. "
        "Remaining: what the others still tell of the feature; it should be about 0.",
        columns=("raw", "remaining"),
    ),
)
