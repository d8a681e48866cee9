"""What univariate tests find: a chi-squared test of genotype against phenotype for each variant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numba import njit
from scipy.stats import chi2, false_discovery_control

from benchmarks.genotypes.cohort import CAUSAL

BLOCK = 5000


@dataclass(frozen=True)
class Tested:
    """Seconds of reading and testing; which causal variants are relevant; how many others."""

    seconds: float
    relevant: np.ndarray
    n_others: int


@njit(nogil=True, cache=True)
def _statistics(dosages, case, out):  # type: ignore[no-untyped-def]
    for v in range(dosages.shape[0]):
        table = np.zeros((2, 3))
        for i in range(dosages.shape[1]):
            if dosages[v, i] >= 0:
                table[case[i], dosages[v, i]] += 1
        total, statistic = table.sum(), 0.0
        for a in range(2):
            for b in range(3):
                expected = table[a].sum() * table[:, b].sum() / total
                if expected > 0:
                    statistic += (table[a, b] - expected) ** 2 / expected
        out[v] = statistic


def rank_by_tests(path: Path, fdr: float = 0.1) -> Tested:
    from bed_reader import open_bed

    start = perf_counter()
    with open_bed(path) as bed:
        case = (bed.pheno == "2").astype(np.int64)
        statistics = np.empty(bed.sid_count)

        def test(first: int) -> None:
            part = bed.read(np.s_[:, first : first + BLOCK], dtype="int8", order="F").T
            _statistics(part, case, statistics[first : first + BLOCK])

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(test, range(0, bed.sid_count, BLOCK)))
        adjusted = false_discovery_control(chi2.sf(statistics, 2))
        seconds = perf_counter() - start
        names = bed.sid
    relevant = adjusted <= fdr
    causal = np.array([relevant[np.flatnonzero(names == f"causal{i}")[0]] for i in range(CAUSAL)])
    return Tested(seconds, causal, int(relevant.sum() - causal.sum()))
