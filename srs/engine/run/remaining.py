"""How long a run will still take: from its steps, its trees, and how fast they were so far."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from srs.engine.memory import RunShape
from srs.engine.state import Stage

A_TREE = 1e-3  # seconds, and of each sample and column these: a guess before the first tree
A_CELL = 3e-9
MOST_SLOW = 3.0  # wall over CPU time: more says that a run waits for its data, or for workers


class Remaining:
    """Times of a run so far.

    Steps and trees are timed apart: a tree says nothing of how long a step takes.
    """

    def __init__(
        self,
        shape: RunShape,
        n_parallel: int,
        seconds_after: Callable[[int], float] | None = None,
    ) -> None:
        self._seconds_after = seconds_after
        self._cpu = process_time()
        n_columns = shape.n_roles * shape.subspace_size + shape.max_carried
        self._guess = (A_TREE + A_CELL * shape.n_samples * n_columns) / n_parallel
        self._stage: Stage | None = None
        self._marks: list[float] = []  # seconds after each step of the present kind
        self._trees: tuple[int, float] | None = None  # trees and seconds when trees began

    def note_step(self, stage: Stage, elapsed: float) -> None:
        """A step of evidence has ended."""
        if self._stage is None or self._stage.kind != stage.kind:
            self._marks = []
        self._stage = stage
        self._marks.append(elapsed)

    def start_trees(self, n_trees: int, elapsed: float) -> None:
        """Trees are grown from now on; only the first call counts."""
        self._stage = None
        if self._trees is None:
            self._trees = (n_trees, elapsed)

    def estimate(self, n_left: float, n_trees: int, elapsed: float) -> float:
        """Seconds that are left with so many trees to come."""
        return self._steps(elapsed) + n_left * self._seconds_per_tree(n_trees, elapsed)

    def after(self, n_relevant: int, elapsed: float) -> float:
        """Seconds that follow the loop, on a machine as busy as this one is."""
        if self._seconds_after is None:
            return 0.0
        return self._slow(elapsed) * self._seconds_after(n_relevant)

    def _slow(self, elapsed: float) -> float:
        """Wall over CPU time so far: how busy the machine is with other work."""
        cpu = process_time() - self._cpu
        return min(max(1.0, elapsed / cpu), MOST_SLOW) if cpu > 0 else 1.0

    def _steps(self, elapsed: float) -> float:
        if self._stage is None:
            return 0.0
        marks, left = self._marks, self._stage.n_steps - self._stage.n_done
        if len(marks) < 2:
            return left * elapsed / self._stage.n_done
        first = len(marks) // 3  # the first steps prepare what others share
        return left * (marks[-1] - marks[first]) / (len(marks) - 1 - first)

    def _seconds_per_tree(self, n_trees: int, elapsed: float) -> float:
        if self._trees is None or n_trees <= self._trees[0]:
            return self._guess * self._slow(elapsed)
        n_first, started = self._trees
        return (elapsed - started) / (n_trees - n_first)
