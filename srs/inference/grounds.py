"""What verdicts rest on, for the result: the rule, the null of each kind, a second opinion."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import numpy as np

from srs.evidence.registry import with_probes
from srs.inference.combine import Combined
from srs.inference.null import MIN_NULL
from srs.settings import Settings


class KindGrounds(TypedDict):
    """What the null of one kind of evidence was.

    kind               name of the kind of evidence
    weight             its weight among the kinds
    n_feature_classes  feature classes that its null has; 0: it tests without probes
    n_fitted           classes in which p-values beyond the probes come from a fitted tail;
                       elsewhere the fit was refused, and they are ranks
    heaviest_shape     heaviest shape of these tails
    """

    kind: str
    weight: float
    n_feature_classes: int
    n_fitted: int
    heaviest_shape: float


class SecondOpinion(TypedDict):
    """What the rule selects that was not used.

    rule        name of the rule
    n_relevant  features that it selects
    n_agreed    of these, features that are in the list
    n_needed    fewest features that it can select
    """

    rule: str
    n_relevant: int
    n_agreed: int
    n_needed: int


class LeftOut(TypedDict):
    """A kind of evidence that took no part.

    kind    name of the kind of evidence
    reason  why, as a sentence
    """

    kind: str
    reason: str


class Grounds(TypedDict):
    """What verdicts rest on. Paper mode has no null, and only names its rule.

    rule            "tail", "knockoff" or "paper"
    kinds           the null of each kind of evidence
    second_opinion  the other rule; null in paper mode
    left_out        kinds of evidence that took no part; absent if all did
    """

    rule: str
    kinds: list[KindGrounds]
    second_opinion: SecondOpinion | None
    left_out: NotRequired[list[LeftOut]]


def null_notices(kinds: tuple[str, ...], n_features: int, n_probes: int) -> list[str]:
    """What is to be said of a null that is too small for any feature to be found.

    kinds: that count; those that test by themselves need no probes

    >>> null_notices(("used",), 5, 7)[0][:61]
    '5 features with 7 probes each are too few: no p-value can get'
    """
    if with_probes(kinds) != kinds or not 0 < n_features * n_probes < MIN_NULL:
        return []
    return [
        f"{n_features} features with {n_probes} probes each are too few: no p-value can get small "
        f"enough for a feature to be relevant; select from {-(-MIN_NULL // n_probes)} or more."
    ]


def describe_grounds(
    settings: Settings,
    combined: Combined,
    listed: np.ndarray,
    other: np.ndarray,
) -> Grounds:
    """For the document of a result.

    listed  bool by place: what the rule of the run selects; other: what the other rule selects
    """
    kinds: list[KindGrounds] = [
        {
            "kind": kind,
            "weight": round(weight, 6),
            "n_feature_classes": len(combined.tails.get(kind, [])),
            "n_fitted": sum(tail.fits for tail in combined.tails.get(kind, [])),
            "heaviest_shape": round(
                max((t.shape for t in combined.tails.get(kind, []) if t.fits), default=0.0), 6
            ),
        }
        for kind, weight in combined.weights.items()
    ]
    rule = "tail" if settings.rule == "knockoff" else "knockoff"
    opinion: SecondOpinion = {
        "rule": rule,
        "n_relevant": int(np.count_nonzero(other)),
        "n_agreed": int(np.count_nonzero(other & listed)),
        "n_needed": int(np.ceil(1 / settings.fdr)) if rule == "knockoff" else 1,
    }
    return {"rule": settings.rule, "kinds": kinds, "second_opinion": opinion}
