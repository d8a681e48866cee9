"""The tree kernel against scikit-learn's extra-tree with all features at a node, one thread."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.tree import ExtraTreeClassifier

from benchmarks.measure import Line, best_seconds
from srs.trees import TreeTarget, grow

N_SAMPLES = 1000


def run() -> Iterator[Line]:
    for n_columns, bar in ((250, 20), (2_500, 40)):
        rng = np.random.default_rng(0)
        block = rng.integers(0, 255, (N_SAMPLES, n_columns), dtype=np.uint8)
        y = rng.integers(0, 2, N_SAMPLES)
        X = block.astype(np.float32)
        target = TreeTarget.of_classes(y, 2)
        ours = best_seconds(lambda b=block, t=target: [grow(b, t, k) for k in range(5)]) / 5
        theirs = best_seconds(
            lambda X=X, y=y: ExtraTreeClassifier(max_features=None, random_state=0).fit(X, y), 3
        )
        yield Line(
            f"one tree, N = {N_SAMPLES}, {n_columns} columns",
            f"{ours * 1e3:.2f} ms against {theirs * 1e3:.1f} ms: {theirs / ours:.0f} x",
            f"at least {bar} x ExtraTreeClassifier",
            theirs / ours >= bar,
        )
