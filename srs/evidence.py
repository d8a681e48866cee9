"""What accumulates per feature: empty, update, merge, finalise.

Evidence is kept by place and role: role 0 is the feature, the others are its probes, and nothing
here treats them differently. Only explored draws count; what a carried column does is counted in
the importance of the ensemble alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

KINDS = ("used", "screened", "peak")
HISTOGRAM_BINS = 60
PIECE = 1 << 17  # features that are looked at together, where all at once would take memory


@dataclass(frozen=True)
class BatchEvidence:
    """What one batch returns.

    places      int64 (k,): explored features, each once a draw
    used        float32 (n_roles, k): impurity decrease of the splits that the column made
    screened    float32 (n_roles, k): decrease that it offered at large nodes
    peak        float32 (n_roles, k): largest n x decrease that it offered
    splits      bool (k,): whether the feature (role 0) made a split
    carried     float64 (n_pool,): summed decrease of the carried columns
    wins        bool (k,): paper mode: whether the feature beat the probe; else empty
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


@njit(nogil=True, cache=True)
def _add(  # type: ignore[no-untyped-def]
    places, used, screened, peak, splits, wins, n_drawn, n_used, n_wins, importance, all_used,
    all_screened, all_peak,
):  # fmt: skip
    """The sums of `Evidence.update` in one pass: ten times faster than by fancy indices."""
    for k in range(places.shape[0]):
        at = places[k]
        n_drawn[at] += np.uint32(1)
        n_used[at] += np.uint32(splits[k])
        importance[at] += used[0, k]
    for k in range(wins.shape[0]):
        n_wins[places[k]] += np.uint32(wins[k])
    for role in range(used.shape[0]):
        for k in range(places.shape[0]):
            at = places[k]
            all_used[role, at] += used[role, k]
            all_screened[role, at] += screened[role, k]
            all_peak[role, at] = max(all_peak[role, at], peak[role, k])


@dataclass
class Evidence:
    """Sums and counters of all features, by place.

    n_drawn     uint32: explored draws
    n_used      uint32: explored draws in which the feature made a split
    n_wins      uint32: paper mode: draws in which it beat its probe; else empty
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
        drawn, used = (np.zeros(n_features, np.uint32) for _ in range(2))
        wins = np.zeros(n_features if n_roles == 1 else 0, np.uint32)
        sums = [np.zeros((n_roles, n_features), np.float32) for _ in range(3)]
        return cls(drawn, used, wins, np.zeros(n_features, np.float32), sums[0], sums[1], sums[2])

    def update(self, batch: BatchEvidence, pool_places: np.ndarray, pool_roles: np.ndarray) -> None:
        """Add what a batch found."""
        wins = batch.wins if len(self.n_wins) else batch.wins[:0]
        _add(
            batch.places, batch.used, batch.screened, batch.peak, batch.splits, wins,
            self.n_drawn, self.n_used, self.n_wins, self.importance, self.used, self.screened,
            self.peak,
        )  # fmt: skip
        features = pool_roles == 0
        np.add.at(self.importance, pool_places[features], batch.carried[features].astype("f4"))

    def merge(self, other: Evidence) -> None:
        """Add the evidence of other draws."""
        for name in ("n_drawn", "n_used", "n_wins", "importance", "used", "screened"):
            getattr(self, name)[...] += getattr(other, name)
        np.maximum(self.peak, other.peak, out=self.peak)

    def statistic(
        self, kind: str, roles: slice = slice(None), places: slice | np.ndarray = slice(None)
    ) -> np.ndarray:
        """One kind of evidence as float32 (n_roles, n_features): a mean over draws, or the peak.

        roles, places: only these, or all; a look at millions of features takes some after the
        others.
        """
        total: np.ndarray = getattr(self, kind)[roles]
        if kind == "peak" and isinstance(places, slice):
            return total[:, places]
        n_places = len(self.n_drawn) if isinstance(places, slice) else len(places)
        found = np.empty((len(total), n_places), np.float32)
        for start in range(0, n_places, PIECE):  # what a piece needs besides is small
            here = slice(start, start + PIECE)
            some = here if isinstance(places, slice) else places[here]
            if kind == "peak":
                found[:, here] = total[:, some]
                continue
            counts = np.maximum(self.n_drawn[some], 1)
            np.divide(total[:, some], counts, out=found[:, here], dtype="f4", casting="unsafe")
        return found

    def histograms(self, kinds: Sequence[str]) -> dict[str, Any]:
        """For each kind of evidence, how many features and probes have how much of it."""
        return {kind: self._histogram(kind) for kind in (kinds if len(self.used) > 1 else ["used"])}

    def _histogram(self, kind: str) -> dict[str, Any]:
        n_features, n_roles = len(self.n_drawn), len(self.used)
        pieces = [
            np.arange(start, min(start + PIECE, n_features), dtype=np.int32)
            for start in range(0, n_features, PIECE)
        ]
        top = max(float(self.statistic(kind, places=places).max()) for places in pieces) or 1.0
        edges = np.linspace(0.0, top, HISTOGRAM_BINS + 1)
        counts = np.zeros((2, HISTOGRAM_BINS), np.int64)
        for places in pieces:
            statistic = self.statistic(kind, places=places)
            counts[0] += np.histogram(statistic[0], edges)[0]
            counts[1] += np.histogram(statistic[1:], edges)[0]
        return {
            "edges": [float(f"{e:.6g}") for e in edges],
            "features": counts[0].tolist(),
            "probes": counts[1].tolist(),
            "n_probes": n_roles - 1,
        }

    def release(self, name: str) -> np.ndarray:
        """Give up the array of this name, which nobody needs here any more; returns it."""
        array: np.ndarray = getattr(self, name)
        setattr(self, name, np.empty((*array.shape[:-1], 0), array.dtype))
        return array

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a checkpoint."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
