"""What accumulates per feature: empty, update, merge, finalise.

Evidence is kept by place and role: role 0 is the feature, the others are its probes, and nothing
here treats them differently. Only explored draws count; what a carried column does is counted in
the importance of the ensemble alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

KINDS = ("used", "screened", "peak")


@dataclass(frozen=True)
class BatchEvidence:
    """What one batch returns.

    places      int64 (k,): explored features, each once a draw
    used        float32 (n_roles, k): impurity decrease of the splits that the column made
    screened    float32 (n_roles, k): decrease that it offered at large nodes
    peak        float32 (n_roles, k): largest n x decrease that it offered
    splits      bool (k,): whether the feature (role 0) made a split
    carried     float64 (n_pool,): summed decrease of the carried columns
    wins        bool (k,): whether the feature beat the probe (the first probe, where it has more)
    n_trees     trees grown
    votes       float64 (n_held_out, n_outputs): summed predictions for held-out samples
    seconds     wall time by part: read, fill, grow (not part of the outcome)
    """

    places: np.ndarray
    used: np.ndarray
    screened: np.ndarray
    peak: np.ndarray
    splits: np.ndarray
    carried: np.ndarray
    wins: np.ndarray
    n_trees: int
    votes: np.ndarray
    seconds: dict[str, float]


@dataclass
class Evidence:
    """Sums and counters of all features, by place.

    n_drawn     uint32: explored draws
    n_used      uint32: explored draws in which the feature made a split
    n_wins      uint32: draws in which it beat its probe
    importance  float32: summed decrease over all trees, carried draws included
    used        float32 (n_roles, n): sums over draws; screened likewise
    peak        float32 (n_roles, n): maxima over draws
    """

    n_drawn: np.ndarray
    n_used: np.ndarray
    n_wins: np.ndarray
    importance: np.ndarray
    used: np.ndarray
    screened: np.ndarray
    peak: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_roles: int) -> Evidence:
        counters = (np.zeros(n_features, np.uint32) for _ in range(3))
        sums = (np.zeros((n_roles, n_features), np.float32) for _ in range(3))
        return cls(*counters, np.zeros(n_features, np.float32), *sums)

    def update(self, batch: BatchEvidence, pool_places: np.ndarray, pool_roles: np.ndarray) -> None:
        """Add what a batch found. Within a batch a feature may be drawn once only."""
        at = batch.places
        self.n_drawn[at] += 1
        self.n_used[at] += batch.splits
        self.n_wins[at] += batch.wins
        self.importance[at] += batch.used[0]
        self.used[:, at] += batch.used
        self.screened[:, at] += batch.screened
        self.peak[:, at] = np.maximum(self.peak[:, at], batch.peak)
        features = pool_roles == 0
        np.add.at(self.importance, pool_places[features], batch.carried[features].astype("f4"))

    def merge(self, other: Evidence) -> None:
        """Add the evidence of other draws."""
        for name in ("n_drawn", "n_used", "n_wins", "importance", "used", "screened"):
            getattr(self, name)[...] += getattr(other, name)
        np.maximum(self.peak, other.peak, out=self.peak)

    def statistic(self, kind: str) -> np.ndarray:
        """One kind of evidence as float32 (n_roles, n_features): a mean over draws, or the peak."""
        if kind == "peak":
            return self.peak
        total: np.ndarray = getattr(self, kind)
        return total / np.maximum(self.n_drawn, 1).astype(np.float32)

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a checkpoint."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
