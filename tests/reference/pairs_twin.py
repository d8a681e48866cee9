"""Pairs of bits the obvious way, from the definitions in `srs.evidence.pairs`: groups of samples,
cuts of codes, the statistic of two bits, and the best partner among all."""

from collections import Counter

import numpy as np

MISSING = 255


def cuts_twin(
    codes: np.ndarray, categorical: bool = False, near: bool = False
) -> list[tuple[int, int]]:
    """The cuts of a feature from the codes of its training samples."""
    counts = Counter(int(c) for c in codes if c != MISSING)
    levels = sorted(counts)
    n, n_valid = len(codes), sum(counts.values())
    if len(levels) < 2:
        return []
    if categorical:
        wanted = sorted(levels, key=lambda c: (-counts[c], c))[: 1 if len(levels) == 2 else 4]
        found = [(c, c) for c in wanted]
    elif len(levels) <= 3:
        found = [(c, 254) for c in levels[1:]]
    else:

        def nearest(share: float) -> int:
            return min(
                levels[1:],
                key=lambda c: (abs(sum(counts[x] for x in levels if x >= c) - share * n_valid), c),
            )

        found = [(nearest(0.5), 254)]
        if near and nearest(0.25) > nearest(0.75):
            found.append((nearest(0.75), nearest(0.25) - 1))
    least = max(5, -(-n // 100))

    def sides(low: int, high: int) -> tuple[int, int]:
        inside = sum(low <= c <= high for c in codes)
        return inside, n - inside

    return [cut for cut in found if min(sides(*cut)) >= least]


def statistic_twin(
    j: np.ndarray, k: np.ndarray, groups: list[tuple[np.ndarray, int, float]]
) -> float:
    """The statistic of two bits; groups: samples, arm and weight of each."""
    arms: dict[int, np.ndarray] = {}
    for samples, arm, omega in groups:
        a, b, n = j[samples].astype(float), k[samples].astype(float), len(samples)
        products = (a - a.mean()) * (b - b.mean())
        by_table = ((products - products.mean()) ** 2).mean()
        by_product = a.var() * b.var()
        v = max(by_table, by_product) / (n - 1) if by_product > 0 else 0.0
        terms = np.array([omega * products.mean(), omega**2 * v, omega * a.var(), omega * b.var()])
        arms[arm] = arms.get(arm, np.zeros(4)) + terms
    known = np.array([arm for arm in arms.values() if arm[1] > 0])
    if len(known) < 2:
        return 0.0
    cov, v, spread_j, spread_k = known.T
    return min(heterogeneity_twin(cov / scale, v / scale**2) for scale in (1.0, spread_j, spread_k))


def heterogeneity_twin(values: np.ndarray, variances: np.ndarray) -> float:
    """Chi-squared of values that should be the same."""
    mean = np.average(values, weights=1 / variances)
    return float(((values - mean) ** 2 / variances).sum())


def all_statistics_twin(
    rows: np.ndarray, columns: np.ndarray, groups: list[tuple[np.ndarray, int, float]]
) -> np.ndarray:
    """Statistics of all pairs of bits (n_rows, n_samples) and (n_columns, n_samples)."""
    return np.array([[statistic_twin(j, k, groups) for k in columns] for j in rows])
