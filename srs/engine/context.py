"""What all batches of a run share: the store, the sizes, the target, samples and permutations.

Made once a process: by the run itself, and by each worker for itself (`srs.engine.worker`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from srs.engine.memory import RunShape, batch_mem, plan_shape, projected_mem
from srs.engine.samples import Samples, plan_samples
from srs.errors import InputError, SettingsError
from srs.evidence.registry import evidence_kind, taking_part
from srs.inference.feature_classes import find_feature_classes
from srs.settings import Settings
from srs.store import CATEGORICAL, FeatureStore
from srs.store.layout import TILE
from srs.targets.kinds import CRITERIA_OF_NUMBERS
from srs.targets.registry import target_kind
from srs.targets.target import Target
from srs.trees import TreeSettings, TreeTarget

MIN_SCREEN = 50  # samples of a node whose columns are screened: smaller ones say little


@dataclass(frozen=True)
class RunContext:
    """What all batches of a run share.

    store        the feature store
    settings     settings of the run
    shape        sizes of the run
    samples      which samples trees see, what they learn, and how probes are permuted
    tree         how trees are grown
    splits_by_subset  bool by place: categorical features of more than two levels; None: no such
    pinned       int64: places of pinned features
    feature_classes  uint8 by place: the class of each feature, see `srs.inference.feature_classes`;
                 empty in workers
    kinds        kinds of evidence that count
    left_out     kinds that were asked for and take no part, and why
    resident     uint8 (n_tiles, n_samples, 64): the whole store, where it fits; else None
    kept         what the steps of a kind of evidence keep for the next ones
    kept_mem     bytes of it that there is room for beside all batches
    scratch      memory that batches use one after the other, see `_reuse`
    """

    store: FeatureStore
    settings: Settings
    shape: RunShape
    samples: Samples
    tree: TreeSettings
    splits_by_subset: np.ndarray | None
    pinned: np.ndarray
    feature_classes: np.ndarray
    kinds: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    resident: np.ndarray | None = None
    scratch: list[dict[str, np.ndarray]] = field(default_factory=list)
    kept: dict[Any, Any] = field(default_factory=dict)
    kept_mem: int = 0

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

    def read_places(self, places: np.ndarray) -> np.ndarray:
        """Codes of some places, (n_samples, k)."""
        if self.resident is None:
            return self.store.read_places(places)
        return self.resident[places // TILE, :, places % TILE].T

    @property
    def batch_mem(self) -> int:
        """Bytes that a batch may hold, and so a step of a kind of evidence."""
        return batch_mem(self.shape, self.resident is not None)

    @property
    def slab_mem(self) -> int:
        """The same for codes that are read from the store: follows from the shape of the run."""
        return batch_mem(self.shape)

    def read_chunks(self, first: int, stop: int) -> np.ndarray:
        """Codes of some chunks, (n_tiles, n_samples, 64); not to be changed."""
        n_tiles = self.shape.chunk_features // TILE
        if self.resident is not None:
            return self.resident[first * n_tiles : stop * n_tiles]
        codes = self.store.empty_chunks(stop - first)
        for chunk in range(first, stop):
            self.store.read_chunk(chunk, codes[chunk - first])
        return codes.reshape(-1, self.shape.n_samples, TILE)

    def borrow_scratch(self) -> dict[str, np.ndarray]:
        """Memory that no other batch uses now; the batch gives it back at its end."""
        try:
            return self.scratch.pop()
        except IndexError:
            return {}


def make_context(store: FeatureStore, settings: Settings) -> RunContext:
    """Check the settings against the store, plan the memory, and gather what batches share.

    Nothing of the codes is read here: what does not fit is refused before any reading.
    """
    target = store.target(settings.target)
    pinned = np.unique(store.places_of(store.find_ids(settings.pinned)))
    n_roles = settings.n_roles(store.n_features)
    kinds, _ = taking_part(settings, store.n_features, store.n_samples)
    shape = plan_shape(
        n_samples=store.n_samples,
        n_features=store.n_features,
        chunk_features=store.chunk_features,
        n_roles=n_roles,
        max_carried=settings.max_carried + len(pinned),
        n_outputs=target.n_outputs,
        allowed_mem=settings.allowed_mem,
        subspace_size=settings.subspace_size,
        round_size=settings.round_size,
        kinds=kinds,
        weighted=any(
            (
                settings.sample_weight,
                settings.class_weight,
                settings.confounders,
                settings.covariates,
            )
        ),
    )
    return gather_context(store, settings, shape, pinned, find_feature_classes(store, n_roles - 1))


def gather_context(
    store: FeatureStore,
    settings: Settings,
    shape: RunShape,
    pinned: np.ndarray,
    feature_classes: np.ndarray | None = None,
) -> RunContext:
    """The context of a run whose shape is known; workers decide nothing, and have no
    feature classes."""
    target = store.target(settings.target)
    samples = plan_samples(store, settings, shape.n_roles)
    criterion = _criterion(settings, target, samples)
    n_train = len(samples.train)
    kinds, left_out = taking_part(settings, store.n_features, store.n_samples)
    tree = TreeSettings(
        criterion,
        settings.max_features,
        settings.max_depth,
        settings.min_samples_leaf,
        screen_size=min(n_train, max(n_train // 10, MIN_SCREEN)),
        peak_size=20,
    )
    context = RunContext(
        store=store,
        settings=settings,
        shape=shape,
        samples=samples,
        tree=tree,
        splits_by_subset=categorical_places(store),
        pinned=pinned,
        feature_classes=np.empty(0, np.uint8) if feature_classes is None else feature_classes,
        kinds=kinds,
        left_out=left_out,
    )
    return context if settings.mode == "paper" else _without_unfit(context)


def _without_unfit(context: RunContext) -> RunContext:
    """The context without the kinds of evidence that its samples and target do not allow."""
    reasons = {}
    for kind in map(evidence_kind, context.kinds):
        if kind.unfit is not None and (reason := kind.unfit(context)) is not None:
            reasons[kind.name] = reason
    kinds = tuple(name for name in context.kinds if name not in reasons)
    return replace(context, kinds=kinds, left_out={**context.left_out, **reasons})


def _criterion(settings: Settings, target: Target, samples: Samples) -> str:
    criteria = target_kind(target.kind).criteria
    if len(samples.target.values):  # residuals of two classes, too
        criteria = CRITERIA_OF_NUMBERS
    if settings.criterion is None:
        return criteria[0]
    if settings.criterion not in criteria:
        raise SettingsError(
            f"criterion {settings.criterion!r} does not fit the target {target.name!r}, "
            f"which is a {target.kind} target"
            + (" and adjusted for covariates." if settings.covariates else ".")
        )
    return settings.criterion


def with_resident_codes(
    context: RunContext, threads: int, codes: np.ndarray | None = None
) -> RunContext:
    """The context with the whole store in memory, where that fits beside `threads` batches, and
    with what is left for steps to keep.

    codes  those of the store, if another run has read them

    The answer is the same; what is read or made again and again otherwise is so once.
    """
    allowed = context.settings.allowed_mem
    needed = projected_mem(context.shape, threads, resident=True)
    if needed <= allowed:
        context = load_codes(context) if codes is None else replace(context, resident=codes)
    else:
        needed = projected_mem(context.shape, threads)
    names = () if context.settings.mode == "paper" else context.kinds  # it has no steps
    kinds = map(evidence_kind, names)
    wanted = max((kind.keeps(context) for kind in kinds if kind.keeps is not None), default=0)
    return replace(context, kept_mem=max(0, min(wanted, allowed - needed)))


def load_codes(context: RunContext) -> RunContext:
    """The context with the whole store in memory."""
    store = context.store
    codes = store.empty_chunks(store.n_chunks)
    for chunk in range(store.n_chunks):
        store.read_chunk(chunk, codes[chunk])
    return replace(context, resident=codes.reshape(-1, store.n_samples, TILE))


def require_samples(context: RunContext) -> None:
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
