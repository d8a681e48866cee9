"""Covariances of filtered signals, a piece of time at a time, and partial correlations from them.

A filtered signal is as large as the signal, and so is each step on the way. Here only a piece of
some hundred times is filtered at once and added up, so that an average over hundreds of filters and
thresholds needs the memory of the signal, some matrices of neurons by neurons, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from srs.explain.signals.filters import LINGERS, rises, root, threshold, weigh, weigh_tuned

PIECE_BYTES = 1 << 22  # of one array of a piece; a thread holds about eight
SPARSE = 0.05  # share of spikes up to which products skip what is silent
PLAIN, TUNED, OFF = ACTIVITIES = ("plain", "tuned", "off")


@dataclass(frozen=True)
class Chain:
    """The filters that a signal goes through.

    low_pass   name of the smoothing filter
    least      rise from which on it counts as a spike, in units of the signal; None: all rises
    exponent   power of spikes (equation 8.10); 1: as they are
    activity   "plain": weights of equation 8.6; "tuned": of 8.11; "off": no weights
    unit       what the signal is divided by
    """

    low_pass: str
    least: float | None
    exponent: float = 1.0
    activity: str = PLAIN
    unit: float = 1.0


def pieces(n_times: int, n_neurons: int) -> Iterator[tuple[int, int]]:
    """Times first..last of each piece."""
    size = max(16, PIECE_BYTES // (8 * n_neurons))
    for start in range(0, n_times, size):
        yield start, min(start + size, n_times)


def spikes(signals: np.ndarray, chain: Chain, start: int, stop: int) -> np.ndarray:
    """The signal of some times after all filters but the weights."""
    found = rises(signals, chain.low_pass, start, stop, chain.unit)
    if chain.least is not None:
        found = threshold(found, chain.least)
    return found if chain.exponent == 1.0 else root(found, chain.exponent)


def covariance(signals: np.ndarray, chain: Chain) -> np.ndarray:
    """The covariance of the filtered signal, float64 (n_neurons, n_neurons)."""
    n, p = signals.shape
    activity = _activity(signals, chain) if chain.activity == TUNED else None
    total, products = np.zeros(p), np.zeros((p, p))
    for start, stop in pieces(n, p):
        weighed = _weighed(signals, chain, start, stop, activity)
        if chain.activity != OFF:
            weighed -= 1.0  # what a silent neuron has: a covariance does not see it
        total += weighed.sum(axis=0)
        products += _products(weighed)
    return np.asarray((products - np.outer(total, total) / n) / (n - 1))


def _weighed(
    signals: np.ndarray, chain: Chain, start: int, stop: int, activity: np.ndarray | None
) -> np.ndarray:
    found = spikes(signals, chain, start, stop)
    if chain.activity == PLAIN:
        return weigh(found)
    if activity is None:
        return found
    before = np.concatenate([[0.0], activity[:-1]])
    largest = float((activity + LINGERS * before).max())
    return weigh_tuned(
        found, chain.low_pass, activity[start:stop], before[start:stop], largest=largest
    )


def _activity(signals: np.ndarray, chain: Chain) -> np.ndarray:
    """The sum of all spikes at each time."""
    n, p = signals.shape
    return np.concatenate(
        [spikes(signals, chain, start, stop).sum(axis=1) for start, stop in pieces(n, p)]
    )


def _products(piece: np.ndarray) -> np.ndarray:
    """piece.T @ piece, by the spikes alone where they are few."""
    if np.count_nonzero(piece) > SPARSE * piece.size:
        return np.asarray(piece.T @ piece)
    from scipy.sparse import csr_array  # here: only this analysis needs it

    few = csr_array(piece)
    return np.asarray((few.T @ few).toarray())


def partial_correlations(signals: np.ndarray, kept_share: float = 1.0) -> np.ndarray:
    """Partial correlation of each pair of columns (equation 8.7); 0 on the diagonal.

    kept_share  share of principal components that the covariance is made from; the others get one
                variance, their mean (probabilistic PCA), which inverting would else blow up

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=2000); b = a + rng.normal(size=2000); c = b + rng.normal(size=2000)
    >>> found = partial_correlations(np.column_stack([a, b, c]))
    >>> bool(found[0, 1] > 0.4), bool(abs(found[0, 2]) < 0.1)
    (True, True)
    """
    p = signals.shape[1]
    return partial_of(np.cov(signals, rowvar=False).reshape(p, p), kept_share)


def partial_of(covariances: np.ndarray, kept_share: float) -> np.ndarray:
    """Partial correlations from a covariance."""
    p = len(covariances)
    variances, axes = np.linalg.eigh(covariances)
    variances = np.maximum(variances, max(variances[-1], 1.0) * 1e-12)
    n_left = p - max(1, int(np.ceil(kept_share * p)))
    if n_left:
        variances[:n_left] = variances[:n_left].mean()
    precision = (axes / variances) @ axes.T
    scale = np.sqrt(np.maximum(np.diag(precision), np.finfo(float).tiny))
    found = -precision / np.outer(scale, scale)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def correlation_of(covariances: np.ndarray) -> np.ndarray:
    """Correlations from a covariance; 0 on the diagonal and for signals that never change."""
    scale = np.sqrt(np.diag(covariances))
    apart = np.outer(scale, scale)
    found = np.divide(covariances, apart, out=np.zeros_like(apart), where=apart > 0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)
