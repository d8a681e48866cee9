"""Mean decrease of accuracy (MDA) in the population: no forest, no sample.

Covers thesis 4.3.1 and 4.3.3: the rise of the Bayes model's loss when a feature is replaced by an
independent copy (equation 4.6), on a table of a known distribution; the closed forms for additive
models (4.8, 4.12) and for normal distributions (4.14 to 4.17). Forests of finite size are
`srs.explain.analyses.mda`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from srs.errors import InputError
from srs.theory.table import FloatArray, sums, tabulate

SQUARED, ERROR = "squared", "error"


def population_mda(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    loss: str = SQUARED,
) -> FloatArray:
    """What the Bayes model loses if a feature is replaced by an independent copy (equation 4.6).

    X        (n_samples, n_features): any values that can be sorted; each value is a level
    y        (n_samples,): numbers; classes if the loss is "error"
    weights  (n_samples,): how much each sample counts; None: all the same
    loss     "squared": the squared error of the mean; "error": the share of wrong classes of the
             likeliest class

    The copy brings combinations of levels together that the table must have: the Bayes model says
    nothing of those that never occur.

    >>> rows = [[a, b] for a in (0, 1) for b in (0, 1)]
    >>> population_mda(rows, [a + 3 * b for a, b in rows]).tolist()  # 2 var(a), 2 var(3 b)
    [0.5, 4.5]
    """
    if loss not in (SQUARED, ERROR):
        raise InputError(f'loss must be "{SQUARED}" or "{ERROR}", not {loss!r}.')
    table = tabulate(X, y, weights)
    known = np.unique(np.asarray(y)[_counted(y, weights)])
    cells, cell = np.unique(table.codes, axis=0, return_inverse=True)
    cell = cell.ravel()
    joint = np.zeros((len(cells), len(known)))
    np.add.at(joint, (cell, table.classes), table.shares)
    mass = joint.sum(axis=1)
    if loss == SQUARED:
        try:
            values = known.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError('y must hold numbers; use loss="error" for classes.') from None
        model = joint @ values / mass
        costs = (values[None, :] - model[:, None]) ** 2
    else:
        costs = 1.0 - np.eye(len(known))[joint.argmax(axis=1)]
    at = {tuple(levels): i for i, levels in enumerate(cells.tolist())}
    plain = float((joint * costs).sum())
    importances = np.zeros(table.n_features)
    for m in range(table.n_features):
        shares = sums(table.codes[:, m], table.shares, int(table.codes[:, m].max()) + 1)
        noised = 0.0
        for i, levels in enumerate(cells.tolist()):
            for level, share in enumerate(shares.tolist()):
                other = (*levels[:m], level, *levels[m + 1 :])
                if other not in at:
                    raise InputError(
                        f"the table lacks the combination {other} of levels, which an independent "
                        f"copy of feature {m} makes: give a table that has every combination."
                    )
                noised += share * float(joint[i] @ costs[at[other]])
        importances[m] = noised - plain
    return importances


def additive_mda(parts: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> FloatArray:
    """MDA of features in an additive model, Y = f1(X1) + f2(X2) + ... + noise (equation 4.8).

    parts    (n_samples, n_features): f_m(x_m) of each sample
    weights  (n_samples,): how much each sample counts; None: all the same

    >>> additive_mda([[0.0, 0.0], [1.0, 3.0], [0.0, 3.0], [1.0, 0.0]]).tolist()
    [0.5, 4.5]
    """
    values = np.asarray(parts, np.float64)
    if values.ndim != 2 or not values.size:
        raise InputError(f"parts must be a table of samples by features, not {values.shape}.")
    given = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    shares = given / given.sum()
    mean = shares @ values
    return np.asarray(2.0 * (shares @ (values - mean) ** 2))


def normal_mda(covariance: npt.ArrayLike, with_target: npt.ArrayLike) -> FloatArray:
    """MDA of features that are normal together with the target (equation 4.14).

    covariance   (n_features, n_features): of the features (Z_V)
    with_target  (n_features,): covariance of each with the target (tau)

    >>> normal_mda([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.2]).round(3).tolist()  # 2 tau ** 2
    [0.5, 0.08]
    """
    matrix, tau = np.asarray(covariance, np.float64), np.asarray(with_target, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or tau.shape != matrix.shape[:1]:
        raise InputError(
            f"covariance must be square, with one number of with_target a row, not "
            f"{matrix.shape} and {tau.shape}."
        )
    try:
        slopes = np.linalg.solve(matrix, tau)
    except np.linalg.LinAlgError:
        raise InputError(
            "the covariance of the features has no inverse: leave out copies of features."
        ) from None
    return np.asarray(2.0 * slopes**2 * np.diag(matrix))


def correlated_mda(with_target: float, correlation: float, n_correlated: int) -> float:
    """MDA of each of some features that are equally correlated (equation 4.16; 4.17 for copies).

    with_target   covariance of each with the target (tau)
    correlation   of any two of them (rho); 1: they are copies
    n_correlated  how many there are (c)

    >>> correlated_mda(0.5, 0.0, 1), correlated_mda(0.5, 1.0, 2)
    (0.5, 0.125)
    """
    spread = 1.0 - correlation + n_correlated * correlation
    if not -1.0 <= correlation <= 1.0 or n_correlated < 1 or spread <= 0:
        raise InputError(
            f"{n_correlated} features cannot all have the correlation {correlation}: their "
            "covariance would not be positive."
        )
    return 2.0 * (with_target / spread) ** 2


def _counted(y: npt.ArrayLike, weights: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
    if weights is None:
        return np.ones(len(np.asarray(y)), np.bool_)
    return np.asarray(np.asarray(weights) > 0)
