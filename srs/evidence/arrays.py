"""What accumulates per feature: empty, update, merge, finalise.

Evidence is kept by place and role: role 0 is the feature, the others are its probes, and nothing
here treats them differently. Only explored draws count; what a carried column does is counted in
the importance of the ensemble alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from srs.evidence.histogram import Histogram
from srs.evidence.registry import USUAL, evidence_kind
from srs.evidence.used import USED

HISTOGRAM_BINS = 60
_TOLD = "told_"  # before names in checkpoints
PIECE = 1 << 17  # features that are looked at together, where all at once would take memory


@dataclass(frozen=True)
class BatchEvidence:
    """What one batch returns.

    places      int64 (k,): explored features, each once a draw
    by_kind     float32 (n_roles, k) each: the kinds of evidence that come from trees, by name
    splits      bool (k,): whether the feature (role 0) made a split
    carried     float64 (n_pool,): summed decrease of the carried columns
    wins        bool (k,): paper mode: whether the feature beat the probe; else empty
    n_trees     trees grown
    votes       float64 (n_held_out, n_outputs): summed predictions for held-out samples
    seconds     wall time by part: read, fill, grow (not part of the outcome)
    """

    places: np.ndarray
    by_kind: Mapping[str, np.ndarray]
    splits: np.ndarray
    carried: np.ndarray
    wins: np.ndarray
    n_trees: int
    votes: np.ndarray
    seconds: dict[str, float]


class _Counts(NamedTuple):
    """What `_count` adds to, by place; see `Evidence`."""

    n_drawn: np.ndarray
    n_used: np.ndarray
    n_wins: np.ndarray
    importance: np.ndarray


@njit(nogil=True, cache=True)
def _count(places, splits, wins, used, counts):  # type: ignore[no-untyped-def]
    """The counters of `Evidence.update` in one pass: ten times faster than by fancy indices."""
    for k in range(places.shape[0]):
        at = np.uint64(places[k])
        counts.n_drawn[at] += np.uint32(1)
        counts.n_used[at] += np.uint32(splits[k])
        counts.importance[at] += used[0, k]
    for k in range(wins.shape[0]):
        counts.n_wins[places[k]] += np.uint32(wins[k])


@njit(nogil=True, cache=True)
def _add(places, values, totals, by_maximum):  # type: ignore[no-untyped-def]
    """Merge the kinds of evidence, tuples of one array each.

    All kinds of a column together: one kind after the other takes 1.7 times as long, waiting for
    memory.
    """
    for role in range(values[0].shape[0]):
        for k in range(places.shape[0]):
            at = np.uint64(places[k])
            for kind in range(len(values)):
                value = values[kind][role, k]
                if by_maximum[kind]:
                    totals[kind][role, at] = max(totals[kind][role, at], value)
                else:
                    totals[kind][role, at] += value


def add_values(
    places: np.ndarray, values: Mapping[str, np.ndarray], totals: Mapping[str, np.ndarray]
) -> None:
    """Merge values of kinds of evidence, by name, into what is held of these places."""
    held = tuple(totals[kind] for kind in values)
    _add(places, tuple(values.values()), held, _by_maximum(values))


def _by_maximum(kinds: Iterable[str]) -> tuple[bool, ...]:
    """Whether each kind is merged by the maximum; else by the sum."""
    return tuple(evidence_kind(kind).merge == "maximum" for kind in kinds)


@dataclass
class Evidence:
    """Sums and counters of all features, by place.

    n_drawn     uint32: explored draws
    n_used      uint32: explored draws in which the feature made a split
    n_wins      uint32: paper mode: draws in which it beat its probe; else empty
    importance  float32: summed decrease over all trees, carried draws included
    by_kind     float32 (n_roles, n) each: kinds of evidence by name, merged over draws as
                `EvidenceKind.merge` says; *used* is always among them; (1, n) of kinds with
                p-values
    told        by name: what kinds tell of features besides (`EvidenceKind.tells`)
    less        of some kinds, what is to be taken off `by_kind` (`srs.evidence.halves`)
    """

    n_drawn: np.ndarray
    n_used: np.ndarray
    n_wins: np.ndarray
    importance: np.ndarray
    by_kind: dict[str, np.ndarray]
    told: dict[str, np.ndarray] = field(default_factory=dict)
    less: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def empty(cls, n_features: int, n_roles: int, kinds: Sequence[str] = USUAL) -> Evidence:
        drawn, used = (np.zeros(n_features, np.uint32) for _ in range(2))
        wins = np.zeros(n_features if n_roles == 1 else 0, np.uint32)
        importance = np.zeros(n_features, np.float32)
        by_kind = {
            kind: np.zeros((evidence_kind(kind).n_rows(n_roles), n_features), np.float32)
            for kind in kinds
        }
        return cls(drawn, used, wins, importance, by_kind)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Evidence:
        """The inverse of `arrays`."""
        counts = _Counts(*(arrays[name] for name in _Counts._fields))
        told = {n.removeprefix(_TOLD): a for n, a in arrays.items() if n.startswith(_TOLD)}
        by_kind = {
            name: array
            for name, array in arrays.items()
            if name not in _Counts._fields and not name.startswith(_TOLD)
        }
        return cls(*counts, by_kind=by_kind, told=told)

    @property
    def n_roles(self) -> int:
        return len(self.by_kind[USED.name])

    def update(self, batch: BatchEvidence, pool_places: np.ndarray, pool_roles: np.ndarray) -> None:
        """Add what a batch found."""
        wins = batch.wins if len(self.n_wins) else batch.wins[:0]
        counts = _Counts(self.n_drawn, self.n_used, self.n_wins, self.importance)
        _count(batch.places, batch.splits, wins, batch.by_kind[USED.name], counts)
        add_values(batch.places, batch.by_kind, self.by_kind)
        features = pool_roles == 0
        np.add.at(self.importance, pool_places[features], batch.carried[features].astype("f4"))

    def add(self, kind: str, values: np.ndarray) -> None:
        """Add one kind of evidence of all features, float32 (n_roles, n)."""
        combine = np.maximum if evidence_kind(kind).merge == "maximum" else np.add
        combine(self.by_kind[kind], values, out=self.by_kind[kind])

    def merge(self, other: Evidence) -> None:
        """Add the evidence of other draws."""
        for name in _Counts._fields:
            getattr(self, name)[...] += getattr(other, name)
        for kind, values in other.by_kind.items():
            self.add(kind, values)

    def statistic(
        self, kind: str, roles: slice = slice(None), places: slice | np.ndarray = slice(None)
    ) -> np.ndarray:
        """One kind of evidence as float32 (n_roles, n_features): a mean over draws, or as merged.

        roles, places: only these, or all; a decision on millions of features takes some after the
        others. May be a view of what is held (`np.may_share_memory` tells).
        """
        total: np.ndarray = self.by_kind[kind][roles]
        less = self.less[kind][roles] if kind in self.less else None
        mean = evidence_kind(kind).mean
        if not mean and less is None and isinstance(places, slice):
            return total[:, places]
        n_places = len(self.n_drawn) if isinstance(places, slice) else len(places)
        found = np.empty((len(total), n_places), np.float32)
        for start in range(0, n_places, PIECE):  # what a piece needs besides is small
            here = slice(start, start + PIECE)
            some = here if isinstance(places, slice) else places[here]
            values = total[:, some]
            if less is not None:
                values = np.maximum(values - less[:, some], np.float32(0.0))
            if not mean:
                found[:, here] = values
                continue
            counts = np.maximum(self.n_drawn[some], 1)
            np.divide(values, counts, out=found[:, here], dtype="f4", casting="unsafe")
        return found

    def histograms(self, kinds: Sequence[str]) -> dict[str, Histogram]:
        """For each kind of evidence, how many features and probes have how much of it."""
        shown = kinds if self.n_roles > 1 else [USED.name]  # paper mode has no other
        return {
            kind: self._histogram(kind) for kind in shown if not evidence_kind(kind).has_p_values
        }

    def _histogram(self, kind: str) -> Histogram:
        n_features, n_roles = len(self.n_drawn), self.n_roles
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
        array = self.arrays()[name]
        nothing = np.empty((*array.shape[:-1], 0), array.dtype)
        if name in self.by_kind:
            self.by_kind[name] = nothing
        else:
            setattr(self, name, nothing)
        return array

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name, for a checkpoint."""
        told = {_TOLD + name: array for name, array in self.told.items()}
        return {name: getattr(self, name) for name in _Counts._fields} | self.by_kind | told
