"""Group the relevant features of a store, and choose few of them, within bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from srs.selection.groups.association import thin
from srs.selection.groups.grouping import find_groups
from srs.selection.groups.minimal import choose_minimal, minimal_seconds
from srs.trees import TreeTarget

MAX_FEATURES = 2_000  # the most important ones are grouped, the others counted
MAX_SAMPLES = 4_096  # a correlation is then known to about 0.01
READ_AT_ONCE = 64


@dataclass(frozen=True)
class Listed:
    """Relevant features as they were read: the most important MAX_FEATURES.

    places          int64, ascending
    samples         the samples that were looked at
    codes           uint8 (n_samples, n_places)
    is_categorical  bool (n_places,): features that are split by subsets of levels
    """

    places: np.ndarray
    samples: np.ndarray
    codes: np.ndarray
    is_categorical: np.ndarray


@dataclass(frozen=True)
class Signals:
    """What the relevant features come down to.

    groups     places of the features that stand in for one another, the representative first;
               groups in the order of importance of their representatives
    minimal    places of few representatives that predict nearly as well as all, ascending
    left_out   number of relevant features beyond MAX_FEATURES, which are in no group
    listed     the others
    """

    groups: list[np.ndarray]
    minimal: np.ndarray
    left_out: int
    listed: Listed


def signal_seconds(n_relevant: int, n_samples: int) -> float:
    """About how long `find_signals` takes."""
    return minimal_seconds(min(n_relevant, MAX_FEATURES), min(n_samples, MAX_SAMPLES))


def find_signals(
    read_places: Callable[[np.ndarray], np.ndarray],
    places: np.ndarray,
    importance: np.ndarray,
    is_categorical: np.ndarray | None,
    target: TreeTarget,
    samples: np.ndarray,
    criterion: str,
    seed: int,
    subjects: np.ndarray | None = None,
) -> Signals:
    """Signals among the features at `places`.

    read_places     gives the codes (n_samples, k) of places, as `FeatureStore.read_places`
    places          int64, ascending: the relevant features
    importance      of the features at `places`
    is_categorical  bool by place: features that are split by subsets of levels; None: no such
    target          what trees learn, over all samples
    samples         the samples to look at: those that trees of the run saw
    criterion       impurity that trees decrease
    seed            seed of the run
    subjects        int by sample: samples that belong together; None: no such
    """
    n_relevant = len(places)
    most_important = np.argsort(-importance, kind="stable")[:MAX_FEATURES]
    kept = np.sort(most_important)
    places, importance = places[kept], importance[kept]
    samples = samples[thin(len(samples), MAX_SAMPLES)]
    codes = np.empty((len(samples), len(places)), np.uint8)
    for start in range(0, len(places), READ_AT_ONCE):
        some = slice(start, start + READ_AT_ONCE)
        codes[:, some] = read_places(places[some])[samples]
    by_subset = np.zeros(len(places), np.bool_)
    if is_categorical is not None:
        by_subset = is_categorical[places]
    target = target.take(samples)
    if subjects is not None:
        subjects = subjects[samples]
    groups = find_groups(codes, by_subset, target, importance)
    leaders = np.sort(np.array([group[0] for group in groups], np.int64))
    enough = choose_minimal(
        codes[:, leaders],
        by_subset[leaders],
        target=target,
        criterion=criterion,
        seed=seed,
        subjects=subjects,
    )
    return Signals(
        groups=[places[group] for group in groups],
        minimal=places[leaders[enough]],
        left_out=n_relevant - len(places),
        listed=Listed(places, samples, codes, by_subset),
    )
