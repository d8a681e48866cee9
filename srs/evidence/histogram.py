"""How many features and probes have how much of a kind of evidence, as results tell it."""

from __future__ import annotations

from typing import TypedDict


class Histogram(TypedDict):
    """How many features and probes have how much of one kind of evidence.

    edges     ascending bounds of the bins, one more than there are bins
    features  features in each bin
    probes    probes in each bin, of all probes of all features
    n_probes  probes of a feature
    """

    edges: list[float]
    features: list[int]
    probes: list[int]
    n_probes: int
