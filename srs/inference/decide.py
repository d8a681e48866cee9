"""Evidence to p-values, q-values and verdicts.

The null is what the probes of like features show (`srs.inference.feature_classes`), for each kind
of evidence by itself; how a p-value comes from it is in `srs.inference.null`. The kinds are
combined by the Cauchy rule (`srs.inference.combine`). The relevant set is the largest one whose
expected share of false features is at most the false discovery rate (Benjamini-Hochberg). With
`guarantee="confident"` it is smaller: either at most three quarters of a false feature are expected
in all, or the share itself is kept with 95 % confidence, if features are not strongly dependent.
The knockoff+ filter is a second opinion, or the rule on wish.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from srs.evidence.arrays import Evidence
from srs.evidence.registry import with_probes
from srs.inference.combine import Combined, combine_kinds
from srs.inference.fdr import q_values
from srs.inference.knockoff import knockoff_plus

CLEARLY_NULL = 0.05  # a feature with a larger p-value is called irrelevant


class Verdict(IntEnum):
    """What is said of a feature."""

    IRRELEVANT = 0
    UNDECIDED = 1
    RELEVANT = 2


@dataclass(frozen=True)
class Decision:
    """Verdicts of all features, by place.

    p_value  float64: combined over the kinds of evidence; 1 where never drawn
    q_value  float64: false discovery rate at which the feature would just be relevant
    verdict  uint8: values of Verdict
    combined what the kinds of evidence say; None in paper mode
    """

    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray
    combined: Combined | None = None

    @property
    def relevant(self) -> np.ndarray:
        """Places of the relevant features, ascending."""
        return np.flatnonzero(self.verdict == Verdict.RELEVANT)


def decide(
    evidence: Evidence,
    kinds: tuple[str, ...],
    fdr: float,
    *,
    feature_classes: np.ndarray | None = None,
    excluded: np.ndarray | None = None,
    rule: str = "tail",
    confident: bool = False,
) -> Decision:
    """Verdicts from paired probes (role 0 is the feature, the others are its probes).

    feature_classes  by place: a feature is compared with the probes of its class; None: with all
    excluded         places that get no verdict of their own (pinned features)
    rule             "tail": by q-values; "knockoff": by the knockoff+ filter
    confident        see `srs.inference.fdr.q_values`
    """
    drawn = find_drawn(evidence, excluded)
    selected = (
        knockoff_plus(evidence, with_probes(kinds), fdr, feature_classes)
        if rule == "knockoff"
        else None
    )
    combined = combine_kinds(evidence, kinds, feature_classes, drawn, fdr)
    q_value = q_values(combined.p_value, int(np.count_nonzero(drawn)), confident=confident)
    verdict = judge(combined.p_value, drawn, q_value <= fdr if selected is None else selected)
    return Decision(combined.p_value, q_value, verdict, combined)


def find_drawn(evidence: Evidence, excluded: np.ndarray | None) -> np.ndarray:
    """Which features get a verdict of their own: bool by place."""
    drawn: np.ndarray = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    return drawn


def smallest(p_value: np.ndarray, drawn: np.ndarray, n_features: int) -> np.ndarray:
    """Which features have the smallest p-values: bool by place, of so many, or all drawn ones."""
    places = np.flatnonzero(drawn)
    if len(places) > n_features:  # of equal ones the first places, which are random
        places = places[np.argsort(p_value[places], kind="stable")[:n_features]]
    chosen = np.zeros(len(p_value), np.bool_)
    chosen[places] = True
    return chosen


def judge(p_value: np.ndarray, drawn: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """Verdicts by place.

    drawn     bool by place: see `find_drawn`
    selected  bool by place: what is relevant by the rule of the run
    """
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    verdict[drawn & selected] = Verdict.RELEVANT
    return verdict
