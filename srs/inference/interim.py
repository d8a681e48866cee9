"""The interim decision within the loop: which features are relevant so far, and nothing else.

The same rule as `srs.inference.decide`, whose verdicts on all features come at the end
(`srs.inference.final`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs.evidence.arrays import Evidence
from srs.evidence.registry import with_probes
from srs.inference.combine import combine_kinds
from srs.inference.decide import find_drawn, smallest
from srs.inference.fdr import q_values
from srs.inference.knockoff import knockoff_plus
from srs.settings import Settings


@dataclass(frozen=True)
class Rule:
    """How a run decides; see `srs.inference.decide.decide`.

    kinds            kinds of evidence that count
    fdr              false discovery rate
    feature_classes  by place; None: all are alike
    excluded         places that get no verdict of their own
    name             "tail" or "knockoff"
    confident        whether the rate must hold for a list
    n_features       how many features are selected; None: as many as the rate allows
    """

    kinds: tuple[str, ...]
    fdr: float
    feature_classes: np.ndarray | None = None
    excluded: np.ndarray | None = None
    name: str = "tail"
    confident: bool = False
    n_features: int | None = None

    @classmethod
    def of(
        cls,
        settings: Settings,
        kinds: tuple[str, ...],
        feature_classes: np.ndarray,
        excluded: np.ndarray,
    ) -> Rule:
        """The rule of a run in default mode."""
        return cls(
            kinds,
            settings.fdr,
            feature_classes,
            excluded,
            name=settings.rule,
            confident=settings.guarantee == "confident",
            n_features=settings.n_features,
        )


@dataclass(frozen=True)
class Interim:
    """What is known within the loop.

    relevant  places of the relevant features, ascending
    p_value   by place
    cut       the largest p-value of a relevant feature; if there is none, what it would have to be
    """

    relevant: np.ndarray
    p_value: np.ndarray
    cut: float


def find_relevant(evidence: Evidence, rule: Rule) -> np.ndarray:
    """Places of the features that `decide` calls relevant, with less time and memory."""
    drawn = find_drawn(evidence, rule.excluded)
    if rule.name == "knockoff":
        return _by_knockoffs(evidence, rule, drawn)
    p_value = _p_values(evidence, rule, drawn)
    return _by_p_values(p_value, rule, drawn)


def decide_interim(evidence: Evidence, rule: Rule) -> Interim:
    """The relevant features, p-values of all, and where the cut between them is."""
    drawn = find_drawn(evidence, rule.excluded)
    p_value = _p_values(evidence, rule, drawn)
    if rule.name == "knockoff":
        relevant = _by_knockoffs(evidence, rule, drawn)
    else:
        relevant = _by_p_values(p_value, rule, drawn)
    first = rule.fdr / max(1, int(np.count_nonzero(drawn)))
    return Interim(relevant, p_value, max(first, float(p_value[relevant].max(initial=0.0))))


def _p_values(evidence: Evidence, rule: Rule, drawn: np.ndarray) -> np.ndarray:
    classes = rule.feature_classes
    return combine_kinds(evidence, rule.kinds, classes, drawn, rule.fdr, found_by=False).p_value


def _by_knockoffs(evidence: Evidence, rule: Rule, drawn: np.ndarray) -> np.ndarray:
    kinds = with_probes(rule.kinds)
    return np.flatnonzero(drawn & knockoff_plus(evidence, kinds, rule.fdr, rule.feature_classes))


def _by_p_values(p_value: np.ndarray, rule: Rule, drawn: np.ndarray) -> np.ndarray:
    if rule.n_features is not None:
        return np.flatnonzero(smallest(p_value, drawn, rule.n_features))
    n_drawn = int(np.count_nonzero(drawn))
    places = np.flatnonzero(p_value <= rule.fdr)
    some = places[_may_be_relevant(p_value[places], n_drawn, rule.fdr)]
    rates = q_values(p_value[some], n_drawn, confident=rule.confident)
    relevant: np.ndarray = some[rates <= rule.fdr].astype(np.int64)
    return relevant


def _may_be_relevant(p_value: np.ndarray, n_drawn: int, fdr: float) -> np.ndarray:
    """Which of these, the p-values up to `fdr` of n_drawn features, could have such a rate.

    With m features of p-values up to a cut, no p-value above fdr x m / n_drawn has.
    """
    cut = fdr
    while True:
        some: np.ndarray = p_value <= cut
        lower = fdr * np.count_nonzero(some) / max(1, n_drawn)
        if lower >= cut:
            return some
        cut = lower
