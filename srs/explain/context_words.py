"""A word for what a context does to a feature, from importances of finite forests.

Theorem 3 of the context paper is about exact values: complementary or redundant where |Imp_s| =
Imp^|xc|, irrelevant where both are Imp. Here every equality is judged by a test, and what no test
supports is "dependent". The tests are ours; `srs.theory` has the words of exact values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from srs.explain.context_forests import ContextSums, Within
from srs.explain.matrix import Matrix
from srs.results.analysis import rank_p_values

SIGNIFICANT = 0.05
ONE_WAY = 0.5  # least ratio of one direction: at least 3/4 of the change goes that way
INDEPENDENT, DEPENDENT = "independent", "dependent"
COMPLEMENTARY, REDUNDANT, IRRELEVANT = "complementary", "redundant", "irrelevant"


@dataclass(frozen=True)
class Tests:
    """What permutations say of each context and feature: (n_contexts, n_features) each.

    p_absolute    of Imp^|xc|: the context changes something
    p_signed      of Imp_s^xc, two-sided: the changes have a direction on the whole
    ratio         |Imp_s^xc| / (Imp^|xc| less its mean over permutations, as noise of small nodes
                  goes both ways): 1 where all changes have one direction, 0 where they cancel
    p_mixed       of the changes against that direction: below 0.05 they are more than chance
    p_equivalent  that the feature tells at least `margin` x Imp within the context: below 0.05 it
                  tells less
    """

    p_absolute: np.ndarray
    p_signed: np.ndarray
    ratio: np.ndarray
    p_mixed: np.ndarray
    p_equivalent: np.ndarray


def make_tests(sums: ContextSums, p_equivalent: np.ndarray) -> Tests:
    """The tests of a forest, and those of forests within contexts."""
    absolute, signed = (np.moveaxis(a, -1, 0) for a in (sums.absolute, sums.signed))
    direction = np.where(signed[0] < 0, -1.0, 1.0)
    against = (absolute - direction * signed) / 2
    beyond = absolute[0] - absolute[1:].mean(axis=0)
    size = np.abs(signed[0])
    ratio = np.divide(size, beyond, out=np.ones_like(size), where=beyond > size)
    return Tests(
        p_absolute=rank_p_values(absolute[0], absolute[1:]),
        p_signed=rank_p_values(np.abs(signed[0]), np.abs(signed[1:])),
        ratio=ratio,
        p_mixed=rank_p_values(against[0], against[1:]),
        p_equivalent=p_equivalent,
    )


def words(tests: Tests, signed: np.ndarray) -> list[str]:
    """A word for each context and feature, in the order of `ravel`."""
    numbers = (tests.p_absolute, tests.p_signed, tests.ratio, tests.p_mixed, tests.p_equivalent)
    rows = np.column_stack([array.ravel() for array in (*numbers, signed)]).tolist()
    found = []
    for p_absolute, p_signed, ratio, p_mixed, p_equivalent, change in rows:
        if p_absolute >= SIGNIFICANT:
            found.append(INDEPENDENT)
        elif p_signed >= SIGNIFICANT or ratio < ONE_WAY or p_mixed < SIGNIFICANT:
            found.append(DEPENDENT)
        elif change < 0:
            found.append(COMPLEMENTARY)
        else:
            found.append(IRRELEVANT if p_equivalent < SIGNIFICANT else REDUNDANT)
    return found


def equivalence(within: Within, smallest: np.ndarray, unit: float) -> np.ndarray:
    """p-values of "the feature tells at least `smallest` in the context", against "less".

    An importance is about a scaled chi-square: n samples give 2 n ln(2) x bits, or n x variance
    explained / variance. Its scale is at least that of one split of all samples (`unit`), and its
    degrees of freedom are those of the importances that permuted targets gave. What it really
    tells is then the noncentral part.
    """
    from scipy.special import chndtr

    mean, variance = within.null.mean(axis=0), within.null.var(axis=0)
    scale = np.maximum(variance / np.maximum(2 * mean, np.finfo(float).tiny), unit)
    freedom = np.maximum(mean / scale, 0.1)
    return np.asarray(chndtr(within.given / scale, freedom, smallest / scale))


def unit_of(matrix: Matrix, rows: np.ndarray) -> float:
    """What one degree of freedom adds to an importance by chance, among some samples."""
    if matrix.is_classification:
        return 1 / (2 * len(rows) * math.log(2))
    return float(np.var(matrix.known_target.values[rows])) / len(rows)
