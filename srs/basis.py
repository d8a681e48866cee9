"""What verdicts rest on, for the result: the rule, the null of each kind, a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np

from srs.config import Settings
from srs.decision import Decision, Verdict, knockoff_plus
from srs.evidence import Evidence


def describe_basis(
    evidence: Evidence, decision: Decision, settings: Settings, strata: np.ndarray
) -> dict[str, Any]:
    """For the document of a result. Paper mode has no null, and so only names its rule.

    rule            "tail", "knockoff" or "paper"
    kinds           for each kind of evidence: its share of the error rate, how many strata its
                    null has, in how many of them p-values beyond the probes come from a fitted
                    tail (elsewhere the fit was refused, and they are ranks), and the heaviest
                    shape of these tails
    second_opinion  the other rule: how many it selects, and how many of these are in the list
    """
    if settings.mode == "paper":
        return {"rule": "paper", "kinds": [], "second_opinion": None}
    kinds = [
        {
            "kind": kind,
            "weight": round(decision.weights[kind], 6),
            "n_strata": len(tails),
            "n_fitted": sum(tail.fits for tail in tails),
            "heaviest_shape": round(max((t.shape for t in tails if t.fits), default=0.0), 6),
        }
        for kind, tails in decision.tails.items()
    ]
    listed = decision.verdict == Verdict.RELEVANT
    if settings.rule == "knockoff":
        other, chosen = "tail", decision.q_value <= settings.fdr
    else:
        other = "knockoff"
        chosen = knockoff_plus(evidence, settings.evidence, settings.fdr, strata)
    opinion = {
        "rule": other,
        "n_relevant": int(chosen.sum()),
        "n_agreed": int((chosen & listed).sum()),
        "n_needed": int(np.ceil(1 / settings.fdr)) if other == "knockoff" else 1,
    }
    return {"rule": settings.rule, "kinds": kinds, "second_opinion": opinion}
