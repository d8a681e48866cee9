"""Effects on classes: the odds of the second of two, or of each of many against all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.models.logistic import log_odds_ratio
from srs.effects.profile import share
from srs.effects.separation import Interval
from srs.targets.target import Target

# Classes that others are compared with, as people call them.
COMPARED_WITH = frozenset(
    (
        "control",
        "controls",
        "ctrl",
        "healthy",
        "normal",
        "unaffected",
        "negative",
        "neg",
        "no",
        "false",
        "wildtype",
        "wt",
        "untreated",
        "placebo",
        "reference",
        "benign",
        "nonresponder",
        "non-responder",
    )
)
MOST_CLASSES = 20  # that are told of, the first ones


def told_class(labels: Sequence[str]) -> int:
    """Which of two classes effects are told of: the second, unless that is plainly the one that
    others are compared with.

    >>> told_class(("case", "control")), told_class(("ALL", "AML")), told_class(("0", "1"))
    (0, 1, 1)
    """
    first, second = (label.strip().lower() in COMPARED_WITH for label in labels)
    return 0 if second and not first else 1


def groups(target: Target) -> list[int | None]:
    if target.n_classes == 2:
        return [told_class(target.labels)]
    return list(range(min(target.n_classes, MOST_CLASSES)))


def is_in(values: np.ndarray, group: int | None) -> np.ndarray:
    found: np.ndarray = values == group
    return found


def estimate(design: Design, values: np.ndarray, group: int | None) -> Estimate:
    return log_odds_ratio(design, is_in(values, group))


def summarise(values: np.ndarray, group: int | None) -> Interval:
    return share(is_in(values, group))


CLASS_EFFECTS = EffectKind(
    target_kind="classes",
    measure="odds ratio",
    is_ratio=True,
    meaning="by how much the odds of {group} are multiplied for {step} more",
    outcome="share of {group}",
    values=lambda target: target.values,
    groups=groups,
    estimate=estimate,
    summarise=summarise,
    is_share=True,
    group_of=is_in,
)
