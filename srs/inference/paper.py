"""The rule of the paper (Algorithm 7.1): a feature must beat the probe in most of its draws."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import Evidence
from srs.inference.decide import Decision, Verdict


def decide_paper(evidence: Evidence, draws: int, share: float) -> Decision:
    """The paper's rule: drawn more than `draws` times, and better than the probe in `share`.

    The rule has no p-value; the share of draws in which the probe was not beaten stands for it.
    """
    n_drawn = np.maximum(evidence.n_drawn, 1)
    lost = 1.0 - evidence.n_wins / n_drawn
    lost[evidence.n_drawn == 0] = 1.0
    enough = evidence.n_drawn > draws
    verdict = np.full(len(lost), Verdict.UNDECIDED, np.uint8)
    verdict[enough] = Verdict.IRRELEVANT
    verdict[enough & (evidence.n_wins >= share * n_drawn)] = Verdict.RELEVANT
    return Decision(lost, lost, verdict)
