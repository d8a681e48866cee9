"""p-values of each kind of evidence, and how the kinds are combined: weighted Bonferroni.

The null of a kind is what the probes of like features show (`srs.inference.feature_classes`); how a
p-value comes from it is in `srs.inference.null`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from srs.evidence.arrays import PIECE, Evidence
from srs.evidence.registry import evidence_kind
from srs.inference.fdr import count_rejected
from srs.inference.null import Null, Tail

KNOWN_SHARE = 0.85  # of the error rate goes to the kind that finds most, where it finds very many


MANY_FOUND = 100  # features, at which half of that share does


def _members(feature_classes: np.ndarray | None, drawn: np.ndarray) -> Iterator[slice | np.ndarray]:
    """Places of each feature class that were drawn, one feature class after the other."""
    if feature_classes is None or feature_classes.max(initial=0) == 0:
        yield slice(None) if drawn.all() else np.flatnonzero(drawn)
        return
    for number in range(int(feature_classes.max()) + 1):
        pieces = []
        for start in range(0, len(feature_classes), PIECE):
            here = slice(start, start + PIECE)
            found = np.flatnonzero(drawn[here] & (feature_classes[here] == number))
            pieces.append((start + found).astype(np.int32))
        members = np.concatenate(pieces)
        del pieces
        if len(members):
            yield members


def combined_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
) -> tuple[np.ndarray, dict[str, list[Tail]], dict[str, float]]:
    """p-values of features by place: the smallest of the kinds, each divided by its weight.

    Also the tails of each kind, and the weights.
    """
    tails, weights = small_p_values(evidence, kinds, feature_classes, drawn, fdr)[
        1:
    ]  # they are not kept
    combined = np.ones(len(evidence.n_drawn))
    for kind, null, members in _nulls(evidence, kinds, feature_classes, drawn, coarse=False):
        for at, p_value in _p_values(evidence, kind, null, members):
            combined[at] = np.minimum(combined[at], p_value / weights[kind])
        del null  # before the next is made
    return combined, tails, weights


def small_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
) -> tuple[dict[str, list[tuple[np.ndarray, np.ndarray]]], dict[str, list[Tail]], dict[str, float]]:
    """For each kind places and p-values, those up to `fdr`; the tails and the weights."""
    n_features = len(evidence.n_drawn)
    small: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {kind: [] for kind in kinds}
    tails: dict[str, list[Tail]] = {kind: [] for kind in kinds}
    for kind, null, members in _nulls(evidence, kinds, feature_classes, drawn, coarse=True):
        tails[kind].append(null.tail)
        for at, p_value in _p_values(evidence, kind, null, members):
            below = p_value <= fdr
            small[kind].append((at[below], p_value[below]))
        del null  # before the next is made
    n_found = {
        kind: count_rejected(np.concatenate([p for _, p in found]), n_features, fdr)
        for kind, found in small.items()
        if found
    }
    return small, tails, kind_weights(n_found or dict.fromkeys(kinds, 0))


def _nulls(
    evidence: Evidence,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray | None,
    drawn: np.ndarray,
    coarse: bool,
) -> Iterator[tuple[str, Null, slice | np.ndarray]]:
    """For each feature class and kind: what its probes show, and the places of its features."""
    for members in _members(feature_classes, drawn):
        for kind in kinds:
            yield kind, _null(evidence, kind, members, coarse), members


def _null(evidence: Evidence, kind: str, members: slice | np.ndarray, coarse: bool) -> Null:
    probes = evidence.statistic(kind, slice(1, None), members)
    shared = np.may_share_memory(probes, evidence.by_kind[kind])  # and must not be reordered
    return Null.of(probes.flatten() if shared else probes.ravel(), coarse)


def _p_values(
    evidence: Evidence, kind: str, null: Null, members: slice | np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places and their p-values, a piece of the members at a time."""
    n_members = len(evidence.n_drawn) if isinstance(members, slice) else len(members)
    for start in range(0, n_members, PIECE):
        if isinstance(members, slice):
            places = np.arange(start, min(start + PIECE, n_members), dtype=np.int32)
        else:
            places = members[start : start + PIECE]
        chosen, found = null.p_values(evidence.statistic(kind, slice(0, 1), places)[0])
        yield places[chosen], found


def kind_weights(n_found: dict[str, int]) -> dict[str, float]:
    """How the error rate is shared among the kinds, from how many features each finds alone.

    Where few are found, fixed shares: no kind is known to see best, and choosing one by a handful
    of features would break the rate. Where one kind finds hundreds, most goes to it: weak effects
    of that kind gain, and what another alone sees is seldom so weak that a tenth is too little.

    >>> kind_weights({"used": 0, "screened": 0, "peak": 0})
    {'used': 0.3, 'screened': 0.5, 'peak': 0.2}
    >>> {k: round(w, 2) for k, w in kind_weights({"used": 5, "screened": 900, "peak": 30}).items()}
    {'used': 0.07, 'screened': 0.88, 'peak': 0.05}
    """
    best = max(n_found, key=lambda kind: n_found[kind])
    known = KNOWN_SHARE * n_found[best] / (n_found[best] + MANY_FOUND)
    shares = {kind: evidence_kind(kind).share for kind in n_found}
    total = sum(shares.values())
    weights = {kind: (1.0 - known) * share / total for kind, share in shares.items()}
    weights[best] += known
    return weights
