"""p-values of each kind of evidence, and how the kinds are combined: the Cauchy rule.

The null of a kind is what the probes of like features show (`srs.inference.feature_classes`); how a
p-value comes from it is in `srs.inference.null`. Kinds that test by themselves bring p-values of
their own. The kinds tell of the same samples and so depend on one another. The sum of
cot(pi p) with weights that add up to 1 is Cauchy distributed in its tail whatever the dependence
(Liu and Xie, 2020), and small p-values of several kinds add up, which the smallest p-value of all
divided by its share would waste.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from srs.evidence.arrays import PIECE, Evidence
from srs.evidence.registry import evidence_kind
from srs.inference.fdr import count_rejected
from srs.inference.null import Null, Tail

KNOWN_SHARE = 0.85  # of the weights follows what each kind finds, the rest is fixed
FEW_FOUND = 3  # features, up to which the weights stay near the fixed ones
FOUND_POWER = 3.0  # weights grow with this power of the number found
LARGEST = 0.99  # p-values count as no more: one near 1 would outweigh a small one of another kind


@dataclass(frozen=True)
class Combined:
    """What the kinds of evidence say together, by place.

    p_value   float64; 1 where never drawn
    found_by  uint8: number of the kind, as they were given, that adds most
    tails     for each kind with probes, the tail of the null of each feature class
    weights   for each kind, its share
    """

    p_value: np.ndarray
    found_by: np.ndarray
    tails: dict[str, list[Tail]]
    weights: dict[str, float]


def combine_kinds(
    evidence: Evidence,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
    *,
    found_by: bool = True,
) -> Combined:
    """One p-value a feature from all kinds of evidence; `found_by` is empty if it is not asked for.

    All kinds of a piece of the features are put together before the next piece: of a feature no
    more is held than what is returned.
    """
    nulls, weights = _weigh(evidence, kinds, feature_classes, drawn, fdr)
    combined = np.ones(len(evidence.n_drawn))
    numbers = np.zeros(len(combined) if found_by else 0, np.uint8)
    for start in range(0, len(combined), PIECE):
        places = np.flatnonzero(drawn[start : start + PIECE]).astype(np.int32) + np.int32(start)
        total = np.zeros(len(places))
        most = np.full(len(places), -np.inf, np.float32)
        best = np.zeros(len(places), np.uint8)
        for number, kind in enumerate(kinds):
            for at, p_value in _p_values(evidence, kind, places, nulls.get(kind), feature_classes):
                term = weights[kind] / np.tan(np.pi * np.minimum(p_value, LARGEST))
                total[at] += term
                term = np.minimum(term, 1e30)  # which float32 holds
                better = term > most[at]
                most[at] = np.where(better, term, most[at])
                best[at] = np.where(better, np.uint8(number), best[at])
        combined[places] = np.arctan2(1.0, total) / np.pi
        if found_by:
            numbers[places] = best
    tails = {kind: [null.tail for null in of_kind.values()] for kind, of_kind in nulls.items()}
    return Combined(combined, numbers, tails, weights)


def _weigh(
    evidence: Evidence,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
) -> tuple[dict[str, dict[int, Null]], dict[str, float]]:
    """The nulls of the kinds with probes, by feature class, and the weights of all kinds."""
    nulls: dict[str, dict[int, Null]] = {}
    n_found, n_drawn = {}, max(1, int(np.count_nonzero(drawn)))
    for kind in kinds:
        small = [np.empty(0)]
        if evidence_kind(kind).has_p_values:
            small += [p[p <= fdr] for p in _own_small(evidence, kind, drawn)]
        else:
            nulls[kind] = {}
            for number, members in _members(feature_classes, drawn):
                null = _null(evidence, kind, members)
                for observed in _observed(evidence, kind, members):
                    p_value = null.small_p_values(observed[observed >= null.least])
                    small.append(p_value[p_value <= fdr])
                nulls[kind][number] = null
        n_found[kind] = count_rejected(np.concatenate(small), n_drawn, fdr)
    return nulls, kind_weights(n_found)


def kind_weights(n_found: Mapping[str, int]) -> dict[str, float]:
    """Weights of the kinds, from how many features each finds alone.

    Where few are found they stay near fixed shares: no kind is known to see best, and choosing one
    by a handful of features would break the rate. Where one kind finds many, most goes to it: weak
    effects of that kind gain, and what another alone sees is seldom so weak that the rest is too
    little.

    >>> {k: round(w, 2) for k, w in kind_weights({"used": 0, "univariate": 0}).items()}
    {'used': 0.23, 'univariate': 0.77}
    >>> {k: round(w, 2) for k, w in kind_weights({"used": 50, "univariate": 20}).items()}
    {'used': 0.7, 'univariate': 0.3}
    """
    shares = {kind: evidence_kind(kind).share for kind in n_found}
    total = sum(shares.values())
    grown = {kind: shares[kind] * (FEW_FOUND + n) ** FOUND_POWER for kind, n in n_found.items()}
    return {
        kind: KNOWN_SHARE * grown[kind] / sum(grown.values())
        + (1.0 - KNOWN_SHARE) * shares[kind] / total
        for kind in n_found
    }


def _p_values(
    evidence: Evidence,
    kind: str,
    places: np.ndarray,
    nulls: Mapping[int, Null] | None,
    feature_classes: np.ndarray | None,
) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
    """Which of the places, and their p-values of one kind: those of a feature class at a time."""
    if nulls is None:  # it tests by itself; a feature that it says nothing of is left out
        values = evidence.by_kind[kind][0][places]
        told = np.flatnonzero(values >= 0)
        yield told, _as_p_values(values[told])
        return
    observed = evidence.statistic(kind, slice(0, 1), places)[0]
    if feature_classes is None or len(nulls) == 1:
        for null in nulls.values():
            yield slice(None), null.p_values(observed)
        return
    numbers = feature_classes[places]
    for number, null in nulls.items():
        members = np.flatnonzero(numbers == number)
        yield members, null.p_values(observed[members])


def _own_small(evidence: Evidence, kind: str, drawn: np.ndarray) -> Iterator[np.ndarray]:
    """p-values of a kind that tests by itself, a piece at a time."""
    values = evidence.by_kind[kind][0]
    for start in range(0, len(values), PIECE):
        here = values[start : start + PIECE]
        yield _as_p_values(here[drawn[start : start + PIECE] & (here >= 0)])


def _as_p_values(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.maximum(np.exp(-values.astype(np.float64)), 1e-300)
    return found


def _null(evidence: Evidence, kind: str, members: slice | np.ndarray) -> Null:
    """What the probes of some features show."""
    probes = evidence.statistic(kind, slice(1, None), members)
    shared = np.may_share_memory(probes, evidence.by_kind[kind])  # and must not be reordered
    return Null.of(probes.flatten() if shared else probes.ravel())


def _members(
    feature_classes: np.ndarray | None, drawn: np.ndarray
) -> Iterator[tuple[int, slice | np.ndarray]]:
    """Feature classes and the places of each that were drawn, one class after the other."""
    if feature_classes is None or feature_classes.max(initial=0) == 0:
        yield 0, slice(None) if drawn.all() else np.flatnonzero(drawn)
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
            yield number, members


def _observed(evidence: Evidence, kind: str, members: slice | np.ndarray) -> Iterator[np.ndarray]:
    """The evidence of the features, a piece of the members at a time."""
    n_members = len(evidence.n_drawn) if isinstance(members, slice) else len(members)
    for start in range(0, n_members, PIECE):
        if isinstance(members, slice):
            places = np.arange(start, min(start + PIECE, n_members), dtype=np.int32)
        else:
            places = members[start : start + PIECE]
        yield evidence.statistic(kind, slice(0, 1), places)[0]
