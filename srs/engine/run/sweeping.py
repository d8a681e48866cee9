"""One pass over the store for the effects of all features, some chunks at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srs.effects.classes import told_class
from srs.effects.sweep import Sweep
from srs.engine.context import RunContext
from srs.engine.run.adjusting import adjustment_of
from srs.engine.worker import make_task
from srs.executors import Executor
from srs.targets.registry import target_kind

STEP_VALUES = 1 << 23  # codes of a step: some hundredths of a second, for all threads to share
COLUMNS = ("beta", "standard_error", "score_z", "frequency", "n_known")


@dataclass(frozen=True)
class SweepSpec:
    """Look at the features of the chunks from `first` up to `stop`."""

    first: int
    stop: int

    def run(self, context: RunContext) -> tuple[int, np.ndarray]:
        """The first place, and float32 (5, n) of the features from there on."""
        sweep = sweep_of(context)
        assert sweep is not None
        shape, store = context.shape, context.store
        start = self.first * shape.chunk_features
        stop = min(self.stop * shape.chunk_features, shape.n_features)
        by_id, by_subset = store.dosages, context.splits_by_subset
        parts = []
        for chunk in range(self.first, self.stop):
            tiles = context.read_chunks(chunk, chunk + 1)
            width = tiles.shape[0] * tiles.shape[2]
            here = slice(chunk * shape.chunk_features, min(width * (chunk + 1), shape.n_features))
            dosages, skipped = np.zeros(width, np.uint8), np.zeros(width, bool)
            n_here = here.stop - here.start
            if by_id is not None:
                dosages[:n_here] = by_id[store.feature_ids[here]]
            if by_subset is not None:
                skipped[:n_here] = by_subset[here]
            parts.append(sweep.run(tiles, dosages, skipped)[:, :n_here])
        found = np.concatenate(parts, axis=1)
        assert found.shape[1] == stop - start
        return start, found


def sweep_of(context: RunContext) -> Sweep | None:
    """The target of a run for the pass; None if it has more than two classes."""
    stored = context.store.target(context.settings.target)
    if stored.n_classes > 2:
        return None
    adjusted = adjustment_of(context)
    classes, values = np.empty(0, np.int64), np.empty(0)
    null = None
    if target_kind(stored.kind).by_model:
        null = context.samples.null
    elif not stored.has_classes:
        values = np.asarray(stored.values, np.float64)[adjusted.train]
    else:
        told = told_class(stored.labels)
        classes = (stored.values[adjusted.train] == told).astype(np.int64)
    return Sweep(
        order=adjusted.train,
        classes=classes,
        values=values,
        others=None if adjusted.others.shape[1] == 1 else adjusted.others,
        weights=adjusted.weights,
        clusters=adjusted.clusters,
        null=null,
    )


def sweep_features(context: RunContext, executor: Executor) -> dict[str, np.ndarray]:
    """COLUMNS by place, float32; empty if the target has no single direction."""
    if sweep_of(context) is None:
        return {}
    shape, n_chunks = context.shape, context.store.n_chunks
    size = max(1, STEP_VALUES // (shape.chunk_features * shape.n_samples))
    specs = (SweepSpec(first, min(first + size, n_chunks)) for first in range(0, n_chunks, size))
    found = {name: np.empty(shape.n_features, np.float32) for name in COLUMNS}
    for start, part in _run(context, executor, specs):
        for name, values in zip(COLUMNS, part, strict=True):
            found[name][start : start + len(values)] = values
    if np.isnan(found["frequency"]).all():
        del found["frequency"]
    return found


def _run(
    context: RunContext, executor: Executor, specs: Iterator[SweepSpec]
) -> Iterator[tuple[int, np.ndarray]]:
    if executor.remote:
        task: Any = make_task(context, executor.n_parallel)
        yield from executor.map(task, specs)
    else:
        yield from executor.map(lambda spec: spec.run(context), specs)
