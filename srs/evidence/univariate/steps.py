"""Univariate tests of all features of a store, some chunks at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from srs.evidence.kinds import Steps
from srs.evidence.told import DIRECTION
from srs.evidence.univariate.adjusted import AdjustedTest, ClassesTest
from srs.evidence.univariate.target import UnivariateTest

if TYPE_CHECKING:
    from srs.engine.context import RunContext

STEP_VALUES = 1 << 26  # codes of a step: a tenth of a second


@dataclass(frozen=True)
class UnivariateSpec:
    """Test the features of the chunks from `first` up to `stop`."""

    first: int
    stop: int

    def run(self, context: RunContext) -> tuple[int, np.ndarray, np.ndarray]:
        """The first place, and -log(p) and direction of the features from there on."""
        test = _test(context)
        shape, by_subset = context.shape, context.splits_by_subset
        start = self.first * shape.chunk_features
        n_places = min(self.stop * shape.chunk_features, shape.n_features) - start
        log_p, direction = np.empty(n_places, np.float32), np.empty(n_places, np.float32)
        for chunk in range(self.first, self.stop):
            tiles = context.read_chunks(chunk, chunk + 1)
            at = chunk * shape.chunk_features
            unordered = np.zeros(tiles.shape[0] * tiles.shape[2], np.bool_)
            if by_subset is not None:
                some = by_subset[at : at + len(unordered)]
                unordered[: len(some)] = some
            if isinstance(test, UnivariateTest):
                p_value, effect = test.run_tile(tiles, unordered)
            else:
                p_value, effect = test.run_tile(tiles, unordered, _dosages(context, at, unordered))
            here = slice(at - start, min(at - start + len(unordered), n_places))
            n_here = here.stop - here.start
            log_p[here] = -np.log(p_value[:n_here])
            direction[here] = effect[:n_here]
        return start, np.maximum(log_p, 0.0), direction


def make_steps(context: RunContext) -> Steps:
    """Steps of some chunks each."""
    shape = context.shape
    n_chunks = context.store.n_chunks
    size = max(1, STEP_VALUES // (shape.chunk_features * shape.n_samples))
    specs = [
        UnivariateSpec(first, min(first + size, n_chunks)) for first in range(0, n_chunks, size)
    ]
    found = {name: np.zeros(shape.n_features, np.float32) for name in ("log_p", DIRECTION)}
    return Steps(specs, found, _merge, _finish)


def _merge(found: dict[str, np.ndarray], outcome: tuple[int, np.ndarray, np.ndarray]) -> None:
    start, log_p, direction = outcome
    found["log_p"][start : start + len(log_p)] = log_p
    found[DIRECTION][start : start + len(log_p)] = direction


def _finish(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"values": found["log_p"][None], DIRECTION: found[DIRECTION]}


def _dosages(context: RunContext, start: int, columns: np.ndarray) -> np.ndarray:
    """Which dosages the codes of columns stand for, uint8 by column, see `FeatureStore.dosages`."""
    found = np.zeros(len(columns), np.uint8)
    by_id = context.store.dosages
    if by_id is not None:
        ids = context.store.feature_ids[start : start + len(columns)]
        found[: len(ids)] = by_id[ids]
    return found


def _test(context: RunContext) -> UnivariateTest | AdjustedTest | ClassesTest:
    samples, target = context.samples, context.target
    if samples.covariates is not None and samples.null is not None:
        if samples.null.residuals.ndim == 2:
            return ClassesTest.of_null(samples.null, samples.covariates.columns, samples.train)
        return AdjustedTest.of_null(samples.null, samples.train)
    if samples.null is not None:
        return UnivariateTest.of_numbers(
            target.values, samples.train, samples.strata, by_rank=False
        )
    if len(target.values):
        return UnivariateTest.of_numbers(target.values, samples.train, samples.strata)
    return UnivariateTest.of_classes(
        target.classes, target.n_classes, samples.train, samples.strata
    )
