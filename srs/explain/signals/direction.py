"""Which neuron leads: direction of links from what follows what (thesis 8.A.3), and GTE.

Partial correlations have no direction. `leads` counts how often one neuron is followed by the other
(equation 8.12), `direct` uses it (8.13, 8.14). `transfer_entropies` is the generalised transfer
entropy of Stetter et al. (2012), the challenge's own baseline: what the recent spikes of one neuron
tell of the next of another, beyond its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.explain.signals.covariance import Chain, pieces, spikes

FOLLOWS = (0.2, 0.5)  # phi_1 and phi_2: by how much a spike may exceed the one before it
LEAST_LEAD = 0  # phi_3
WEIGHT = 0.997  # of the partial correlation, against the lead
SPIKE, QUIET = 0.12, 0.25  # rise that is a spike, and mean signal below which times count, for GTE
MIXED, STRICT, OFF = DIRECTIONS = ("mixed", "strict", "off")
N_SELF, N_SOURCE = 8, 4  # states of (now, before, two before), and of a source (now, before)


@njit(nogil=True, cache=True)
def _count_leads(spiking, low, high, counts):  # type: ignore[no-untyped-def]
    """counts[i, j] += times t at which neuron j at t + 1 exceeds neuron i at t by low..high."""
    n, p = spiking.shape
    for t in range(n - 1):
        for j in range(p):
            after = spiking[t + 1, j]
            if after < low:  # no spike is below 0, so nothing is exceeded enough
                continue
            for i in range(p):
                if low <= after - spiking[t, i] <= high:
                    counts[i, j] += 1


def leads(signals: np.ndarray, unit: float = 1.0) -> np.ndarray:
    """How much more often neuron i is followed by j than j by i: z of 8.A.3, int64.

    Spikes are those of f2, from 0.12 on, to the power of 0.9, as in the authors' implementation.
    """
    n, p = signals.shape
    chain = Chain("f2", SPIKE, 0.9, activity=OFF, unit=unit)
    counts = np.zeros((p, p), np.int64)
    for start, stop in pieces(n, p):
        some = spikes(signals, chain, start, min(stop + 1, n))  # one more: what follows the last
        _count_leads(some, FOLLOWS[0], FOLLOWS[1], counts)
    np.fill_diagonal(counts, 0)
    return counts - counts.T


def direct(partial: np.ndarray, lead: np.ndarray, how: str, weight: float = WEIGHT) -> np.ndarray:
    """Weights of directed links, source x target.

    "strict": the partial correlation where the source leads, else 0 (equation 8.13)
    "mixed": weight x partial + (1 - weight) x lead, both scaled to 0..1 (equation 8.14)
    """
    if how == STRICT:
        return np.where(lead > LEAST_LEAD, partial, 0.0)
    return np.asarray(weight * _scaled(partial) + (1.0 - weight) * _scaled(lead))


def _scaled(matrix: np.ndarray) -> np.ndarray:
    """To 0..1, by the values off the diagonal; 0 on it."""
    apart = ~np.eye(len(matrix), dtype=np.bool_)
    low, high = float(matrix[apart].min()), float(matrix[apart].max())
    found = (matrix - low) / ((high - low) or 1.0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


@njit(nogil=True, cache=True)
def _bits(word):  # type: ignore[no-untyped-def]
    """How many bits of a uint64 are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    two = np.uint64(0x3333333333333333)
    word = (word & two) + ((word >> np.uint64(2)) & two)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(nogil=True, cache=True)
def _transfer(own, sources, target, found):  # type: ignore[no-untyped-def]
    """found[i]: transfer entropy from neuron i to the target, in bits.

    own      uint64 (8, n_words): times at which the target is in each state (now, before, two
             before), one bit a time
    sources  uint64 (n_neurons, 4, n_words): likewise for a source (now, before)
    """
    counts = np.empty((N_SELF, N_SOURCE))
    for i in range(sources.shape[0]):
        if i == target:
            continue
        total = 0.0
        for s in range(N_SELF):
            for c in range(N_SOURCE):
                n = 0
                for w in range(own.shape[1]):
                    n += _bits(own[s, w] & sources[i, c, w])
                counts[s, c] = n
                total += n
        told = 0.0
        for past in range(4):
            by_now = np.zeros(2)
            for now in range(2):
                for c in range(N_SOURCE):
                    by_now[now] += counts[now * 4 + past, c]
            for c in range(N_SOURCE):
                both = counts[past, c] + counts[4 + past, c]
                for now in range(2):
                    x = counts[now * 4 + past, c]
                    if x > 0:
                        told += x * np.log2(x * (by_now[0] + by_now[1]) / (both * by_now[now]))
        found[i] = told / total if total > 0 else 0.0


class TransferEntropy:
    """Generalised transfer entropies of a recording; `to` gives those that lead to one neuron.

    A neuron spikes where its signal rises by 0.12; times count where the mean signal of all is at
    most 0.25 above its median. Two times of the past of both neurons are known, and what the source
    does at the same time (instantaneous feedback).
    """

    def __init__(self, signals: np.ndarray, unit: float = 1.0) -> None:
        n, p = signals.shape
        chain = Chain("f0", SPIKE, activity=OFF, unit=unit)
        spiking, mean = np.empty((n, p), np.bool_), np.empty(n)
        for start, stop in pieces(n, p):
            spiking[start:stop] = spikes(signals, chain, start, stop) > 0
            mean[start:stop] = signals[start:stop].mean(axis=1) / unit
        times = np.flatnonzero(mean - np.median(mean) < QUIET)
        times = times[times >= 2]
        self.n_times = len(times)
        self._own = np.empty((p, N_SELF, -(-len(times) // 64)), np.uint64)
        self._sources = np.empty((p, N_SOURCE, self._own.shape[2]), np.uint64)
        for i in range(p):
            now, before, earlier = (spiking[times - lag, i].astype(np.int64) for lag in (0, 1, 2))
            self._own[i] = _packed(4 * now + 2 * before + earlier, N_SELF)
            self._sources[i] = _packed(2 * now + before, N_SOURCE)

    def to(self, target: int) -> np.ndarray:
        """From every neuron to one, in bits; 0 from itself."""
        found = np.zeros(len(self._own))
        _transfer(self._own[target], self._sources, target, found)
        return found


def _packed(states: np.ndarray, n_states: int) -> np.ndarray:
    """One row of bits a state, uint64: at which times it holds."""
    n_words = -(-len(states) // 64)
    padded = np.zeros((n_states, 64 * n_words), np.uint8)
    padded[:, : len(states)] = states == np.arange(n_states)[:, None]
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
