"""The rules of the paper: which features Algorithm 7.1 adds to its set, and the probe of 7.C.1."""

from __future__ import annotations

import numpy as np

from srs.evidence.arrays import Evidence
from srs.inference.decide import Decision, Verdict
from srs.settings import Settings


def decide_paper(evidence: Evidence, settings: Settings) -> Decision:
    """By the probe: drawn more than L times, and better than it in more than beta of the draws.
    By importance (step 2(c)): above 0 in one draw.

    The rules have no p-value; the share of draws that were not won stands for it.
    """
    n_drawn = np.maximum(evidence.n_drawn, 1)
    lost = 1.0 - evidence.n_wins / n_drawn
    lost[evidence.n_drawn == 0] = 1.0
    verdict = np.full(len(lost), Verdict.UNDECIDED, np.uint8)
    if settings.paper_rule == "importance":
        verdict[evidence.n_drawn > 0] = Verdict.IRRELEVANT
        verdict[evidence.n_wins > 0] = Verdict.RELEVANT
        return Decision(lost, lost, verdict)
    enough = evidence.n_drawn > settings.probe_draws
    verdict[enough] = Verdict.IRRELEVANT
    # 0.9 x 10 wins of 10 draws is 9, whatever a float makes of it: 9 wins are not above.
    above = evidence.n_wins - settings.probe_share * n_drawn > 1e-9 * n_drawn
    verdict[enough & above] = Verdict.RELEVANT
    return Decision(lost, lost, verdict)
