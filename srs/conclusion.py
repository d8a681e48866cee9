"""The last look at the evidence of a run: a verdict on every feature, and what it rests on.

It stays within the memory of the loop (`srs.memory.coordinator_mem`): what has been looked at is
given up before the next is made. So the evidence is used up by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from srs import decision
from srs.basis import describe_basis
from srs.context import Context
from srs.decision import Verdict
from srs.evidence import Evidence


@dataclass(frozen=True)
class Conclusion:
    """What was found.

    numbers     by place: p_value, q_value, verdict, importance, effect, n_drawn, n_used
    basis       what verdicts rest on, see `srs.basis`
    histograms  for each kind of evidence, how many features and probes have how much of it
    """

    numbers: dict[str, np.ndarray]
    basis: dict[str, Any]
    histograms: dict[str, Any]

    @property
    def relevant(self) -> np.ndarray:
        """Places of the relevant features, ascending."""
        return np.flatnonzero(self.numbers["verdict"] == Verdict.RELEVANT)


def conclude(
    context: Context, evidence: Evidence, relevant: np.ndarray, n_trees: int
) -> Conclusion:
    """Decide on all features; the arrays of `evidence` are used up.

    relevant  places of the relevant set, which in paper mode never shrinks
    """
    histograms = evidence.histograms(context.settings.evidence)
    if context.settings.mode == "paper":
        numbers, basis = _conclude_paper(context, evidence, relevant)
    else:
        numbers, basis = _conclude(context, evidence)
    numbers["effect"] = _effect(evidence)
    evidence.release("used")
    numbers["importance"] = evidence.release("importance") / np.float32(max(n_trees, 1))
    numbers["n_drawn"], numbers["n_used"] = evidence.release("n_drawn"), evidence.release("n_used")
    return Conclusion(numbers, basis, histograms)


def _conclude(context: Context, evidence: Evidence) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    settings, strata = context.settings, context.strata
    # First, while there is room: it is the other rule's opinion, or what is decided by.
    knockoffs = decision.knockoff_plus(evidence, settings.evidence, settings.fdr, strata)
    drawn = decision.find_drawn(evidence, context.pinned)
    p_value, tails, weights = decision.combined_p_values(
        evidence, settings.evidence, strata, drawn, settings.fdr
    )
    evidence.release("screened")
    evidence.release("peak")
    by_knockoffs = settings.rule == "knockoff"
    q_value, verdict = decision.judge(
        p_value, drawn, settings.fdr, knockoffs if by_knockoffs else None
    )
    listed = verdict == Verdict.RELEVANT
    other = q_value <= settings.fdr if by_knockoffs else knockoffs
    numbers = {"p_value": p_value, "q_value": q_value, "verdict": verdict}
    return numbers, describe_basis(settings, tails, weights, listed, other)


def _conclude_paper(
    context: Context, evidence: Evidence, relevant: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    settings = context.settings
    decided = decision.decide_paper(evidence, settings.probe_draws, settings.probe_share)
    decided.verdict[relevant] = Verdict.RELEVANT
    numbers = {
        "p_value": decided.p_value, "q_value": decided.q_value, "verdict": decided.verdict,
    }  # fmt: skip
    return numbers, {"rule": "paper", "kinds": [], "second_opinion": None}


def _effect(evidence: Evidence) -> np.ndarray:
    """float32 by place: decrease a draw, less what probes get on average."""
    probes = evidence.statistic("used", slice(1, None))
    mean = probes.mean() if len(probes) else np.float32(0.0)
    del probes
    effect: np.ndarray = evidence.statistic("used", slice(0, 1))[0]
    effect -= mean
    return effect
