"""Evidence to p-values, q-values and verdicts.

The null is what the probes of like features show (`srs.inference.feature_classes`), for each kind
of evidence by itself; how a p-value comes from it is in `srs.inference.null`. The kinds are
combined by weighted Bonferroni (`kind_weights`). The relevant set is the largest one that keeps two
promises: the expected share of false features is at most the false discovery rate
(Benjamini-Hochberg), and either at most three quarters of a false feature are expected in all, or
the share itself is kept with 95 % confidence. Lists of hundreds are bound by the first, lists of
ten or twenty by the second: an expected share of 10 % would be two false features among twenty. The
knockoff+ filter is a second opinion, or the rule on wish.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from srs.evidence.arrays import Evidence
from srs.inference.combine import combined_p_values
from srs.inference.fdr import q_values
from srs.inference.knockoff import knockoff_plus
from srs.inference.null import Tail

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
    tails    for each kind of evidence, the tail of the null of each feature class
    weights  for each kind of evidence, its share of the error rate
    """

    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray
    tails: dict[str, list[Tail]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

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
) -> Decision:
    """Verdicts from paired probes (role 0 is the feature, the others are its probes).

    feature_classes  by place: a feature is compared with the probes of its class; None: with all
    excluded         places that get no verdict of their own (pinned features)
    rule             "tail": by q-values; "knockoff": by the knockoff+ filter
    """
    drawn = find_drawn(evidence, excluded)
    selected = knockoff_plus(evidence, kinds, fdr, feature_classes) if rule == "knockoff" else None
    p_value, tails, weights = combined_p_values(evidence, kinds, feature_classes, drawn, fdr)
    q_value, verdict = judge(p_value, drawn, fdr, selected)
    return Decision(p_value, q_value, verdict, tails, weights)


def find_drawn(evidence: Evidence, excluded: np.ndarray | None) -> np.ndarray:
    """Which features get a verdict of their own: bool by place."""
    drawn: np.ndarray = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    return drawn


def judge(
    p_value: np.ndarray, drawn: np.ndarray, fdr: float, selected: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """q-values and verdicts by place, from p-values.

    drawn     bool by place: see `find_drawn`
    selected  bool by place: what is relevant by another rule; None: by q-values
    """
    q_value = q_values(p_value, int(np.count_nonzero(drawn)))
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    verdict[drawn & (q_value <= fdr if selected is None else selected)] = Verdict.RELEVANT
    return q_value, verdict
