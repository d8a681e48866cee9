"""How long a run will still take: from its steps, its trees, and how fast they were so far."""

from __future__ import annotations

from srs.engine.memory import RunShape
from srs.engine.state import Stage

A_TREE = 1e-3  # seconds, and of each sample and column these: a guess before the first tree
A_CELL = 3e-9


class Remaining:
    """Times of a run so far.

    Steps and trees are timed apart: a tree says nothing of how long a step takes. The first step
    of a kind is not counted: it prepares what the others share.
    """

    def __init__(self, shape: RunShape, n_parallel: int) -> None:
        n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
        self._guess = (A_TREE + A_CELL * shape.n_samples * n_columns) / n_parallel
        self._stage: Stage | None = None
        self._first: tuple[int, float] | None = None  # steps of the present kind, and seconds
        self._last: tuple[int, float] | None = None
        self._trees: tuple[int, float] | None = None  # trees and seconds when trees began

    def note_step(self, stage: Stage, elapsed: float) -> None:
        """A step of evidence has ended."""
        if self._stage is None or self._stage.kind != stage.kind:
            self._first = (stage.n_done, elapsed)
        self._stage, self._last = stage, (stage.n_done, elapsed)

    def start_trees(self, n_trees: int, elapsed: float) -> None:
        """Trees are grown from now on; only the first call counts."""
        self._stage = None
        if self._trees is None:
            self._trees = (n_trees, elapsed)

    def estimate(self, n_left: float, n_trees: int, elapsed: float) -> float:
        """Seconds that are left with so many trees to come."""
        return self._steps(elapsed) + n_left * self._seconds_per_tree(n_trees, elapsed)

    def _steps(self, elapsed: float) -> float:
        if self._stage is None or self._first is None or self._last is None:
            return 0.0
        left = self._stage.n_steps - self._stage.n_done
        (n_first, first), (n_last, last) = self._first, self._last
        a_step = (last - first) / (n_last - n_first) if n_last > n_first else elapsed / n_last
        return left * a_step

    def _seconds_per_tree(self, n_trees: int, elapsed: float) -> float:
        if self._trees is None or n_trees <= self._trees[0]:
            return self._guess
        n_first, started = self._trees
        return (elapsed - started) / (n_trees - n_first)
