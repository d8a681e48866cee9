"""Univariate tests written out slowly: every choice of cases, every permutation, plain numpy."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from scipy.stats import rankdata

MISSING = 255


def rank_sum_p(column: np.ndarray, is_case: np.ndarray, strata: np.ndarray) -> float:
    """The p-value of a rank sum, by all choices of as many cases of each stratum.

    P(as far from the expectation or farther) up to 1/2; above, half of the tie is left off.
    """
    known = column != MISSING
    x, cases, strata = rankdata(column[known]), is_case[known], strata[known]
    chosen, expected, seen = [], 0.0, 0.0
    for s in np.unique(strata):
        own, n_cases = x[strata == s], int(cases[strata == s].sum())
        if 0 < n_cases < len(own):
            chosen.append([own[list(k)].sum() for k in combinations(range(len(own)), n_cases)])
            expected += n_cases * own.mean()
            seen += own[cases[strata == s]].sum()
    if not chosen or len(np.unique(x)) < 2:
        return 1.0
    away = np.abs(np.array([sum(parts) for parts in product(*chosen)]) - expected)
    if away.max() < 1e-9:
        return 1.0
    tail = float((away >= abs(seen - expected) - 1e-9).mean())
    tie = float((np.abs(away - abs(seen - expected)) < 1e-9).mean())
    return tail if tail <= 0.5 else max(0.5, tail - tie / 2)


def projection(labels: np.ndarray) -> np.ndarray:
    """The matrix that projects samples on what labels span beside the mean."""
    groups = (labels[:, None] == np.unique(labels)).astype(float)
    found: np.ndarray = groups @ np.diag(1 / groups.sum(axis=0)) @ groups.T - 1 / len(labels)
    return found


def sum_of_squares(a: np.ndarray, b: np.ndarray) -> float:
    """Kruskal-Wallis, chi-squared or the variance between levels: one sum over two projections."""
    return float((len(a) - 1) * (a * b).sum())


def permutation_moments(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Mean and variance of `sum_of_squares` over all permutations of few samples."""
    orders = [np.array(p) for p in permutations(range(len(a)))]
    found = np.array([sum_of_squares(a, b[np.ix_(p, p)]) for p in orders])
    return float(found.mean()), float(found.var())


def score_z(column: np.ndarray, scores: np.ndarray, strata: np.ndarray) -> float:
    """The standardised sum of mid-ranks times scores, by the permutation variance of strata."""
    known = column != MISSING
    x, scores, strata = rankdata(column[known]), scores[known], strata[known]
    away = variance = 0.0
    for s in np.unique(strata):
        own, of = x[strata == s] - x[strata == s].mean(), scores[strata == s]
        if len(own) > 1:
            away += float(own @ of)
            variance += float((own**2).sum() * ((of - of.mean()) ** 2).sum() / (len(own) - 1))
    return away / variance**0.5 if variance > 0 else 0.0
