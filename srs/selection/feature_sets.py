"""Test feature sets: what the members of a set tell of the target, together.

The null is that no member of the set does. The evidence of a set is the sum over its members of
*used* and *screened*, and the largest *peak*; that of its probes is the same of their probes, which
are all made by the same permutations and so are correlated as the members are. A set is compared
with the probes of sets of like size. Sets with one strong member among many are seen better by the
members' own p-values (Simes), so both share the error rate.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srs.errors import InputError, SettingsError
from srs.evidence.arrays import BatchEvidence
from srs.evidence.registry import evidence_kind
from srs.executors import Executor
from srs.inference.decide import CLEARLY_NULL, Verdict
from srs.inference.fdr import q_values
from srs.inference.feature_classes import join_small
from srs.inference.null import Null
from srs.selection.set_files import read_sets
from srs.selection.set_trees import SET_ROLES, SetSpec
from srs.settings import Settings
from srs.store import FeatureStore
from srs.store.name_index import NameIndex
from srs.trees import Tree

SPEC_MEMBERS = 500  # members of the sets of one task, about


@dataclass(frozen=True)
class FeatureSets:
    """Features that belong together.

    names    name of each set
    places   int64 each: the places of its members, ascending
    unknown  members that are no features of the store
    """

    names: tuple[str, ...]
    places: tuple[np.ndarray, ...]
    unknown: int


@dataclass(frozen=True)
class SetDecision:
    """Verdicts of sets, in their order.

    p_value, q_value  float64
    verdict           uint8: values of Verdict
    """

    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray


def choose_sets(given: Any, store: FeatureStore, settings: Settings) -> FeatureSets:
    """The sets that a run tests; refuses what `find_sets` does, and modes that test none."""
    if settings.mode == "paper":
        raise SettingsError("paper mode does not test feature sets; use the default mode.")
    return find_sets(given, store)


def find_sets(given: Any, store: FeatureStore) -> FeatureSets:
    """The sets that a user gave: a mapping from names to features, or a file of them.

    A file has two columns, feature and set (.csv, .tsv, .txt, with or without a header), or is
    a .gmt file: a line a set, its name, a description, and its features. Features that the store
    does not have are counted, and left out.
    """
    if not isinstance(given, Mapping | str | os.PathLike):
        raise SettingsError(
            "feature_sets must be a file, or a mapping from names of sets to features, not "
            f"{given!r}."
        )
    members = given if isinstance(given, Mapping) else read_sets(given)
    for name, features in members.items():
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise SettingsError(f"the feature set {name!r} must be a list, not {features!r}.")
    index = NameIndex(store.feature_names)
    place_of = store.places_of(np.arange(store.n_features))
    names, places, unknown = [], [], 0
    for name, features in members.items():
        groups = [_find(feature, index, store.n_features) for feature in features]
        unknown += groups.count([])
        known = [i for ids in groups for i in ids]
        if known:
            names.append(str(name))
            places.append(np.unique(place_of[known]))
    if not names:
        raise InputError(
            f"no member of the feature sets is a feature of the store, which has "
            f"{store.feature_names[0]!r}, for example."
        )
    return FeatureSets(tuple(names), tuple(places), unknown)


def _find(feature: Any, index: NameIndex, n_features: int) -> list[int]:
    if isinstance(feature, str):
        return index.find(feature)
    return [int(feature)] if 0 <= int(feature) < n_features else []


def decide_sets(
    sets: FeatureSets,
    feature_p_values: np.ndarray,
    carried: np.ndarray,
    settings: Settings,
    executor: Executor,
    task: Callable[[Any], tuple[BatchEvidence, list[Tree]]],
) -> SetDecision:
    """Grow trees on all sets, and compare each with the probes of sets of like size.

    feature_p_values  by place: what the loop says of features
    carried           places of relevant features that trees may carry
    """
    specs = _specs(sets, carried)
    parts = [evidence for evidence, _ in executor.map(task, specs)]
    by_kind = {
        kind: np.concatenate([part.by_kind[kind] for part in parts], axis=1)
        for kind in settings.evidence
        if evidence_kind(kind).of_trees is not None
    }
    sizes = np.array([len(places) for places in sets.places])
    p_trees = set_p_values(by_kind, sizes)
    p_members = np.array([simes(feature_p_values[places]) for places in sets.places])
    p_value = np.minimum(2.0 * np.minimum(p_trees, p_members), 1.0)
    q_value = q_values(p_value)
    verdict = np.where(p_value > CLEARLY_NULL, Verdict.IRRELEVANT, Verdict.UNDECIDED)
    verdict[q_value <= settings.fdr] = Verdict.RELEVANT
    return SetDecision(p_value, q_value, verdict.astype(np.uint8))


def _specs(sets: FeatureSets, carried: np.ndarray) -> list[SetSpec]:
    """Tasks of about SPEC_MEMBERS members; what each grows does not depend on the executor."""
    specs: list[SetSpec] = []
    held: list[np.ndarray] = []
    for at, places in enumerate(sets.places):
        held.append(places)
        last = at == len(sets.places) - 1
        if last or sum(map(len, held)) >= SPEC_MEMBERS:
            specs.append(SetSpec(len(specs), tuple(held), carried))
            held = []
    return specs


def set_p_values(by_kind: Mapping[str, np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """p-values of sets from the evidence of their members and of the members' probes.

    by_kind  for each kind of evidence, (SET_ROLES, n_members), the members of a set together
    sizes    number of members of each set
    """
    starts = np.cumsum(sizes) - sizes
    doublings = np.log2(sizes).astype(np.int64)
    size_classes = join_small(np.bincount(doublings), SET_ROLES - 1)[doublings]
    shares = {kind: evidence_kind(kind).share for kind in by_kind}
    combined = np.ones(len(sizes))
    for kind, evidence in by_kind.items():
        combine = np.maximum if evidence_kind(kind).merge == "maximum" else np.add
        total = combine.reduceat(evidence.astype(np.float64), starts, axis=1)
        # Against the other roles of the same set: sets differ in size and in what they hold.
        others = (total.sum(axis=0) - total) / (SET_ROLES - 1)
        lead = total / np.maximum(others, 1e-12)
        for size_class in range(int(size_classes.max()) + 1):
            here = np.flatnonzero(size_classes == size_class)
            p_value = Null.of(lead[1:, here].ravel()).p_values(lead[0, here])
            share = shares[kind] / sum(shares.values())
            combined[here] = np.minimum(combined[here], p_value / share)
    return combined


def simes(p_values: Sequence[float] | np.ndarray) -> float:
    """The p-value of "none of them": the smallest of n p / rank.

    >>> simes([0.01, 0.5, 0.04])
    0.03
    """
    ordered = np.sort(np.asarray(p_values, np.float64))
    return float(min((ordered * len(ordered) / np.arange(1, len(ordered) + 1)).min(), 1.0))
