"""What a run knows between two batches, its form in a checkpoint, how far it is, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from srs.engine.subspace import Pool
from srs.evidence.arrays import Evidence
from srs.evidence.halves import Halves

_COUNTS = (
    "n_rounds",
    "n_batches",
    "n_trees",
    "unchanged",
    "history",
    "n_steps",
    "noises",
    "enough_trees",
)
_EVIDENCE, _HALVES, _POOL, _STEPS = "evidence_", "halves_", "pool_", "steps_"
ENDED = -1  # number of steps of a kind of evidence whose steps are over


@dataclass
class State:
    """What a run knows; everything that a checkpoint keeps.

    evidence      sums of all features
    pool          what trees of the present round may carry (default mode)
    relevant      places of the relevant set (F of the paper), ascending
    n_rounds      rounds finished
    n_batches     batches finished within the present round
    n_trees       trees grown
    unchanged     rounds since the relevant set changed last
    history       (n_trees, n_relevant) after each round in which something was looked at
    votes         summed predictions of held-out samples
    halves        sums of the halves of the trees; None in paper mode
    noises        what more trees could change, as of the looks so far (`srs.engine.run.settling`)
    enough_trees  trees after which the run ends because its list is stable; None: not yet known
    n_steps       by kind of evidence: steps that are merged, or ENDED
    steps         what the steps of the present kind have found, by name
    changing      while it is between two states that can be continued; no checkpoint has it
    """

    evidence: Evidence
    pool: Pool
    relevant: np.ndarray
    votes: np.ndarray
    halves: Halves | None = None
    n_rounds: int = 0
    n_batches: int = 0
    n_trees: int = 0
    unchanged: int = 0
    history: list[tuple[int, int]] = field(default_factory=list)
    noises: list[tuple[int, float]] = field(default_factory=list)
    enough_trees: int | None = None
    n_steps: dict[str, int] = field(default_factory=dict)
    steps: dict[str, np.ndarray] = field(default_factory=dict)
    changing: bool = False

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Counts and arrays by name, for a checkpoint."""
        arrays = {_EVIDENCE + name: array for name, array in self.evidence.arrays().items()}
        if self.halves is not None:
            arrays |= {_HALVES + name: array for name, array in self.halves.arrays().items()}
        arrays |= {_POOL + name: getattr(self.pool, name) for name in Pool.__dataclass_fields__}
        arrays |= {_STEPS + name: array for name, array in self.steps.items()}
        arrays |= {"relevant": self.relevant, "votes": self.votes}
        return {name: getattr(self, name) for name in _COUNTS}, arrays

    @classmethod
    def unpack(cls, counts: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> State:
        """The inverse of `pack`."""

        def those(prefix: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        pairs: dict[str, Any] = {
            name: [(int(trees), value) for trees, value in counts[name]]
            for name in ("history", "noises")
        }
        halves = those(_HALVES)
        return cls(
            Evidence.of_arrays(those(_EVIDENCE)),
            Pool(**those(_POOL)),
            arrays["relevant"],
            arrays["votes"],
            halves=Halves.of_arrays(halves) if halves else None,
            **{n: counts[n] for n in _COUNTS if n not in pairs},
            **pairs,
            steps=those(_STEPS),
        )


@dataclass(frozen=True)
class Stage:
    """What a run does before its first tree: the steps of one kind of evidence.

    kind     name of the kind of evidence
    n_done   steps that are done
    n_steps  steps in all
    """

    kind: str
    n_done: int
    n_steps: int


@dataclass(frozen=True)
class Progress:
    """How far a run is; what `on_progress` gets.

    n_trees            trees grown so far
    n_passes           passes over all features so far (a fraction within a pass)
    n_relevant         features found relevant by the last interim decision
    n_rounds           rounds finished
    round_ended        whether the last of them has just ended
    seconds            wall time so far
    remaining_seconds  estimate of what is left; None while it is unknown
    figures            what is known of the workers; empty for threads of this process
    stage              what is done before the first tree; None: trees are grown
    histograms         gives, for each kind of evidence, how many features and probes have how much
                       of it now; seconds for millions of features, so ask now and then
    """

    n_trees: int
    n_passes: float
    n_relevant: int
    n_rounds: int
    round_ended: bool
    seconds: float
    remaining_seconds: float | None
    figures: dict[str, int] = field(default_factory=dict)
    histograms: Callable[[], dict[str, Any]] = dict
    stage: Stage | None = None


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    state        its last state
    stop_reason  one sentence
    n_passes     passes over all features
    seconds      wall time of parts: read, fill, grow (summed over threads), and total
    """

    state: State
    stop_reason: str
    n_passes: float
    seconds: dict[str, float]


class Clock:
    """Seconds by part of a batch."""

    def __init__(self) -> None:
        self.seconds = {"read": 0.0, "fill": 0.0, "grow": 0.0}
        self._last = perf_counter()

    def lap(self, part: str) -> None:
        now = perf_counter()
        self.seconds[part] += now - self._last
        self._last = now
