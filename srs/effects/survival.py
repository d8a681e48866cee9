"""Effects on a time to event: the ratio of hazards."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.models.ratios import log_hazard_ratio
from srs.effects.profile import rate
from srs.effects.separation import Interval


def estimate(design: Design, values: np.ndarray, group: int | None) -> Estimate:  # noqa: ARG001
    return log_hazard_ratio(design, values)


def summarise(values: np.ndarray, group: int | None) -> Interval:  # noqa: ARG001
    """Events per unit of time."""
    return rate(float(values[:, 1].sum()), float(values[:, 0].sum()))


SURVIVAL_EFFECTS = EffectKind(
    target_kind="survival",
    measure="hazard ratio",
    is_ratio=True,
    meaning="by how much the hazard of the event is multiplied for {step} more",
    outcome="events per unit of {target}",
    values=lambda target: target.values,
    groups=lambda _: [None],
    estimate=estimate,
    summarise=summarise,
)
