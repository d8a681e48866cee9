"""Call every kernel of a run with the types that runs use: `python -m srs.engine.exercise`.

Nothing imports it: it is the program of the process that compiles (`srs.trees.compiling`).
"""

from __future__ import annotations

import tempfile

import numpy as np

from srs.effects.sweep import Sweep
from srs.engine.context import make_context
from srs.engine.loop import Run
from srs.executors import LocalExecutor
from srs.ingest import ingest
from srs.settings import Settings
from srs.store import FeatureStore


def _run(store: FeatureStore, **settings: object) -> None:
    Run(make_context(store, Settings(**settings)), LocalExecutor(1)).run()  # type: ignore[arg-type]


def _sweep() -> None:
    """The pass over all features, of classes, of numbers, and with a covariate."""
    order, none = np.arange(8), np.empty(0, np.int64)
    classes, values = order % 2, np.sqrt(order)
    tiles = np.stack([order[:, None] % np.arange(2, 4)] * 2).astype(np.uint8)
    dosages, skipped = np.zeros(4, np.uint8), np.zeros(4, bool)
    others = np.column_stack([np.ones(8), order > 3]).astype(np.float64)
    for sweep in (
        Sweep(order=order, classes=classes, values=np.empty(0)),
        Sweep(order=order, classes=none, values=values),
        Sweep(order=order, classes=none, values=values, others=others),
    ):
        sweep.run(tiles, dosages, skipped)
        sweep.run(tiles[:1], dosages[:2], skipped[:2])  # whose results lie side by side


def call_all() -> None:
    """Call every kernel once: effects, classes and numbers, covariates, missing values and
    categories, held-out samples, both modes, bytes and two bits; two classes and more, last."""
    _sweep()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    X[3, 2] = np.nan
    X[:, 0] = np.arange(40) % 5
    y = (X[:, 1] > 0).astype(int)
    targets = {"c": y, "n": X[:, 1], "m": np.arange(40) % 3, "z": np.sqrt(np.arange(40))}
    with tempfile.TemporaryDirectory() as folder:
        store = ingest(X, folder + "/s.zarr", target=targets, categorical=[0])
        _run(store, max_trees=4, holdout=0.2)
        _run(store, max_trees=4, mode="paper", target="n")
        _run(store, max_trees=4, target="n")
        _run(store, max_trees=4, target="c", covariates=("z",))
        _run(store, max_trees=4, target="m", covariates=("z",))
    _run(ingest((X > 0.5) * 1.0, target=np.arange(40) % 3), max_trees=4)


if __name__ == "__main__":
    call_all()
