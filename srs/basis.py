"""What verdicts rest on, for the result: the rule, the null of each kind, a second opinion."""

from __future__ import annotations

from typing import Any

import numpy as np

from srs.config import Settings
from srs.null import MIN_NULL, Tail


def null_notices(settings: Settings, n_features: int, n_probes: int) -> list[str]:
    """What is to be said of a null that is too small for any feature to be found.

    >>> null_notices(Settings(), 5, 7)[0][:61]
    '5 features with 7 probes each are too few: no p-value can get'
    """
    if settings.mode == "paper" or n_features * n_probes >= MIN_NULL:
        return []
    return [
        f"{n_features} features with {n_probes} probes each are too few: no p-value can get small "
        f"enough for a feature to be relevant; select from {-(-MIN_NULL // n_probes)} or more."
    ]


def describe_basis(
    settings: Settings,
    tails: dict[str, list[Tail]],
    weights: dict[str, float],
    listed: np.ndarray,
    other: np.ndarray,
) -> dict[str, Any]:
    """For the document of a result (paper mode has no null, and only names its rule).

    listed  bool by place: what the rule of the run selects; other: what the other rule selects

    rule            "tail" or "knockoff"
    kinds           for each kind of evidence: its share of the error rate, how many strata its
                    null has, in how many of them p-values beyond the probes come from a fitted
                    tail (elsewhere the fit was refused, and they are ranks), and the heaviest
                    shape of these tails
    second_opinion  the other rule: how many it selects, and how many of these are in the list
    """
    kinds = [
        {
            "kind": kind,
            "weight": round(weights[kind], 6),
            "n_strata": len(found),
            "n_fitted": sum(tail.fits for tail in found),
            "heaviest_shape": round(max((t.shape for t in found if t.fits), default=0.0), 6),
        }
        for kind, found in tails.items()
    ]
    rule = "tail" if settings.rule == "knockoff" else "knockoff"
    opinion = {
        "rule": rule,
        "n_relevant": int(np.count_nonzero(other)),
        "n_agreed": int(np.count_nonzero(other & listed)),
        "n_needed": int(np.ceil(1 / settings.fdr)) if rule == "knockoff" else 1,
    }
    return {"rule": settings.rule, "kinds": kinds, "second_opinion": opinion}
