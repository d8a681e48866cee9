"""The target of a run given covariates: its null model, residuals, and weights of classes."""

from __future__ import annotations

import numpy as np

from srs.engine.adjusting.covariates import Covariates
from srs.errors import SettingsError
from srs.targets.kinds import TargetKind
from srs.targets.models.null import NullDesign, NullModel
from srs.targets.target import Target

RESIDUAL_BITS = 24


def fit_null_model(
    kind: TargetKind,
    target: Target,
    covariates: Covariates | None,
    train: np.ndarray,
    weights: np.ndarray,
) -> NullModel | None:
    """The null model of the training samples, where covariates or the kind of target ask for it."""
    if covariates is None and not kind.by_model:
        return None
    if kind.null_model is None:
        raise SettingsError(
            f"{target.name!r} is of kind {kind.name!r}, which has no model to adjust for "
            "covariates: use confounders."
        )
    columns = np.ones((len(weights), 1)) if covariates is None else covariates.columns
    fitted = train[weights[train] > 0]
    mass = weights / weights[fitted].mean() if len(fitted) else weights
    return kind.null_model(target, NullDesign(columns, fitted, mass))


def residuals_of(
    null: NullModel, weights: np.ndarray, train: np.ndarray, strata: np.ndarray | None
) -> np.ndarray:
    """What a null model leaves of the target, less the means of strata; rounded, so that all
    machines have the same."""
    unit = np.abs(null.residuals[train]).max(initial=1e-300) * 2.0**-RESIDUAL_BITS
    found: np.ndarray = np.rint(null.residuals / unit) * unit
    return found if strata is None else found - stratum_means(found, weights, strata, train)


def share_weights(classes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Overlap weights, see `overlap_weights`, from the shares that a model expects of each sample.
    Of two classes the sum of weights of one less that of the other is then the score."""
    inverse = 1.0 / np.maximum(shares, 1e-12)
    own = inverse[np.arange(len(classes)), classes] / inverse.sum(axis=1)
    return np.asarray(np.round(own, 9))


def stratum_means(
    values: np.ndarray, weights: np.ndarray, strata: np.ndarray, train: np.ndarray
) -> np.ndarray:
    """The mean target of each sample's stratum among the training samples (of all, if none)."""
    n_strata = int(strata.max()) + 1
    mass = np.bincount(strata[train], weights=weights[train], minlength=n_strata)
    sums = np.bincount(strata[train], weights=(weights * values)[train], minlength=n_strata)
    means = np.full(n_strata, sums.sum() / max(mass.sum(), 1e-300))
    np.divide(sums, mass, out=means, where=mass > 0)
    found: np.ndarray = means[strata]
    return found


def covariate_notices(covariates: Covariates | None, null: NullModel | None) -> list[str]:
    """How covariates were taken, one sentence each."""
    if covariates is None:
        return []
    notices = list(covariates.notices)
    if null is not None and not null.converged:
        notices.append(
            "the covariates tell the target of some samples almost completely, so the model of the "
            "target was held back by a light penalty: use fewer covariates."
        )
    return notices
