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

LEAST_SKEWNESS = 0.01  # of a score: the p-value at z = 4 moves by 2 %


@njit(nogil=True, cache=True)
def variance_of(n, a, b):
    """The variance of Q under permutation.

    n     samples, at least 4
    a, b  trace, trace of the square, and sum of the squared diagonal of A and of B

    Were the rows of B draws, the expectation of (sum A B) ** 2 would be k4 * a[2] + p1 * a[0] ** 2
    + 2 * p2 * a[1], with moments k4, p1 and p2 of the draws. Three A whose sum is known give these
    for the rows as they are: the centring matrix, a single sample, and a pair of samples.
    """
    c = (n - 1.0) / n
    c2 = c * c
    # Coefficients of k4, p1 and p2 and the right side; p1 is taken out by the first equation.
    a1, a3, a4 = 1.0 / n, 2.0 / (n - 1.0), (b[0] / (n - 1.0)) ** 2
    b1, b2, b3, b4 = c2 * c2 + (n - 1.0) / n**4, c2, 2.0 * c2, b[2] / n
    d1 = 2.0 * c2 / n**2 + (n - 2.0) / n**4
    d2, d3, d4 = 1.0 / n**2, c2 + 1.0 / n**2, (b[1] - b[2]) / (n * (n - 1.0))
    b1, b3, b4 = b1 - b2 * a1, b3 - b2 * a3, b4 - b2 * a4
    d1, d3, d4 = d1 - d2 * a1, d3 - d2 * a3, d4 - d2 * a4
    det = b1 * d3 - b3 * d1
    k4, p2 = (b4 * d3 - b3 * d4) / det, (b1 * d4 - b4 * d1) / det
    p1 = a4 - a1 * k4 - a3 * p2
    second = k4 * a[2] + p1 * a[0] ** 2 + 2.0 * p2 * a[1]
    return (n - 1.0) ** 2 * second - (a[0] * b[0]) ** 2


@njit(nogil=True, cache=True)
def squares_of(weights, a):
    """The sum of the squared diagonal of Z D Z' after centring, Z telling samples of a apart."""
    n = shift = total = 0.0
    for k in range(weights.shape[0]):
        n += a[k]
        shift += weights[k] * a[k] ** 2
    for k in range(weights.shape[0]):
        total += a[k] * (weights[k] * (1.0 - 2.0 * a[k] / n) + shift / n**2) ** 2
    return total


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
def moments_of_groups(away, sizes, spread, fourths, moments):
    """Moments of the sum of away ** 2 / total over groups, whose covariance is a sum over strata
    of spread * (diag(sizes) - sizes sizes' / n).

    away     float64 (n_groups,)
    sizes    float64 (n_strata, n_groups): samples; none in strata that say nothing
    spread   float64 (n_strata,): variance of the score
    fourths  float64 (n_strata,): sum of fourth powers of the score, divided by that of squares ** 2
    """
    n_strata, n_groups = sizes.shape
    weights = np.zeros(n_groups)
    seen = 0.0
    n_present = n_total = n_used = 0.0
    for k in range(n_groups):
        total = 0.0
        for s in range(n_strata):
            total += sizes[s, k]
        if total > 0:
            weights[k] = 1.0 / total
            seen += away[k] * away[k] * weights[k]
            n_present += 1.0
            n_total += total
    mean = variance = 0.0
    for s in range(n_strata):
        n = sizes[s].sum()
        if spread[s] <= 0 or n < 2:
            continue
        n_used += 1.0
        trace, trace_2 = trace_of(weights, sizes[s]), product_trace(weights, sizes[s], sizes[s])
        mean += spread[s] * trace
        if n >= 4:
            own = (trace, trace_2, squares_of(weights, sizes[s]))
            variance += spread[s] ** 2 * variance_of(n, own, (1.0, 1.0, fourths[s]))
        for r in range(s):
            if spread[r] > 0 and sizes[r].sum() >= 2:
                trace = product_trace(weights, sizes[s], sizes[r])
                variance += 4.0 * spread[s] * spread[r] * trace
    scale = mean / max(1.0, n_present - 1.0)
    moments[0] = seen / scale
    moments[1] = mean / scale
    moments[2] = variance / (scale * scale)
    moments[3] = n_total - n_used if n_used == 1 else np.inf


@njit(nogil=True, cache=True)
def in_tail(moments):
    """Whether a sum of squares is so large that its p-value is below about 0.08."""
    return moments[0] > moments[1] + 1.5 * np.sqrt(2.0 * moments[1])


def p_of_moments(moments: np.ndarray) -> np.ndarray:
    """p-values of sums of squares.

    moments  float64 (n, 6): what was seen, expectation, variance, and the largest value (infinity:
             a gamma distribution); what single classes and levels add to the
             chi-squared p-value; the skewness of a
             single score. A variance of 0 gives 1.
    """
    seen, mean, variance, bound, excess, skewness = moments.T
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
        thin = np.flatnonzero(excess > 0)
        plain = special.gammaincc(mean[thin] / 2.0, seen[thin] / 2.0)
        found[thin] = np.maximum(found[thin], plain + excess[thin])
        skewed = np.flatnonzero(varies & (np.abs(skewness) > LEAST_SKEWNESS))
        z = np.sqrt(seen[skewed])
        both = _both_tails(z, np.abs(skewness[skewed])) / (2.0 * special.ndtr(-z))
        found[skewed] *= np.maximum(np.nan_to_num(both, nan=1.0, posinf=1.0), 1.0)
    return np.clip(np.nan_to_num(found, nan=1.0), SMALLEST, 1.0)


def _both_tails(z: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """P(|Z| >= z) of a gamma distribution that is shifted to mean 0, variance 1 (Pearson III)."""
    shape = 4.0 / skewness**2
    away = z * np.sqrt(shape)
    below = special.gammainc(shape, np.maximum(shape - away, 0.0))
    found: np.ndarray = special.gammaincc(shape, shape + away) + below
    return found
