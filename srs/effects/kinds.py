"""What an effect on a kind of target is: one descriptor, read by results, report and page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.separation import Interval
from srs.targets.target import Target


@dataclass(frozen=True)
class EffectKind:
    """How effects on targets of a kind are estimated and told.

    target_kind  which targets it is for
    measure      what an estimate is, e.g. "odds ratio"
    is_ratio     whether an estimate is a ratio, 1 without an effect; else a difference, 0 without
    meaning      what it says, in words; {group}, {target}, {step} are filled in
    outcome      what a profile shows, in words; {group}, {target} are filled in
    values       what estimates are made of: an array with one row per sample
    groups       classes that are told of, as numbers; (None,): the target as a whole
    estimate     of the samples of a design, their values, and a group
    summarise    what a profile tells of some samples: their values, and a group
    is_share     whether a profile shows shares, from 0 to 1
    group_of     bool by sample: whether it is in a group that can be told apart from the others
                 (differences of means, AUC); None: there are no such groups
    """

    target_kind: str
    measure: str
    is_ratio: bool
    meaning: str
    outcome: str
    values: Callable[[Target], np.ndarray]
    groups: Callable[[Target], Sequence[int | None]]
    estimate: Callable[[Design, np.ndarray, int | None], Estimate]
    summarise: Callable[[np.ndarray, int | None], Interval]
    is_share: bool = False
    group_of: Callable[[np.ndarray, int | None], np.ndarray] | None = None

    def scaled(self, beta: float) -> float:
        """An estimate on its own scale."""
        return float(np.exp(min(beta, 700.0))) if self.is_ratio else beta

    @property
    def linear_measure(self) -> str:
        """What an estimate is on the scale where effects add up."""
        return f"log {self.measure}" if self.is_ratio else self.measure
