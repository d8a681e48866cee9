"""Tails of a rank sum under permutation within strata, by the double saddlepoint approximation.

The score is the sum of x over the cases. Given the values of x and the number of cases of each
stratum, all choices of cases are alike. That is a sum of independent Bernoulli variables given
their total in each stratum, and Skovgaard's (1987) formula for such conditional tails is used with
the continuity correction of Daniels, in the form r* of Barndorff-Nielsen, which is never negative.
Programs for genome-wide studies leave the condition out; it costs one more unknown a stratum and
makes the formula good at 30 samples, too. Which columns need it is decided in
`srs.evidence.univariate.two_classes`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

SMALLEST = 2.2250738585072014e-308  # the smallest normal float64: no p-value is below it
ROOT_HALF = 0.7071067811865476
MAX_STEPS = 60  # of Newton's method, which takes 4 to 8


@njit(nogil=True, cache=True)
def upper_tail(z):
    """P(Z >= z) of a standard normal Z."""
    return 0.5 * math.erfc(z * ROOT_HALF)


@njit(nogil=True, cache=True)
def _solve_level(u, t, x, counts, cases):
    """The u at which the tilted stratum has its number of cases in expectation.

    Gives u and, there, the sums of w, w x, w x x (w: tilted variances), of p x and of log(1 + e).
    """
    low, high = -np.inf, np.inf
    n_levels = x.shape[0]
    sw = swx = swxx = spx = slog = 0.0
    for _ in range(MAX_STEPS):
        sp = sw = swx = swxx = spx = slog = 0.0
        for level in range(n_levels):
            n = counts[level]
            if n == 0:
                continue
            eta = u + t * x[level]
            e = math.exp(-abs(eta))
            p = 1.0 / (1.0 + e) if eta > 0 else e / (1.0 + e)
            w = n * e / ((1.0 + e) * (1.0 + e))
            slog += n * (max(eta, 0.0) + math.log1p(e))
            sp += n * p
            spx += n * p * x[level]
            sw += w
            swx += w * x[level]
            swxx += w * x[level] * x[level]
        error = sp - cases
        if abs(error) < 1e-9 * cases + 1e-12:
            break
        if error > 0:
            high = u
        else:
            low = u
        step = u - error / sw if sw > 0 else np.nan
        if not (low < step < high) or abs(step - u) > 30.0:
            if low == -np.inf:
                step = u - 10.0
            elif high == np.inf:
                step = u + 10.0
            else:
                step = 0.5 * (low + high)
        if step == u:
            break
        u = step
    return u, sw, swx, swxx, spx, slog


@njit(nogil=True, cache=True)
def tilted_tail(x, counts, cases, score, step):
    """P(sum of x over cases >= score + step / 2), for a score above the expectation.

    x       float64 (n_levels,): about of unit scale
    counts  int64 (n_strata, n_levels): samples
    cases   int64 (n_strata,): above 0 and below the samples of the stratum
    score   float64: half a step below the value that was seen
    step    float64: distance of the values that the sum can take
    """
    n_strata = counts.shape[0]
    u = np.empty(n_strata)
    slope = np.zeros(n_strata)
    base, log_ratio, expected, variance = 0.0, 0.0, 0.0, 0.0
    for s in range(n_strata):
        n = 0
        sx = sxx = 0.0
        for level in range(x.shape[0]):
            n += counts[s, level]
            sx += counts[s, level] * x[level]
            sxx += counts[s, level] * x[level] * x[level]
        share = cases[s] / n
        u[s] = math.log(cases[s] / (n - cases[s]))
        slope[s] = -sx / n
        base -= cases[s] * math.log(share) + (n - cases[s]) * math.log1p(-share)
        log_ratio -= math.log(n * share * (1.0 - share))
        expected += share * sx
        variance += share * (1.0 - share) * (sxx - sx * sx / n)
    t = (score - expected) / variance
    old_t = 0.0
    low, high = 0.0, np.inf
    exponent = schur = log_total = 0.0
    for _ in range(MAX_STEPS):
        exponent, schur, log_total, total = t * score, 0.0, log_ratio, 0.0
        for s in range(n_strata):
            guess = u[s] + slope[s] * (t - old_t)
            u[s], sw, swx, swxx, spx, slog = _solve_level(guess, t, x, counts[s], cases[s])
            slope[s] = -swx / sw if sw > 0 else 0.0
            schur += max(swxx - swx * swx / sw, 0.0) if sw > 0 else 0.0
            log_total += math.log(max(sw, SMALLEST))
            total += spx
            exponent += u[s] * cases[s] - slog
        old_t = t
        error = total - score
        if abs(error) < 1e-7 * math.sqrt(variance):
            break
        if error > 0:
            high = t
        else:
            low = t
        following = t - error / schur if schur > 0 else np.nan
        if not (low < following < high) or following > 4.0 * t + 1.0:
            following = 0.5 * (low + high) if high < np.inf else 2.0 * t
        if following == t:
            break
        t = following
    half = 0.5 * step * t
    root = math.log(2.0 * math.sinh(half) / step) if half < 300.0 else half - math.log(step)
    log_v = root + 0.5 * (log_total + math.log(max(schur, SMALLEST)))
    square = 2.0 * (base + exponent)
    if square <= 1e-12:
        return 0.5
    w = math.sqrt(square)
    return upper_tail(w + (log_v - math.log(w)) / w)
