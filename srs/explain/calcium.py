"""Simulated calcium traces of a known network of neurons, to check connectome inference on."""

from __future__ import annotations

import numpy as np

from srs.seeds import EXPLAIN, make_rng

CALCIUM = EXPLAIN + 11
DECAY = 0.9  # of calcium from one time to the next
RATE = 0.01  # chance that a neuron spikes by itself
DRIVE = 0.35  # chance that a spike makes a neighbour spike at the same or the next time
BURST_RATE = 0.004  # chance that a burst of the whole network begins
NOISE = 0.05


def simulate_calcium(
    n_neurons: int, n_times: int, density: float = 0.05, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Fluorescence (n_times, n_neurons), and the true links (n_neurons, n_neurons), bool.

    Neurons spike by themselves, by spikes of neurons that lead to them (half of them within the
    same frame, as the camera is slower than synapses), and in bursts of the whole network. A
    spike adds calcium that decays; fluorescence saturates and is noisy, and light scatters from
    neighbours in a plane.

    >>> signals, links = simulate_calcium(10, 500)
    >>> signals.shape, links.shape, bool(links.diagonal().any())
    ((500, 10), (10, 10), False)
    """
    rng = make_rng(seed, CALCIUM)
    links = rng.random((n_neurons, n_neurons)) < density
    np.fill_diagonal(links, False)
    places = rng.random((n_neurons, 2))
    calcium, later = np.zeros(n_neurons), np.zeros(n_neurons, bool)
    signals = np.empty((n_times, n_neurons))
    burst = 0
    for t in range(n_times):
        burst = 5 if rng.random() < BURST_RATE else max(burst - 1, 0)
        spikes = later | (rng.random(n_neurons) < (0.3 if burst else RATE))
        driven = (links & spikes[:, None] & (rng.random(links.shape) < DRIVE)).any(axis=0)
        now = rng.random(n_neurons) < 0.5
        spikes |= driven & now
        later = driven & ~now
        calcium = DECAY * calcium + spikes
        signals[t] = calcium / (calcium + 3.0)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    scatter = 0.1 * np.exp(-((apart / 0.1) ** 2)) * ~np.eye(n_neurons, dtype=bool)
    return signals @ (np.eye(n_neurons) + scatter) + NOISE * rng.normal(size=signals.shape), links
