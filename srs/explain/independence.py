"""Remove from all features what they share with one: by regression, or by optimal transport.

The two ways of Janssen and Guan (2022), section 4. Features are numbers here; categorical ones
other than the protected one are left as they are.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc

SLOPE_P = 0.01  # dependence is removed where its p-value is below this
PART_SAMPLES = 100  # samples of a part of the protected feature within which ranks are taken


def residuals(values: np.ndarray, protected: np.ndarray, is_categorical: bool) -> np.ndarray:
    """Columns of `values` less their regression on the protected feature, where significant.

    A categorical protected feature is regressed on by its levels.

    >>> z = np.arange(50.0)
    >>> X = np.column_stack([2 * z + np.sin(z), np.cos(7 * z)])
    >>> left = residuals(X, z, False)
    >>> bool(abs(np.corrcoef(left[:, 0], z)[0, 1]) < 1e-9), bool((left[:, 1] == X[:, 1]).all())
    (True, True)
    """
    design = _design(protected, is_categorical)
    center = values.mean(axis=0)
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    n, k = design.shape
    explained = ((fitted - center) ** 2).sum(axis=0)
    left = ((values - fitted) ** 2).sum(axis=0)
    freedom = max(n - k, 1)
    ratio = (explained / max(k - 1, 1)) / np.maximum(left / freedom, np.finfo(float).tiny)
    significant = fdtrc(max(k - 1, 1), freedom, ratio) < SLOPE_P
    return np.where(significant, values - fitted + center, values)


def transport(values: np.ndarray, protected: np.ndarray, is_categorical: bool) -> np.ndarray:
    """Columns of `values` moved so that their distribution is the same along the protected one.

    Samples are parted by the protected feature (about 100 a part; the levels of a categorical
    one). Within a part a value becomes the quantile of the whole column at its rank among the
    residuals of a linear regression on the protected feature (Algorithm 2 with F~ = F_X).

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> moved = transport((z**2)[:, None] + 0.1 * rng.normal(size=(500, 1)), z, False)
    >>> bool(abs(np.corrcoef(moved[:, 0], z**2)[0, 1]) < 0.2)
    True
    """
    moved = np.empty_like(values)
    ordered = np.sort(values, axis=0)
    grid = (np.arange(len(values)) + 0.5) / len(values)
    for part in _parts(protected, is_categorical):
        inside = values[part]
        design = _design(protected[part], False)
        left = inside - design @ np.linalg.lstsq(design, inside, rcond=None)[0]
        ranks = (np.argsort(np.argsort(left, axis=0), axis=0) + 0.5) / len(part)
        for j in range(values.shape[1]):
            moved[part, j] = np.interp(ranks[:, j], grid, ordered[:, j])
    return moved


def _design(protected: np.ndarray, is_categorical: bool) -> np.ndarray:
    if is_categorical:
        return np.asarray((protected[:, None] == np.unique(protected)[None]).astype(np.float64))
    spread = protected.std() or 1.0
    return np.column_stack([np.ones(len(protected)), (protected - protected.mean()) / spread])


def _parts(protected: np.ndarray, is_categorical: bool) -> list[np.ndarray]:
    if is_categorical or len(np.unique(protected)) <= 10:
        return [np.flatnonzero(protected == level) for level in np.unique(protected)]
    order = np.argsort(protected, kind="stable")
    return list(np.array_split(order, max(round(len(order) / PART_SAMPLES), 1)))


METHODS = {"linear": residuals, "transport": transport}
