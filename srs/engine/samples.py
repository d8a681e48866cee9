"""Samples of a run: which of them trees see, how much each counts, and how probes permute them.

Without confounders, subjects and weights all samples are alike. What these columns are is read
from the store, where they stand beside the target: a worker makes the same of them as the run.

A *confounder* is what samples and target may share for a reason of no interest: batch, sex,
ancestry. Two things are done about it. Probes are permuted within strata, samples that are equal
in all confounders: a feature that tells of the target only through the confounders then has
probes that do so, too, and is no better than they are. And the target is made independent of the
stratum, by weights or by taking off its mean, so that such features and probes have no more
evidence than others and do not drown what matters.

A *covariate* is adjusted for by a model instead of strata, see `srs.engine.covariates`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from srs import seeds
from srs.engine.adjusting.cells import find_cells
from srs.engine.adjusting.covariates import Covariates, read_covariates
from srs.engine.adjusting.strata import find_strata, levels_of, sample_column
from srs.engine.adjusting.target import fit_null_model, residuals_of, share_weights, stratum_means
from srs.engine.permutations import draw_apart
from srs.errors import InputError, SettingsError
from srs.settings import Settings
from srs.store import FeatureStore
from srs.targets.learning import tree_target
from srs.targets.models.null import NullModel
from srs.targets.registry import target_kind
from srs.targets.target import Target
from srs.trees import TreeTarget

MIN_SEEN = 0.1  # share of the training samples that must have a weight
# A feature that tells three samples from three others does so, or the other way round, in 2 of the
# 20 ways to deal out their labels. With fewer samples chance is as good in more than one of ten.
MIN_SAMPLES = 6
MIN_MOVED = 0.5  # share of the training samples that probes must be able to move
STRATUM_SAMPLES = 10  # of each stratum on average, where strata become columns of a model


@dataclass(frozen=True)
class Samples:
    """The samples of a run.

    train         int32: samples that trees see
    held_out      int32: samples that get predictions only
    permutations  int32 (n_roles, n_samples): row g makes role g of a feature
    target        what trees learn, with weights
    subjects      int (n_samples,): samples of a subject are drawn together; None: each is its own
    strata       int (n_samples,): samples equal in all confounders; None: no confounders
    offsets       float64 (n_samples,): what was taken off a numeric target; None: nothing
    covariates    columns that the null model adjusts for; None: no covariates
    null          what is expected of samples without any feature; None: the target is learned as
                  it is
    cells         int (n_samples,): samples that are alike in covariates and confounders; None: all
                  are
    """

    train: np.ndarray
    held_out: np.ndarray
    permutations: np.ndarray
    target: TreeTarget
    subjects: np.ndarray | None = None
    strata: np.ndarray | None = None
    offsets: np.ndarray | None = None
    covariates: Covariates | None = None
    null: NullModel | None = None
    cells: np.ndarray | None = None


def plan_samples(store: FeatureStore, settings: Settings, n_roles: int) -> Samples:
    """The samples of a run of a store."""
    target = store.target(settings.target)
    subjects = None if settings.subjects is None else levels_of(store, settings.subjects)
    strata = find_strata(store, settings)
    train, held_out = _split(store.n_samples, settings, subjects)
    require_enough(len(train), len(held_out))
    weights = _given_weights(store, settings)
    covariates = _covariates(store, settings, train, strata)
    if covariates is not None and settings.class_weight is not None and target.has_classes:
        weights = weights * _balance(target.values, weights, train)
    null = fit_null_model(target_kind(target.kind), target, covariates, train, weights)
    learned, weights, offsets = _adjust(
        target, settings, weights, (strata, covariates, null), train=train
    )
    train = _seen(train, weights, target, settings)
    cells = strata
    if covariates is not None:
        cells = find_cells(store, covariates.columns, (train, held_out), strata, subjects)
    if cells is None and subjects is None:
        permutations = seeds.probe_permutations(
            settings.seed, n_roles, store.n_samples, (train, held_out)
        )
    else:
        permutations, train = _permutations(
            settings.seed,
            n_roles,
            n_samples=store.n_samples,
            train=train,
            held_out=held_out,
            strata=cells,
            subjects=subjects,
            target=_columns_of(learned),
        )
    if (weights[train] != weights[train[0]]).any():
        # What is not seen must not decide how finely weights are told apart.
        unseen = np.setdiff1d(np.arange(store.n_samples), train)
        weights[unseen] = weights[train].mean()
        learned = learned.weigh(weights)
        if len(learned.weights):
            train = train[learned.weights[train] > 0]
    return Samples(
        train=train,
        held_out=held_out,
        permutations=permutations,
        target=learned,
        subjects=subjects,
        strata=strata,
        offsets=offsets,
        covariates=covariates,
        null=null,
        cells=cells,
    )


def _adjust(
    target: Target,
    settings: Settings,
    weights: np.ndarray,
    given: tuple[np.ndarray | None, Covariates | None, NullModel | None],
    *,
    train: np.ndarray,
) -> tuple[TreeTarget, np.ndarray, np.ndarray | None]:
    """What trees learn, how much each sample counts, and what was taken off numbers.

    given  strata of confounders, covariates, and the null model
    """
    strata, covariates, null = given
    kind = target_kind(target.kind)
    if not target.has_classes and settings.class_weight is not None:
        raise SettingsError(
            f"class_weight is for classes, and {target.name!r} is of kind {target.kind!r}."
        )
    if null is not None and null.residuals.ndim == 1 and (kind.by_model or target.has_classes):
        within = strata if covariates is None else None
        residuals = residuals_of(null, weights, train, within)
        return tree_target(target, residuals=residuals), weights, None
    values, offsets = kind.learned(target), None
    if not target.has_classes:
        if null is not None:
            offsets = values - residuals_of(null, weights, train, None)
        elif strata is not None:
            offsets = stratum_means(values, weights, strata, train)
    else:
        if null is not None:
            weights = weights * share_weights(values, null.expected)
        elif strata is not None:
            weights = weights * overlap_weights(values, weights, strata, train)
        if settings.class_weight is not None and null is None:
            weights = weights * _balance(values, weights, train)
    return tree_target(target, offsets), weights, offsets


def _covariates(
    store: FeatureStore, settings: Settings, train: np.ndarray, strata: np.ndarray | None
) -> Covariates | None:
    if not settings.covariates:
        return None
    if settings.target in settings.covariates:
        raise SettingsError(f"{settings.target!r} is the target: leave it out of the covariates.")
    if strata is not None and len(np.unique(strata[train])) * STRATUM_SAMPLES > len(train):
        raise SettingsError(
            "with covariates, confounders must have few levels: give these confounders as "
            "covariates instead, which may be numbers."
        )
    columns = [sample_column(store, name) for name in settings.covariates]
    return read_covariates(columns, train, strata)


def require_enough(n_samples: int, n_held_out: int = 0) -> None:
    """Refuse so few samples that nothing can be told from chance."""
    if n_samples >= MIN_SAMPLES:
        return
    held = f" besides the {n_held_out} that are held out" if n_held_out else ""
    advice = "add samples, or hold out fewer" if n_held_out else "add samples"
    raise InputError(
        f"there are only {n_samples} samples to learn from{held}: with fewer than {MIN_SAMPLES}, "
        f"no feature can be told from chance; {advice}."
    )


def _split(
    n_samples: int, settings: Settings, subjects: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Samples to learn from, and samples to hold out: whole subjects."""
    n_held_out = round(settings.holdout * n_samples)
    rng = seeds.make_rng(settings.seed, seeds.HOLDOUT)
    if subjects is None:
        order = rng.permutation(n_samples)
    else:
        order = np.argsort(rng.permutation(int(subjects.max()) + 1)[subjects], kind="stable")
        while 0 < n_held_out < n_samples and (
            subjects[order[n_held_out]] == subjects[order[n_held_out - 1]]
        ):
            n_held_out += 1
    held_out = np.sort(order[:n_held_out]).astype(np.int32)
    return np.sort(order[n_held_out:]).astype(np.int32), held_out


def _given_weights(store: FeatureStore, settings: Settings) -> np.ndarray:
    if settings.sample_weight is None:
        return np.ones(store.n_samples)
    column = sample_column(store, settings.sample_weight)
    weights = column.values.astype(np.float64)
    if column.has_classes:  # few whole numbers were taken for classes
        try:
            weights = np.array([float(label) for label in column.labels])[column.values]
        except ValueError:
            raise InputError(f"the weights {column.name!r} are not numbers.") from None
    if weights.min() < 0:
        raise InputError(f"the weights {column.name!r} must not be negative.")
    return weights


def _masses(
    classes: np.ndarray, weights: np.ndarray, strata: np.ndarray, train: np.ndarray
) -> np.ndarray:
    """Summed weights of the training samples by stratum and class."""
    masses = np.zeros((int(strata.max()) + 1, int(classes.max()) + 1))
    np.add.at(masses, (strata[train], classes[train]), weights[train])
    return masses


def overlap_weights(
    classes: np.ndarray, weights: np.ndarray, strata: np.ndarray, train: np.ndarray
) -> np.ndarray:
    """Factors that make classes independent of strata, each at most 1.

    In a stratum all classes get the same mass, and a stratum counts by what it can tell: with
    shares e of its classes, a sample of class k gets (1 / e_k) / sum(1 / e). These are the overlap
    weights of Li, Morgan and Zaslavsky (2018), which unlike inverse probabilities have no large
    values. A stratum of a single class tells nothing and gets 0. Where a stratum lacks one of more
    than two classes, the others are balanced.

    >>> y, c = np.array([0, 0, 0, 1, 0, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1, 1, 2])
    >>> overlap_weights(y, np.ones(8), c, np.arange(8)).round(2).tolist()
    [0.25, 0.25, 0.25, 0.75, 0.67, 0.33, 0.33, 0.0]
    """
    masses = _masses(classes, weights, strata, train)
    inverse = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
    inverse[(masses > 0).sum(axis=1) < 2] = 0.0
    total = inverse.sum(axis=1, keepdims=True)
    factors = np.divide(inverse, total, out=np.zeros_like(inverse), where=total > 0)
    found: np.ndarray = factors[strata, classes]
    return found


def _balance(classes: np.ndarray, weights: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Factors that give all classes the same mass."""
    mass = np.bincount(classes[train], weights=weights[train], minlength=int(classes.max()) + 1)
    present = mass > 0
    factors = np.divide(mass.sum() / present.sum(), mass, out=np.zeros_like(mass), where=present)
    found: np.ndarray = factors[classes]
    return found


def _seen(train: np.ndarray, weights: np.ndarray, target: Target, settings: Settings) -> np.ndarray:
    """The training samples that count."""
    seen: np.ndarray = train[weights[train] > 0]
    if len(seen) >= MIN_SEEN * len(train) and len(seen):
        return seen
    if settings.covariates:
        raise InputError(
            f"the covariates predict the target {target.name!r} almost completely, so no feature "
            "can add information: use fewer covariates."
        )
    if not settings.confounders:
        raise InputError(
            f"{len(seen)} of {len(train)} training samples have a weight above 0, which is too "
            "few to learn from."
        )
    raise InputError(
        f"the confounders predict the target {target.name!r} almost completely: the target is "
        f"constant within strata for all but {len(seen)} of {len(train)} training samples, so no "
        "feature can add information. Use fewer or coarser confounders."
    )


def _columns_of(learned: TreeTarget) -> np.ndarray:
    """What is learned as columns: the numbers, or whether a sample is of each class."""
    if len(learned.values):
        return np.asarray(learned.values[:, None], np.float64)
    found: np.ndarray = (learned.classes[:, None] == np.arange(learned.n_classes)).astype(
        np.float64
    )
    return found


def _permutations(
    seed: int,
    n_roles: int,
    n_samples: int,
    train: np.ndarray,
    held_out: np.ndarray,
    strata: np.ndarray | None,
    subjects: np.ndarray | None,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Permutations within strata, of whole subjects, and the training samples that are left."""
    within = np.zeros(n_samples, np.int64) if strata is None else strata
    found = draw_apart(seed, n_roles, (train, held_out), within, subjects, target=target)
    train = np.setdiff1d(train, found.left_out).astype(np.int32)
    can_move = int(found.can_move[train].sum())
    if n_roles > 1 and can_move < MIN_MOVED * len(train):
        alike = " and ".join(
            (["are equal in all confounders"] if strata is not None else [])
            + (["belong to subjects of about as many samples"] if subjects is not None else [])
        )
        raise SettingsError(
            f"probes can be made of {can_move} of {len(train)} training samples only: the "
            f"others have no other samples that {alike}. Use fewer or coarser confounders, or "
            "covariates instead (which adjust by a model and need no strata), or give subjects "
            "equal numbers of samples."
        )
    return found.permutations, train
