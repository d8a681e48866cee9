"""Effects on a number: its slope."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.models.linear import slope
from srs.effects.profile import mean
from srs.effects.separation import Interval


def estimate(design: Design, values: np.ndarray, group: int | None) -> Estimate:  # noqa: ARG001
    return slope(design, values)


def summarise(values: np.ndarray, group: int | None) -> Interval:  # noqa: ARG001
    return mean(values)


NUMBER_EFFECTS = EffectKind(
    target_kind="numbers",
    measure="slope",
    is_ratio=False,
    meaning="what {step} more adds to {target}",
    outcome="mean of {target}",
    values=lambda target: target.values,
    groups=lambda _: [None],
    estimate=estimate,
    summarise=summarise,
)
