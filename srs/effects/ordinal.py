"""Effects on ordered classes: the odds of a higher level, the same at every level."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.models.ratios import log_odds_of_more
from srs.effects.profile import mean
from srs.effects.separation import Interval


def estimate(design: Design, values: np.ndarray, group: int | None) -> Estimate:  # noqa: ARG001
    return log_odds_of_more(design, values)


def summarise(values: np.ndarray, group: int | None) -> Interval:  # noqa: ARG001
    """The mean level, the lowest being 1."""
    return mean(values + 1.0)


ORDINAL_EFFECTS = EffectKind(
    target_kind="ordinal",
    measure="proportional odds ratio",
    is_ratio=True,
    meaning="by how much the odds of a higher {target} are multiplied for {step} more",
    outcome="mean level of {target} (the lowest is 1)",
    values=lambda target: target.values,
    groups=lambda _: [None],
    estimate=estimate,
    summarise=summarise,
)
