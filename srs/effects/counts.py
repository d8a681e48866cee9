"""Effects on a count: the ratio of rates."""

from __future__ import annotations

import numpy as np

from srs.effects.estimate import Design, Estimate
from srs.effects.kinds import EffectKind
from srs.effects.models.ratios import log_rate_ratio
from srs.effects.profile import mean_rate
from srs.effects.separation import Interval
from srs.targets.counts import log_exposure


def _counts(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = values if values.ndim == 1 else values[:, 0]
    return found


def estimate(design: Design, values: np.ndarray, group: int | None) -> Estimate:  # noqa: ARG001
    return log_rate_ratio(design, _counts(values), log_exposure(values))


def summarise(values: np.ndarray, group: int | None) -> Interval:  # noqa: ARG001
    """The count per sample, or per unit of exposure."""
    return mean_rate(_counts(values), np.exp(log_exposure(values)))


COUNT_EFFECTS = EffectKind(
    target_kind="count",
    measure="rate ratio",
    is_ratio=True,
    meaning="by how much the rate of {target} is multiplied for {step} more",
    outcome="rate of {target}",
    values=lambda target: target.values,
    groups=lambda _: [None],
    estimate=estimate,
    summarise=summarise,
)
