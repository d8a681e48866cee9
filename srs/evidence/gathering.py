"""What a batch gathers while its trees are grown: evidence, votes and trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from srs.evidence.arrays import BatchEvidence
from srs.evidence.kinds import EvidenceKind
from srs.evidence.registry import kinds_of_trees
from srs.evidence.used import USED
from srs.trees import Importances, Tree

if TYPE_CHECKING:
    from srs.engine.context import RunContext


@dataclass
class BatchOutcome:
    """Evidence of a batch while its trees are grown; arrays as in BatchEvidence."""

    kinds: tuple[EvidenceKind, ...]
    places: np.ndarray
    by_kind: dict[str, np.ndarray]
    splits: np.ndarray
    carried: np.ndarray
    votes: np.ndarray
    trees: list[Tree]
    n_done: int = 0

    @classmethod
    def empty(cls, context: RunContext, n_explored: int, n_pool: int) -> BatchOutcome:
        kinds = kinds_of_trees(context.kinds)
        roles = context.shape.n_roles
        return cls(
            kinds=kinds,
            places=np.empty(n_explored, np.int64),
            by_kind={kind.name: np.empty((roles, n_explored), np.float32) for kind in kinds},
            splits=np.empty(n_explored, np.bool_),
            carried=np.zeros(n_pool),
            votes=np.zeros((len(context.held_out), context.target.n_classes)),
            trees=[],
        )

    def add(
        self,
        context: RunContext,
        places: np.ndarray,
        carried: np.ndarray,
        coins: np.ndarray,
        importances: Importances,
    ) -> None:
        """Sort the importances of one tree's columns to features and roles."""
        width = len(places)
        first = context.shape.n_roles * width
        here = slice(self.n_done, self.n_done + width)
        segment = np.arange(context.shape.n_roles)[:, None] ^ coins[None, :]
        columns = segment * width + np.arange(width)
        self.places[here] = places
        for kind in self.kinds:
            assert kind.of_trees is not None
            self.by_kind[kind.name][:, here] = kind.of_trees(importances)[columns]
        self.splits[here] = importances.n_splits[columns[0]] > 0
        self.carried[carried] += importances.used[first : first + len(carried)]
        self.n_done += width

    def evidence(self, n_features: int, n_trees: int, seconds: dict[str, float]) -> BatchEvidence:
        real: slice | np.ndarray = slice(None)
        if self.places.max() >= n_features:  # the rest is padding of the last tile
            real = self.places < n_features
        return BatchEvidence(
            places=self.places[real],
            by_kind={name: values[:, real] for name, values in self.by_kind.items()},
            splits=self.splits[real],
            carried=self.carried,
            wins=np.empty(0, np.bool_),
            n_trees=n_trees,
            votes=self.votes,
            seconds=seconds,
        )


def paper_evidence(
    places: np.ndarray,
    importances: Importances,
    votes: np.ndarray,
    seconds: dict[str, float],
) -> BatchEvidence:
    """What one tree of paper mode says: nothing but *used*. A column more than there are places is
    the probe, which a feature must beat; else it must beat 0."""
    used = importances.used[: len(places)]
    least = importances.used[-1] if len(importances.used) > len(places) else 0.0
    return BatchEvidence(
        places=places,
        by_kind={USED.name: used[None].astype(np.float32)},
        splits=importances.n_splits[: len(places)] > 0,
        carried=np.empty(0),
        wins=used > least,
        n_trees=1,
        votes=votes,
        seconds=seconds,
    )
