"""From fluorescence to spikes: the filters of thesis 8.3.3 and 8.A.1.

In this order: `low_pass` smooths, `difference` keeps what rises, `threshold` keeps what rises
enough, `root` evens out heights, `weigh` raises spikes at times when few others spike.
"""

from __future__ import annotations

import numpy as np

# Weights of x[t - 3] .. x[t + 3]: equations 8.2, 8.3, 8.8 and 8.9; f0 leaves the signal as it is.
LOW_PASS = {
    "f0": (0, 0, 0, 1, 0, 0, 0),
    "f1": (0, 0, 1, 1, 1, 0, 0),
    "f2": (0.4, 0.8, 1, 1, 0, 0, 0),
    "f3": (0, 0, 1, 1, 1, 1, 0),
    "f4": (0, 0, 0, 1, 1, 1, 1),
}
REACH = 3  # times before and after that a filter looks at

# The function k of equation 8.11, by filter: (share of the largest activity from which on, k), as
# in the authors' implementation, which multiplies the exponent by k where the text raises it to k.
TUNED = {
    "f1": ((0.0, 1.6), (0.05, 1.9), (0.23, 1.6), (0.75, 1.4)),
    "f2": ((0.0, 1.6), (0.05, 1.9), (0.23, 1.6), (0.75, 1.4)),
    "f3": ((0.0, 1.7), (0.04, 1.9), (0.22, 1.7), (0.75, 1.5)),
    "f4": ((0.0, 1.5), (0.08, 1.9), (0.22, 1.5)),
}
LINGERS = 0.5  # share of the activity of the time before that counts, in the tuned weights


def low_pass(signals: np.ndarray, name: str = "f1") -> np.ndarray:
    """Smooth each column with one of the filters; what is before and after counts as 0.

    >>> low_pass(np.array([[0.0], [1.0], [0.0], [0.0]]), "f1").ravel().tolist()
    [1.0, 1.0, 1.0, 0.0]
    >>> low_pass(np.array([[1.0], [0.0], [0.0], [0.0]]), "f2").ravel().tolist()
    [1.0, 1.0, 0.8, 0.4]
    """
    padded = np.pad(signals, ((REACH, REACH), (0, 0)))
    n = len(signals)
    weights = LOW_PASS[name]
    return np.asarray(sum(w * padded[i : i + n] for i, w in enumerate(weights) if w))


def difference(signals: np.ndarray) -> np.ndarray:
    """Rise since the time before (equation 8.4); 0 at the first.

    >>> difference(np.array([[1.0], [4.0], [2.0]])).ravel().tolist()
    [0.0, 3.0, -2.0]
    """
    return np.diff(signals, axis=0, prepend=signals[:1])


def rises(signals: np.ndarray, name: str, start: int, stop: int, unit: float = 1.0) -> np.ndarray:
    """The times start..stop of difference(low_pass(signals / unit)), from what these times need.

    >>> x = np.arange(12.0).reshape(6, 2) ** 2
    >>> bool((rises(x, "f2", 2, 5) == difference(low_pass(x, "f2"))[2:5]).all())
    True
    """
    low, high = max(start - 1 - REACH, 0), min(stop + REACH, len(signals))
    smooth = low_pass(signals[low:high] / unit, name)
    before = max(start - 1, 0)
    found = difference(smooth[before - low : stop - low])
    return found if start == 0 else found[1:]


def threshold(signals: np.ndarray, least: float) -> np.ndarray:
    """What is at least `least`, else 0 (equation 8.5).

    >>> threshold(np.array([[0.1], [0.2], [-1.0]]), 0.2).ravel().tolist()
    [0.0, 0.2, 0.0]
    """
    return np.where(signals >= least, signals, 0.0)


def root(signals: np.ndarray, exponent: float = 0.9) -> np.ndarray:
    """Spikes to a power below 1, so that their heights differ less (equation 8.10).

    >>> root(np.array([[0.0], [4.0]]), 0.5).ravel().tolist()
    [0.0, 2.0]
    """
    return np.asarray(signals**exponent)


def weigh(signals: np.ndarray) -> np.ndarray:
    """(x + 1) ** (1 + 1 / activity of all at the time), 1 where all are silent (equation 8.6).

    >>> weigh(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])).round(3).tolist()
    [[4.0, 1.0], [1.0, 1.0], [2.828, 2.828]]
    """
    return _raised(signals, signals.sum(axis=1), 1.0)


def weigh_tuned(
    signals: np.ndarray, name: str, activity: np.ndarray, before: np.ndarray, largest: float
) -> np.ndarray:
    """(x + 1) ** (k (1 + 1 / activity)), with k by the share of the largest activity (8.11).

    name      the filter that the signals went through
    activity  (n_times,): sum of the signals of each time; before  likewise, of the time before
    largest   the largest activity of all times, each with half of that before
    """
    lingering = activity + LINGERS * before
    shares, factors = (np.array(column) for column in zip(*TUNED[name], strict=True))
    at = np.searchsorted(shares, lingering / (largest or 1.0), side="right") - 1
    return _raised(signals, lingering, factors[at])


def _raised(signals: np.ndarray, activity: np.ndarray, factor: np.ndarray | float) -> np.ndarray:
    weighed = np.ones_like(signals)
    # Elsewhere 1 to any power: most of them, and powers are slow.
    time, neuron = np.nonzero(signals)
    by_time = np.broadcast_to(np.asarray(factor), activity.shape)[time]
    weighed[time, neuron] = (signals[time, neuron] + 1.0) ** (
        by_time * (1.0 + 1.0 / activity[time])
    )
    return weighed
