"""All pairs of features: what a feature tells of the target together with its best partner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from srs.errors import InputError, SettingsError
from srs.evidence.kinds import EvidenceKind, Steps
from srs.evidence.told import PARTNER

if TYPE_CHECKING:
    from srs.engine.context import RunContext
    from srs.settings import Settings

# Words of 64 samples that are compared: about ten minutes on two cores, 1,000,000 features of 1,000
# samples. The choice must not depend on the machine, or the same seed would not give the same list.
AUTO_WORDS = 1e13


def pair_words(n_features: int, n_samples: int) -> float:
    """Words of 64 samples that all pairs of features take.

    >>> f"{pair_words(1_000_000, 1_000):.1e}"
    '8.0e+12'
    """
    return 0.5 * n_features**2 * -(-n_samples // 64)


def _steps(context: RunContext) -> Steps:
    from srs.evidence.pairs.steps import make_steps  # with its kernels, which take time

    return make_steps(context)


def _keeps(context: RunContext) -> int:
    from srs.evidence.pairs.steps import bits_mem

    return bits_mem(context)


def _sits_out(settings: Settings, n_features: int, n_samples: int) -> str | None:
    if settings.pairs == "off":
        return "pairs are off (pairs=)."
    words = pair_words(n_features, n_samples)
    if settings.pairs == "auto" and words > AUTO_WORDS:
        return (
            f"all pairs of {n_features} features would take {words / AUTO_WORDS:.0f} times the "
            'time that "auto" allows; ask for them with pairs="all".'
        )
    return None


def _unfit(context: RunContext) -> str | None:
    from srs.evidence.pairs.steps import group_samples

    try:
        group_samples(context)
    except InputError as error:
        if context.settings.pairs == "all":
            raise SettingsError(f'pairs="all" is not possible: {error}') from None
        return str(error)
    return None


PAIRS = EvidenceKind(
    name="pairs",
    sees="what the feature tells of the target only together with one other feature, over all "
    "pairs of features",
    title="Pairs: what it tells together with its best partner",
    doing="looking at all pairs",
    share=0.15,
    merge="maximum",
    mean=False,
    steps=_steps,
    keeps=_keeps,
    has_p_values=True,
    carried=True,  # so that trees find what matters only given a pair
    tells=((PARTNER, 4),),
    sits_out=_sits_out,
    unfit=_unfit,
    usual=True,
)
