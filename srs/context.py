"""What all batches of a run share: the store, the sizes, the target, samples and permutations.

Made once a process: by the run itself, and by each worker for itself (`srs.worker`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from srs.config import Settings
from srs.errors import InputError, SettingsError
from srs.memory import RunShape, plan_shape, projected_mem
from srs.samples import Samples, plan_samples
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
    samples      which samples trees see, what they learn, and how probes are permuted
    tree         how trees are grown
    splits_by_subset  bool by place: categorical features of more than two levels; None: no such
    pinned       int64: places of pinned features
    strata       uint8 by place: features whose evidence has the same null; empty in workers
    resident     uint8 (n_tiles, n_samples, 64): the whole store, where it fits; else None
    scratch      memory that batches use one after the other, see `_reuse`
    """

    store: FeatureStore
    settings: Settings
    shape: RunShape
    samples: Samples
    tree: TreeSettings
    splits_by_subset: np.ndarray | None
    pinned: np.ndarray
    strata: np.ndarray
    resident: np.ndarray | None = None
    scratch: list[dict[str, np.ndarray]] = field(default_factory=list)

    @property
    def target(self) -> TreeTarget:
        """What trees learn."""
        return self.samples.target

    @property
    def train(self) -> np.ndarray:
        """int32: samples that trees see."""
        return self.samples.train

    @property
    def held_out(self) -> np.ndarray:
        """int32: samples that get predictions only."""
        return self.samples.held_out

    @property
    def permutations(self) -> np.ndarray:
        """int32 (n_roles, n_samples): row g makes role g of a feature."""
        return self.samples.permutations

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
        weighted=any((settings.sample_weight, settings.class_weight, settings.confounders)),
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
    samples = plan_samples(store, settings, shape.n_roles)
    n_train = len(samples.train)
    tree = TreeSettings(
        criterion, settings.max_features, settings.max_depth, settings.min_samples_leaf,
        screen_size=min(n_train, max(n_train // 10, MIN_SCREEN)), peak_size=20,
    )  # fmt: skip
    return Context(
        store, settings, shape, samples, tree, categorical_places(store), pinned,
        np.empty(0, np.uint8) if strata is None else strata,
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
