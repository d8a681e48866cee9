"""The univariate test of each feature against the target, as a kind of evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srs.evidence.kinds import EvidenceKind, Steps
from srs.evidence.told import DIRECTION

if TYPE_CHECKING:
    from srs.engine.context import RunContext
    from srs.settings import Settings


def _steps(context: RunContext) -> Steps:
    from srs.evidence.univariate.steps import make_steps  # with its kernels, which take time

    return make_steps(context)


def _sits_out(settings: Settings, n_features: int, n_samples: int) -> str | None:  # noqa: ARG001
    if settings.sample_weight is not None:
        return "rank tests have no weights of samples."
    if settings.subjects is not None:
        return "samples of one subject are not independent, and the tests take them to be."
    return None


UNIVARIATE = EvidenceKind(
    name="univariate",
    sees="what the feature tells of the target by itself (an exact rank or table test, within "
    "strata of the confounders)",
    title="Univariate: what it tells by itself",
    doing="testing each feature by itself",
    share=0.5,
    merge="maximum",
    mean=False,
    steps=_steps,
    has_p_values=True,
    tells=((DIRECTION, 4),),
    sits_out=_sits_out,
    usual=True,
)
