"""All features at a glance: inflation, and points of quantile, Manhattan and volcano plots.

A plot of millions of points shows a few thousand: of those that fall on the same spot, the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from scipy import special

from srs.results.documents.effects import Contig, ScanDocument, Spot
from srs.store.layout import Annotation

QUANTILE_POINTS = 300
COLUMNS, ROWS = 300, 120  # spots of a plot
MEDIAN = float(special.chdtri(1.0, 0.5))  # of chi-squared
LOG_10 = float(np.log(10.0))
DIGITS = 5
GAP = 0.005  # between chromosomes, of the whole axis


def log10_p(z: np.ndarray) -> np.ndarray:
    """Minus the decimal logarithm of the two-sided p-value of z."""
    found: np.ndarray = -(np.log(2.0) + special.log_ndtr(-np.abs(z, dtype=np.float64))) / LOG_10
    return found


def inflation(z: np.ndarray) -> float | None:
    """The median of squared z over that of chi-squared (genomic control, lambda)."""
    return round(float(np.median(np.square(z, dtype=np.float64))) / MEDIAN, 4) if len(z) else None


def quantiles(z: np.ndarray) -> tuple[list[float], list[float]]:
    """Expected and observed p-values: the smallest ones all, the others at equal distances."""
    n = len(z)
    observed = np.sort(log10_p(z))[::-1]
    ranks = np.unique(
        np.concatenate(
            [np.arange(min(n, 100)), np.geomspace(1, max(n, 1), QUANTILE_POINTS).astype(int) - 1]
        )
    )[: n or None]
    ranks = ranks[ranks < n]
    expected = -np.log10((ranks + 0.5) / max(n, 1))
    return _rounded(expected), _rounded(observed[ranks])


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]


def thin(x: np.ndarray, y: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Which points are drawn: one on each spot, and all of `kept` (bool)."""
    if not len(x):
        return np.empty(0, np.int64)
    spans = [(float(v.min()), float(np.ptp(v)) or 1.0) for v in (x, y)]
    column = ((x - spans[0][0]) / spans[0][1] * COLUMNS).astype(np.int64)
    row = ((y - spans[1][0]) / spans[1][1] * ROWS).astype(np.int64)
    first = np.unique(column * (ROWS + 1) + row, return_index=True)[1]
    return np.union1d(first, np.flatnonzero(kept))


def spots(
    x: np.ndarray, y: np.ndarray, relevant: np.ndarray, names: Mapping[int, str]
) -> list[Spot]:
    """Points of a plot. names: of relevant features, by their number in the arrays."""
    found: list[Spot] = []
    chosen = thin(x, y, relevant)
    for at, a, b in zip(chosen.tolist(), _rounded(x[chosen]), _rounded(y[chosen]), strict=True):
        spot: Spot = {"x": a, "y": b, "relevant": bool(relevant[at])}
        if at in names:
            spot["name"] = names[at]
        found.append(spot)
    return found


def natural(label: str) -> tuple[int, int, str]:
    """The order of chromosomes: numbers first, then X, Y and the others.

    >>> sorted(["chr10", "X", "chr2", "MT", "Y"], key=natural)
    ['chr2', 'chr10', 'X', 'Y', 'MT']
    """
    short = re.sub(r"^chr", "", label, flags=re.IGNORECASE)
    if short.isdigit():
        return 0, int(short), label
    known = ("X", "Y", "XY", "M", "MT")
    return 1, known.index(short) if short in known else len(known), label


def lay_out(contig: Annotation, position: np.ndarray) -> tuple[np.ndarray, list[Contig]]:
    """Places of features on one axis, chromosome after chromosome, and where these are.

    position  by feature; below 1: not known
    """
    numbers, labels = contig.values, contig.labels
    x = np.full(len(position), np.nan)
    spans: list[Contig] = []
    start = 0.0
    total = float(sum(position[numbers == n].max(initial=0) for n in range(len(labels))))
    for label in sorted(labels, key=natural):
        inside = (numbers == labels.index(label)) & (position > 0)
        if not inside.any():
            continue
        length = float(position[inside].max())
        x[inside] = start + position[inside]
        spans.append({"name": label, "start": start, "end": start + length})
        start += length + GAP * total
    return x, spans


def describe_scan(
    numbers: Mapping[str, np.ndarray],
    relevant: Mapping[int, str],
    annotations: Mapping[str, Annotation],
    *,
    measure: str,
    group: str | None,
    adjusted: tuple[str, ...],
    excluded: np.ndarray,
) -> ScanDocument:
    """What plots of all features show.

    numbers    beta, score_z and maybe frequency, by feature
    relevant   names of relevant features, by feature
    measure    what beta is
    group      the second of two classes; None: there are none
    excluded   features that are not tested: pinned ones
    """
    z = numbers["score_z"]
    tested = np.isfinite(z)
    tested[excluded] = False
    some = np.flatnonzero(tested)
    expected, observed = quantiles(z[some])
    found: ScanDocument = {
        "measure": measure,
        "group": group,
        "per": "allele" if "frequency" in numbers else "standard deviation of ranks",
        "adjusted": list(adjusted),
        "n_tested": len(some),
        "inflation": inflation(z[some]),
        "expected": expected,
        "observed": observed,
    }
    is_relevant = np.zeros(len(z), bool)
    is_relevant[list(relevant)] = True
    if group is not None and len(some):
        found["effects"] = _points(numbers["beta"], z, tested, is_relevant, names=relevant)
    if {"contig", "position"} <= set(annotations) and len(some):
        x, spans = lay_out(annotations["contig"], annotations["position"].values)
        if spans:
            found["contigs"] = spans
            found["places"] = _points(x, z, tested, is_relevant, names=relevant)
    return found


def _points(
    x: np.ndarray,
    z: np.ndarray,
    tested: np.ndarray,
    relevant: np.ndarray,
    *,
    names: Mapping[int, str],
) -> list[Spot]:
    some = np.flatnonzero(tested & np.isfinite(x))
    number_of = {int(feature): at for at, feature in enumerate(some) if int(feature) in names}
    named = {at: names[feature] for feature, at in number_of.items()}
    return spots(np.asarray(x[some], np.float64), log10_p(z[some]), relevant[some], named)
