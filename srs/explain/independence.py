"""Remove from all features what they share with one: by regression, or by optimal transport.

The ways of Janssen and Guan (2022), section 4, for numbers, and for features of few values (counts,
genotypes, categories by their codes) the discrete algorithm of Johndrow and Lum (2019), to which
they refer: equal values get ranks in random order. A missing value is one that ranks last, so that
what is missing tells nothing of the protected feature either.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc

from srs.seeds import EXPLAIN, make_rng

INDEPENDENCE = EXPLAIN + 40
SLOPE_P = 0.01  # dependence is removed where its p-value is below this
PART_SAMPLES = 100  # samples of a part of the protected feature within which ranks are taken
FEW_LEVELS = 10  # of a protected feature: each is a part
N_BEFORE = 3  # features before it that a feature of a chain is conditioned on


def is_discrete(values: np.ndarray) -> np.ndarray:
    """Which columns have few values: on average each occurs at least twice; missing ones aside."""
    ordered = np.sort(values, axis=0)
    known = (~np.isnan(values)).sum(axis=0)
    distinct = 1 + (np.diff(ordered, axis=0) > 0).sum(axis=0)
    return np.asarray(2 * distinct <= known)


def residuals(values: np.ndarray, protected: np.ndarray, is_categorical: bool) -> np.ndarray:
    """Columns of `values` less their regression on the protected feature, where significant.

    A categorical protected feature is regressed on by its levels. Columns of few values must not
    come here: what is left of them tells the protected feature exactly.

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


def transport(
    values: np.ndarray,
    protected: np.ndarray,
    is_categorical: bool,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """Columns of `values` moved so that their distribution is the same along the protected one.

    Samples are parted by the protected feature (about 100 a part; the levels of a feature of few
    values). Within a part a value becomes the quantile of the whole column at its rank (Algorithm
    2 with F~ = F_X): its rank among the residuals of a linear regression on the protected feature,
    or, in a column of few values, among the values, in random order where they are equal.

    rng  breaks ties

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> moved = transport((z**2)[:, None] + 0.1 * rng.normal(size=(500, 1)), z, False)
    >>> bool(abs(np.corrcoef(moved[:, 0], z**2)[0, 1]) < 0.2)
    True
    >>> copy = (z > 0).astype(float)[:, None]
    >>> bool(abs(np.corrcoef(transport(copy, z > 0, True)[:, 0], z > 0)[0, 1]) < 0.1)
    True
    """
    rng = rng or make_rng(0, INDEPENDENCE)
    n, moved = len(values), np.empty_like(values)
    discrete = is_discrete(values)
    stepped = discrete | np.isnan(values).any(axis=0)
    ordered = np.sort(values, axis=0)  # missing ones last
    grid = (np.arange(n) + 0.5) / n
    for part in _parts(protected, is_categorical, rng):
        ranks = _ranks(_left(values[part], protected[part], discrete), rng)
        drawn = ranks[:, stepped] + rng.random((len(part), int(stepped.sum())))
        at = np.minimum((drawn * (n / len(part))).astype(np.int64), n - 1)
        moved[np.ix_(part, stepped)] = np.take_along_axis(ordered[:, stepped], at, axis=0)
        for j in np.flatnonzero(~stepped):
            moved[part, j] = np.interp((ranks[:, j] + 0.5) / len(part), grid, ordered[:, j])
    return moved


def chain(
    values: np.ndarray,
    protected: np.ndarray,
    is_categorical: bool,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """As `transport`, and each number also given numbers before it (Johndrow and Lum, 2.4).

    Pairs of moved features can together still tell the protected one, where it changes how they go
    together. So a column is ranked, within a part, among the residuals of a regression on the
    three moved columns before it that it is most correlated with, and gets the value that all
    samples give to that rank. Columns of few values, or with missing ones, are moved as pairs.

    >>> rng = np.random.default_rng(0)
    >>> z, a, b = rng.normal(size=(3, 1000))
    >>> X = np.column_stack([a, np.sign(z) * a + 0.3 * b])  # either tells nothing of z
    >>> told = [f(X, z, False).prod(axis=1) for f in (transport, chain)]
    >>> [bool(abs(np.corrcoef(product, np.sign(z))[0, 1]) > 0.3) for product in told]
    [True, False]
    """
    rng = rng or make_rng(0, INDEPENDENCE)
    moved = transport(values, protected, is_categorical, rng)
    smooth = np.flatnonzero(~is_discrete(values) & ~np.isnan(values).any(axis=0))
    if len(smooth) < 2:
        return moved
    parts = _parts(protected, is_categorical, rng)
    linked = _links(values[:, smooth], parts)
    for place in range(1, len(smooth)):
        before = smooth[np.argsort(-linked[place, :place], kind="stable")[:N_BEFORE]]
        column = smooth[place]
        ranks = np.empty(len(values))
        for part in parts:
            design = np.column_stack([_design(protected[part], False), moved[np.ix_(part, before)]])
            left = _unfitted(design, values[part, column])
            ranks[part] = (np.argsort(np.argsort(left)) + 0.5) / len(part)
        design = np.column_stack([np.ones(len(values)), moved[:, before]])
        left = _unfitted(design, moved[:, column])
        moved[:, column] += np.quantile(left, ranks) - left
    return moved


def _links(values: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """How strongly columns go together in some part: their largest correlation, without sign."""
    strongest = np.zeros((values.shape[1], values.shape[1]))
    for part in parts:
        centred = values[part] - values[part].mean(axis=0)
        spread = np.sqrt((centred**2).sum(axis=0))
        centred /= np.where(spread > 0, spread, 1.0)
        np.maximum(strongest, np.abs(centred.T @ centred), out=strongest)
    return strongest


def _unfitted(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])


def _left(values: np.ndarray, protected: np.ndarray, discrete: np.ndarray) -> np.ndarray:
    """What values are ranked by: residuals, or values where these are few; missing ones last."""
    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values)
    if missing.any():
        known = np.maximum((~missing).sum(axis=0), 1)
        filled = np.where(missing, filled.sum(axis=0) / known, values)
    design = _design(protected, False)
    left = filled - design @ np.linalg.lstsq(design, filled, rcond=None)[0]
    return np.where(missing, np.inf, np.where(discrete, values, left))


def _ranks(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ranks from 0 on by column; equal values in random order."""
    order = np.lexsort((rng.random(values.shape), values), axis=0)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(len(values), dtype=float)[:, None], axis=0)
    return ranks


def _design(protected: np.ndarray, is_categorical: bool) -> np.ndarray:
    if is_categorical:
        return np.asarray((protected[:, None] == np.unique(protected)[None]).astype(np.float64))
    spread = protected.std() or 1.0
    return np.column_stack([np.ones(len(protected)), (protected - protected.mean()) / spread])


def _parts(
    protected: np.ndarray, is_categorical: bool, rng: np.random.Generator
) -> list[np.ndarray]:
    if is_categorical or len(np.unique(protected)) <= FEW_LEVELS:
        return [np.flatnonzero(protected == level) for level in np.unique(protected)]
    order = np.lexsort((rng.random(len(protected)), protected))
    return list(np.array_split(order, max(round(len(order) / PART_SAMPLES), 1)))


METHODS = ("linear", "transport", "chain")


def make_independent(
    values: np.ndarray,
    protected: np.ndarray,
    is_categorical: bool,
    method: str,
    rng: np.random.Generator,
) -> np.ndarray:
    """Columns of `values` without what they share with the protected feature, by a method.

    values  NaN where missing. By "linear", columns of few values are transported.
    """
    if method != "linear":
        remove = chain if method == "chain" else transport
        return remove(values, protected, is_categorical, rng)
    discrete, missing = is_discrete(values), np.isnan(values)
    moved = values.copy()
    if discrete.any():
        moved[:, discrete] = transport(values[:, discrete], protected, is_categorical, rng)
    straight = values[:, ~discrete]
    if missing.any() and straight.shape[1]:
        straight = np.where(np.isnan(straight), np.nanmedian(straight, axis=0), straight)
    if straight.shape[1]:
        moved[:, ~discrete] = residuals(straight, protected, is_categorical)
        moved[:, ~discrete] = np.where(missing[:, ~discrete], np.nan, moved[:, ~discrete])
    return moved
