"""What more trees could still change: how many features may yet cross the cut.

The halves of the trees (`srs.evidence.halves`) tell how far chance moves p-values against the cut:
their mean has half of the difference between the two as its standard error. A feature at a distance
of d from the cut ends up on its other side with probability Phi(-d / error). The sum over all
features is the number of changes to be expected if trees were grown for ever; it shrinks with the
square root of the trees.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from srs.evidence.arrays import Evidence
from srs.evidence.halves import Halves
from srs.inference.interim import Rule, decide_interim

NEAR = 3.0  # of the logarithm of the p-value from the cut: 20 times smaller to 20 times larger


def expected_changes(evidence: Evidence, halves: Halves, rule: Rule) -> float:
    """Features that trees without end are expected to move into the relevant set, or out of it."""
    p_value, cut = _known(evidence, rule)
    near = np.flatnonzero((p_value > cut / np.exp(NEAR)) & (p_value < cut * np.exp(NEAR)))
    distance = np.log(p_value[near]) - np.log(cut)
    del p_value
    apart = np.zeros(len(near))
    for sign, half in zip((1.0, -1.0), halves.of(evidence), strict=True):
        p_half, cut_half = _known(half, rule)
        apart += sign * (np.log(p_half[near]) - np.log(cut_half))
        del p_half
    if not apart.any():
        return 0.0
    error = 0.5 * np.sqrt(np.mean(apart**2))
    return float(ndtr(-np.abs(distance) / error).sum())


def _known(evidence: Evidence, rule: Rule) -> tuple[np.ndarray, float]:
    found = decide_interim(evidence, rule)
    return found.p_value, found.cut
