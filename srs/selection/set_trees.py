"""Trees on whole feature sets: all members of a set are in one tree, each with its probes.

A set is what the user says belongs together (the genes of a pathway, the variants of a gene). The
loop draws features at random, so that the members of a set seldom meet; here they always do. What
the trees say of sets is put together in `srs.selection.feature_sets`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs import seeds
from srs.engine.batch import draw_coins, grow_block
from srs.engine.context import RunContext
from srs.engine.samples import Samples, plan_samples
from srs.engine.state import Clock
from srs.evidence.arrays import BatchEvidence
from srs.evidence.kinds import EvidenceKind
from srs.evidence.registry import kinds_of_trees
from srs.trees import Importances, Tree

SET_ROLES = 8  # a feature and seven probes, however many the loop has: sets are few
SET_TREES = 40  # trees of a set


@dataclass(frozen=True)
class SetSpec:
    """Sets to grow trees on, one after the other.

    number   which spec it is; with the seed it gives its random state
    sets     int64 each: places of the members of each set
    carried  int64: places of relevant features, that trees on sets without them may carry
    """

    number: int
    sets: tuple[np.ndarray, ...]
    carried: np.ndarray

    def run(self, context: RunContext) -> tuple[BatchEvidence, list[Tree]]:
        """Evidence of all members in the order of the sets, a member of two sets twice."""
        clock = Clock()
        samples = plan_samples(context.store, context.settings, SET_ROLES)
        rng = seeds.make_rng(context.settings.seed, seeds.SETS, self.number)
        carried = context.read_places(self.carried)
        clock.lap("read")
        kinds = kinds_of_trees(context.settings.evidence)
        parts, n_trees = [], 0
        for places in self.sets:
            free = np.flatnonzero(~np.isin(self.carried, places))
            # A set that is larger than a subspace is drawn in parts.
            n_parts = -(-len(places) // context.shape.subspace_size)
            found = np.empty((len(kinds), SET_ROLES, len(places)), np.float32)
            for some in np.array_split(rng.permutation(len(places)), n_parts):
                importances, at = _grow_set(
                    context,
                    samples,
                    places=places[some],
                    carried=self.carried[free],
                    carried_codes=carried[:, free],
                    rng=rng,
                )
                found[:, :, some] = [_mean_of(kind, importances)[at] for kind in kinds]
                n_trees += SET_TREES
            parts.append(found)
        clock.lap("grow")
        by_kind = zip((kind.name for kind in kinds), np.concatenate(parts, axis=2), strict=True)
        places = np.concatenate(self.sets)
        none = np.empty(0, np.bool_)
        return BatchEvidence(
            places=places,
            by_kind=dict(by_kind),
            splits=none,
            carried=np.empty(0),
            wins=none,
            n_trees=n_trees,
            votes=np.empty((0, 0)),
            seconds=clock.seconds,
        ), []


def _mean_of(kind: EvidenceKind, importances: Importances) -> np.ndarray:
    """One kind of evidence by column: of what is summed over the trees of a set, the mean."""
    assert kind.of_trees is not None
    values = kind.of_trees(importances)
    return values / SET_TREES if kind.merge == "sum" else values


def _grow_set(
    context: RunContext,
    samples: Samples,
    *,
    places: np.ndarray,
    carried: np.ndarray,
    carried_codes: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Importances, np.ndarray]:
    """What the trees of a set say of their columns, and which column is which role of a member,
    (SET_ROLES, n)."""
    width = len(places)
    codes = context.read_places(places)
    coins = draw_coins(rng, width, SET_ROLES)
    block = np.zeros((len(codes), SET_ROLES * width + len(carried)), np.uint8)
    for segment in range(SET_ROLES):
        rows = samples.permutations[segment ^ coins].T
        block[:, segment * width : (segment + 1) * width] = np.take_along_axis(codes, rows, axis=0)
    columns = np.concatenate([np.tile(places, SET_ROLES), carried])
    importances = Importances.empty(block.shape[1])
    for _ in range(SET_TREES):
        # Random recall, as in the loop: with all carried ones in every tree, members that are
        # redundant with them would be masked; with none, those that matter given them.
        recalled = rng.random(len(carried)) < rng.random()
        block[:, SET_ROLES * width :] = np.where(recalled, carried_codes, 0)
        key = seeds.draw_tree_key(rng)
        grow_block(context, block, key, columns, samples=samples, into=importances)
    at = (np.arange(SET_ROLES)[:, None] ^ coins) * width + np.arange(width)
    return importances, at
