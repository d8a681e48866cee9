"""Related samples: copies, parents, children and siblings, as genotypes tell.

Kinship is that of KING-robust (Manichaikul et al. 2010), from counts of genotypes alone: loci where
both samples have two alleles, less twice those where they have opposite ones, over all with two
alleles in either. It needs no allele frequencies and so no single population. Copies and twins have
1/2, parents, children and siblings 1/4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LEAST_LOCI, MOST_LOCI = 800, 1_500
MOST_SAMPLES = 1_024
FIRST_DEGREE, COPIES = 0.177, 0.354  # least kinship: between those of degrees, on the log scale
STRAY = 7.0  # standard deviations of kinship that chance does not reach
HALF_ABOVE = 0.6745  # standard deviations that half of what is above the mean exceed
BLOCK = 256  # loci that are counted together
MISSING = 255


@dataclass(frozen=True)
class Related:
    """Pairs of related samples.

    pairs     int64 (k, 2): rows of the samples, those of most kinship first
    n_copies  pairs that are copies or twins; the others are of the first degree
    n_loci    loci that were looked at
    """

    pairs: np.ndarray
    n_copies: int
    n_loci: int


def find_related(dosages: np.ndarray, subjects: np.ndarray | None = None) -> Related | None:
    """Related samples among those of dosages, uint8 (n_samples, n_loci), 0, 1, 2 or MISSING.

    subjects  samples of one are known to belong together, and no news
    """
    n, n_loci = dosages.shape
    kinship = _kinship(dosages)
    upper = np.triu_indices(n, 1)
    found = kinship[upper]
    # Samples of two populations are below 0; those of one are so as often as above.
    above = found[found > 0]
    spread = float(np.median(above)) / HALF_ABOVE if len(above) else 0.0
    near = found >= max(FIRST_DEGREE, STRAY * spread)
    if subjects is not None:
        near &= subjects[upper[0]] != subjects[upper[1]]
    if not near.any():
        return None
    at = np.flatnonzero(near)
    at = at[np.argsort(-found[at], kind="stable")]
    pairs = np.stack([upper[0][at], upper[1][at]], axis=1).astype(np.int64)
    return Related(pairs, int((found[at] >= COPIES).sum()), n_loci)


def _kinship(dosages: np.ndarray) -> np.ndarray:
    """float32 (n_samples, n_samples). Counts are whole numbers, exact in any order of adding."""
    n = len(dosages)
    shared, either = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    for start in range(0, dosages.shape[1], BLOCK):
        part = dosages[:, start : start + BLOCK]
        two, known = (part == 1).astype(np.float32), (part != MISSING).astype(np.float32)
        none, both = (part == 0).astype(np.float32), (part == 2).astype(np.float32)
        opposite = none @ both.T
        shared += two @ two.T - 2.0 * (opposite + opposite.T)
        with_two = two @ known.T
        either += with_two + with_two.T
    return np.divide(shared, either, out=np.zeros_like(shared), where=either > 0)
