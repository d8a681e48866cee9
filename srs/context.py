"""What all batches of a run share: the store, the sizes, the target, samples and permutations.

Made once a process: by the run itself, and by each worker for itself (`srs.worker`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from srs import seeds
from srs.config import Settings
from srs.errors import InputError, SettingsError
from srs.memory import RunShape, plan_shape, projected_mem
from srs.store import CATEGORICAL, FeatureStore
from srs.store.layout import TILE, Target
from srs.strata import find_strata
from srs.tree import TreeSettings, TreeTarget

MIN_SCREEN = 50  # samples of a node whose columns are screened: smaller ones say little


@dataclass(frozen=True)
class Context:
    """What all batches of a run share.

    store        the feature store
    settings     settings of the run
    shape        sizes of the run
    target       what trees learn
    tree         how trees are grown
    train        int32: samples that trees see
    held_out     int32: samples that get predictions only
    permutations int32 (n_roles, n_samples): row g makes role g of a feature
    splits_by_subset  bool by place: categorical features of more than two levels; None: no such
    pinned       int64: places of pinned features
    strata       uint8 by place: features whose evidence has the same null; empty in workers
    resident     uint8 (n_tiles, n_samples, 64): the whole store, where it fits; else None
    scratch      memory that batches use one after the other, see `_reuse`
    """

    store: FeatureStore
    settings: Settings
    shape: RunShape
    target: TreeTarget
    tree: TreeSettings
    train: np.ndarray
    held_out: np.ndarray
    permutations: np.ndarray
    splits_by_subset: np.ndarray | None
    pinned: np.ndarray
    strata: np.ndarray
    resident: np.ndarray | None = None
    scratch: list[dict[str, np.ndarray]] = field(default_factory=list)

    def borrow_scratch(self) -> dict[str, np.ndarray]:
        """Memory that no other batch uses now; the batch gives it back at its end."""
        try:
            return self.scratch.pop()
        except IndexError:
            return {}


def make_context(store: FeatureStore, settings: Settings) -> Context:
    """Check the settings against the store, plan the memory, and gather what batches share.

    Nothing of the codes is read here: what does not fit is refused before any reading.
    """
    target = store.target(settings.target)
    pinned = np.unique(store.places_of(store.find_ids(settings.pinned)))
    n_roles = settings.n_roles(store.n_features)
    shape = plan_shape(
        n_samples=store.n_samples,
        n_features=store.n_features,
        chunk_features=store.chunk_features,
        n_roles=n_roles,
        max_carried=settings.max_carried + len(pinned),
        n_outputs=max(1, target.n_classes),
        allowed_mem=settings.allowed_mem,
        subspace_size=settings.subspace_size,
        round_size=settings.round_size,
    )
    return gather_context(store, settings, shape, pinned, find_strata(store, n_roles - 1))


def gather_context(
    store: FeatureStore,
    settings: Settings,
    shape: RunShape,
    pinned: np.ndarray,
    strata: np.ndarray | None = None,
) -> Context:
    """The context of a run whose shape is known; workers, which decide nothing, need no strata."""
    target = store.target(settings.target)
    criterion = _criterion(settings, target)
    tree_target = (
        TreeTarget.of_values(target.values)
        if target.task == "regression"
        else TreeTarget.of_classes(target.values, target.n_classes)
    )
    train, held_out = _split_samples(store.n_samples, settings)
    tree = TreeSettings(
        criterion, settings.max_features, settings.max_depth, settings.min_samples_leaf,
        screen_size=min(len(train), max(len(train) // 10, MIN_SCREEN)), peak_size=20,
    )  # fmt: skip
    permutations = seeds.probe_permutations(
        settings.seed, shape.n_roles, store.n_samples, (train, held_out)
    )
    return Context(
        store, settings, shape, tree_target, tree, train, held_out, permutations,
        categorical_places(store), pinned, np.empty(0, np.uint8) if strata is None else strata,
    )  # fmt: skip


def _criterion(settings: Settings, target: Target) -> str:
    numeric = target.task == "regression"
    if settings.criterion is None:
        return "variance" if numeric else "entropy"
    if (settings.criterion == "variance") != numeric:
        raise SettingsError(
            f"criterion {settings.criterion!r} does not fit the target {target.name!r}, "
            f"which is a {target.task} target."
        )
    return settings.criterion


def _split_samples(n_samples: int, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    n_held_out = round(settings.holdout * n_samples)
    order = seeds.make_rng(settings.seed, seeds.HOLDOUT).permutation(n_samples)
    held_out = np.sort(order[:n_held_out]).astype(np.int32)
    return np.sort(order[n_held_out:]).astype(np.int32), held_out


def with_resident_codes(context: Context, threads: int) -> Context:
    """The context with the whole store in memory, where that fits beside `threads` batches.

    The answer is the same; what is read again and again otherwise is read once.
    """
    if projected_mem(context.shape, threads, resident=True) > context.settings.allowed_mem:
        return context
    return load_codes(context)


def load_codes(context: Context) -> Context:
    """The context with the whole store in memory."""
    store = context.store
    codes = store.empty_chunks(store.n_chunks)
    for chunk in range(store.n_chunks):
        store.read_chunk(chunk, codes[chunk])
    return replace(context, resident=codes.reshape(-1, store.n_samples, TILE))


def require_samples(context: Context) -> None:
    """Refuse targets that leave nothing to learn among the training samples."""
    target = context.target
    learned = target.values if len(target.values) else target.classes
    if len(np.unique(learned[context.train])) < 2:
        raise InputError("the target has a single value among the training samples.")


def categorical_places(store: FeatureStore) -> np.ndarray | None:
    """Places whose columns are split by subsets of levels; two levels need only a cut."""
    if not store.manifest.any_categorical:
        return None
    by_id = (store.kinds == CATEGORICAL) & (store.n_levels > 2)
    by_place: np.ndarray = by_id[store.feature_ids]
    return by_place
