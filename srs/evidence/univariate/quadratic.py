"""Tests of several degrees of freedom: a sum of squares under permutation, by its two moments.

Kruskal-Wallis, the chi-squared of a table and the variance between levels are one statistic,
Q = (n - 1) * sum A[i, j] B[i, j], where A and B project samples on what classes and levels (or a
single score) span beside the mean, of ranks p and q. Under permutation its expectation is p q, and
its variance follows from n, p, q and the sums of the squared diagonals: these are large where
levels or classes are rare, and there the chi-squared distribution is not that of Q. So a beta
distribution on the range of Q gets these two moments. For a score that is normal this is the F
test. With strata, A and B are sums over strata and the moments are those of normal scores.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import special

from srs.evidence.univariate.saddlepoint import SMALLEST


@njit(nogil=True, cache=True)
def variance_of(n, p, squares_a, q, squares_b):
    """The variance of Q under permutation.

    n          samples, at least 4
    p, q       ranks of A and B
    squares_a  sum of the squared diagonal of A; squares_b: of B

    Were the rows of B draws, the expectation of Q ** 2 would be k4 * squares_a + p1 * p ** 2 +
    2 * p2 * p, with moments of the draws. Three A whose Q is known give these for the rows as they
    are: the centring matrix, a single sample, and a pair of samples.
    """
    a = (n - 1.0) / n
    rows = np.empty((3, 4))
    rows[0] = np.array([(n - 1.0) ** 2 / n, (n - 1.0) ** 2, 2.0 * (n - 1.0), q * q])
    rows[1] = np.array([a**4 + (n - 1.0) / n**4, a * a, 2.0 * a * a, squares_b / n])
    pair = (q - squares_b) / (n * (n - 1.0))
    rows[2] = np.array(
        [2.0 * a * a / n**2 + (n - 2.0) / n**4, 1.0 / n**2, a * a + 1.0 / n**2, pair]
    )
    rows[0] /= (n - 1.0) ** 2
    rows[1] *= 1.0 / (a * a)
    rows[2] *= 1.0 / (a * a)
    for k in range(3):
        best = k
        for other in range(k + 1, 3):
            if abs(rows[other, k]) > abs(rows[best, k]):
                best = other
        for column in range(4):
            rows[k, column], rows[best, column] = rows[best, column], rows[k, column]
        for other in range(3):
            if other != k:
                rows[other] -= rows[k] * (rows[other, k] / rows[k, k])
    k4, p1, p2 = rows[0, 3] / rows[0, 0], rows[1, 3] / rows[1, 1], rows[2, 3] / rows[2, 2]
    second = k4 * squares_a + p1 * p * p + 2.0 * p2 * p
    return (n - 1.0) ** 2 * second - (p * q) ** 2


@njit(nogil=True, cache=True)
def product_trace(weights, a, b):
    """The trace of D X D Y for D = diag(weights), X = diag(a) - a a' / sum(a), and Y alike of b."""
    total_a, total_b = a.sum(), b.sum()
    trace = cross = 0.0
    for k in range(weights.shape[0]):
        w = weights[k]
        trace += w * w * a[k] * b[k] * (1.0 - a[k] / total_a - b[k] / total_b)
        cross += w * a[k] * b[k]
    return trace + cross * cross / (total_a * total_b)


@njit(nogil=True, cache=True)
def trace_of(weights, a):
    """The trace of D X, see `product_trace`."""
    total_a = a.sum()
    trace = 0.0
    for k in range(weights.shape[0]):
        trace += weights[k] * a[k] * (1.0 - a[k] / total_a)
    return trace


@njit(nogil=True, cache=True)
def moments_of_groups(away, sizes, spread, totals, moments):
    """Moments of the sum of away ** 2 / totals over groups, whose covariance is a sum over strata
    of spread * (diag(sizes) - sizes sizes' / n).

    away, totals  float64 (n_groups,)
    sizes         float64 (n_strata, n_groups)
    spread        float64 (n_strata,)
    """
    n_strata, n_groups = sizes.shape
    weights = np.zeros(n_groups)
    seen = 0.0
    for c in range(n_groups):
        if totals[c] > 0:
            weights[c] = 1.0 / totals[c]
            seen += away[c] * away[c] * weights[c]
    mean = variance = 0.0
    for s in range(n_strata):
        if spread[s] <= 0 or sizes[s].sum() <= 0:
            continue
        mean += spread[s] * trace_of(weights, sizes[s])
        for r in range(s + 1):
            if spread[r] > 0 and sizes[r].sum() > 0:
                twice = 4.0 if r < s else 2.0
                trace = product_trace(weights, sizes[s], sizes[r])
                variance += twice * spread[s] * spread[r] * trace
    scale = mean / max(1.0, (totals > 0).sum() - 1.0)
    moments[0] = seen / scale
    moments[1] = mean / scale
    moments[2] = variance / (scale * scale)
    moments[3] = np.inf


def p_of_moments(moments: np.ndarray) -> np.ndarray:
    """p-values of sums of squares.

    moments  float64 (n, 4): what was seen, expectation, variance, and the largest value (infinity:
             a gamma distribution); a variance of 0 gives 1
    """
    seen, mean, variance, bound = moments.T
    found = np.ones(len(moments))
    varies = (variance > 1e-9 * mean * mean) & (mean > 0)
    with np.errstate(all="ignore"):
        share = mean / bound
        mass = mean * (bound - mean) / variance - 1.0
        is_beta = varies & np.isfinite(bound) & (mass > 0)
        alpha, beta = (share * mass)[is_beta], ((1.0 - share) * mass)[is_beta]
        rest = np.clip(1.0 - seen[is_beta] / bound[is_beta], 0.0, 1.0)
        found[is_beta] = special.betainc(beta, alpha, rest)
        is_gamma = varies & ~is_beta
        scale = (variance / mean)[is_gamma]
        found[is_gamma] = special.gammaincc(mean[is_gamma] / scale, seen[is_gamma] / scale)
    return np.clip(np.nan_to_num(found, nan=1.0), SMALLEST, 1.0)
