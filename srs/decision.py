"""Evidence to p-values, q-values and verdicts.

The null is what the probes of like features show (`srs.strata`), for each kind of evidence by
itself; how a p-value comes from it is in `srs.null`. The kinds are combined by weighted Bonferroni
(`kind_weights`). The relevant set is the largest one that keeps two promises: the expected share
of false features is at most the false discovery rate (Benjamini-Hochberg), and either at most
three quarters of a false feature are expected in all, or the share itself is kept with 95 %
confidence. Lists of hundreds are bound by the first, lists of ten or twenty by the second: an
expected share of 10 % would be two false features among twenty. The knockoff+ filter is a
second opinion, or the rule on wish.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from srs.evidence import PIECE, Evidence
from srs.null import Null, Tail
from srs.rates import count_rejected, q_values
from srs.subspace import Pool

PERCENTILE_SAMPLE = 10_000  # features that percentiles of the evidence are taken from
KIND_SHARES = {"used": 0.3, "screened": 0.5, "peak": 0.2}  # of the error rate, see `kind_weights`
KNOWN_SHARE = 0.85  # of the error rate goes to the kind that finds most, where it finds very many
MANY_FOUND = 100  # features, at which half of that share does
CLEARLY_NULL = 0.05  # a feature with a larger p-value is called irrelevant


class Verdict(IntEnum):
    """What is said of a feature."""

    IRRELEVANT = 0
    UNDECIDED = 1
    RELEVANT = 2


@dataclass(frozen=True)
class Decision:
    """Verdicts of all features, by place.

    p_value  float64: combined over the kinds of evidence; 1 where never drawn
    q_value  float64: false discovery rate at which the feature would just be relevant
    verdict  uint8: values of Verdict
    tails    for each kind of evidence, the tail of the null of each stratum
    weights  for each kind of evidence, its share of the error rate
    """

    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray
    tails: dict[str, list[Tail]] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def relevant(self) -> np.ndarray:
        """Places of the relevant features, ascending."""
        return np.flatnonzero(self.verdict == Verdict.RELEVANT)


def decide(
    evidence: Evidence,
    kinds: tuple[str, ...],
    fdr: float,
    *,
    strata: np.ndarray | None = None,
    excluded: np.ndarray | None = None,
    rule: str = "tail",
) -> Decision:
    """Verdicts from paired probes (role 0 is the feature, the others are its probes).

    strata    by place: a feature is compared with the probes of its stratum; None: with all
    excluded  places that get no verdict of their own (pinned features)
    rule      "tail": by q-values; "knockoff": by the knockoff+ filter
    """
    drawn = find_drawn(evidence, excluded)
    selected = knockoff_plus(evidence, kinds, fdr, strata) if rule == "knockoff" else None
    p_value, tails, weights = combined_p_values(evidence, kinds, strata, drawn, fdr)
    q_value, verdict = judge(p_value, drawn, fdr, selected)
    return Decision(p_value, q_value, verdict, tails, weights)


def find_drawn(evidence: Evidence, excluded: np.ndarray | None) -> np.ndarray:
    """Which features get a verdict of their own: bool by place."""
    drawn: np.ndarray = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    return drawn


def judge(
    p_value: np.ndarray, drawn: np.ndarray, fdr: float, selected: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """q-values and verdicts by place, from p-values.

    drawn     bool by place: see `find_drawn`
    selected  bool by place: what is relevant by another rule; None: by q-values
    """
    q_value = q_values(p_value, int(np.count_nonzero(drawn)))
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    verdict[drawn & (q_value <= fdr if selected is None else selected)] = Verdict.RELEVANT
    return q_value, verdict


def _members(strata: np.ndarray | None, drawn: np.ndarray) -> Iterator[slice | np.ndarray]:
    """Places of each stratum that were drawn, one stratum after the other."""
    if strata is None or strata.max(initial=0) == 0:
        yield slice(None) if drawn.all() else np.flatnonzero(drawn)
        return
    for stratum in range(int(strata.max()) + 1):
        pieces = []
        for start in range(0, len(strata), PIECE):
            here = slice(start, start + PIECE)
            found = np.flatnonzero(drawn[here] & (strata[here] == stratum))
            pieces.append((start + found).astype(np.int32))
        members = np.concatenate(pieces)
        del pieces
        if len(members):
            yield members


def combined_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    strata: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
) -> tuple[np.ndarray, dict[str, list[Tail]], dict[str, float]]:
    """p-values of features by place: the smallest of the kinds, each divided by its weight.

    Also the tails of each kind, and the weights.
    """
    tails, weights = small_p_values(evidence, kinds, strata, drawn, fdr)[1:]  # they are not kept
    combined = np.ones(len(evidence.n_drawn))
    for kind, null, members in _nulls(evidence, kinds, strata, drawn, coarse=False):
        for at, p_value in _p_values(evidence, kind, null, members):
            combined[at] = np.minimum(combined[at], p_value / weights[kind])
        del null  # before the next is made
    return combined, tails, weights


def small_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    strata: np.ndarray | None,
    drawn: np.ndarray,
    fdr: float,
) -> tuple[dict[str, list[tuple[np.ndarray, np.ndarray]]], dict[str, list[Tail]], dict[str, float]]:
    """For each kind places and p-values, those up to `fdr`; the tails and the weights."""
    n_features = len(evidence.n_drawn)
    small: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {kind: [] for kind in kinds}
    tails: dict[str, list[Tail]] = {kind: [] for kind in kinds}
    for kind, null, members in _nulls(evidence, kinds, strata, drawn, coarse=True):
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
    strata: np.ndarray | None,
    drawn: np.ndarray,
    coarse: bool,
) -> Iterator[tuple[str, Null, slice | np.ndarray]]:
    """For each stratum and kind: what its probes show, and the places of its features."""
    for members in _members(strata, drawn):
        for kind in kinds:
            yield kind, _null(evidence, kind, members, coarse), members


def _null(evidence: Evidence, kind: str, members: slice | np.ndarray, coarse: bool) -> Null:
    probes = evidence.statistic(kind, slice(1, None), members)
    shared = np.may_share_memory(probes, evidence.peak)  # and must not be reordered
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
    total = sum(KIND_SHARES[kind] for kind in n_found)
    weights = {kind: (1.0 - known) * KIND_SHARES[kind] / total for kind in n_found}
    weights[best] += known
    return weights


def knockoff_plus(
    evidence: Evidence, kinds: tuple[str, ...], fdr: float, strata: np.ndarray | None = None
) -> np.ndarray:
    """Which features the knockoff+ filter selects: bool by place.

    A feature competes with its own (first) probe: the difference of their best evidence is as
    likely positive as negative if the feature is irrelevant. Needs at least 1 / fdr discoveries.
    """
    lead = _leads(evidence, kinds, strata)
    ordered = np.sort(lead)
    # The smallest cut that serves: {lead >= cut} changes at the values of features that lead only.
    for start in range(int(np.searchsorted(ordered, 0.0, side="right")), len(ordered), PIECE):
        cuts = ordered[start : start + PIECE]
        n_wins = len(ordered) - np.searchsorted(ordered, cuts, side="left")
        n_losses = np.searchsorted(ordered, -cuts, side="right")
        good = np.flatnonzero((1.0 + n_losses) / n_wins <= fdr)
        if len(good):
            chosen: np.ndarray = lead >= cuts[good[0]]
            return chosen
    return np.zeros(len(lead), np.bool_)


def _leads(evidence: Evidence, kinds: tuple[str, ...], strata: np.ndarray | None) -> np.ndarray:
    """float32 by place: the best evidence of a feature less that of its first probe."""
    scales = {kind: stratum_scales(evidence, kind, strata) for kind in kinds}
    lead = np.empty(len(evidence.n_drawn), np.float32)
    for start in range(0, len(lead), PIECE):
        places = np.arange(start, min(start + PIECE, len(lead)), dtype=np.int32)
        best = np.zeros((2, len(places)), np.float32)
        for kind in kinds:
            scale = scales[kind][0 if strata is None else strata[places]]
            np.maximum(best, evidence.statistic(kind, slice(0, 2), places) / scale, out=best)
        np.subtract(best[0], best[1], out=lead[places[0] : places[-1] + 1])
    return lead


def stratum_scales(evidence: Evidence, kind: str, strata: np.ndarray | None) -> np.ndarray:
    """float32 (256,): the mean of one kind of evidence in each stratum, probes included."""
    totals, counts = np.zeros(256), np.zeros(256)
    n_features = len(evidence.n_drawn)
    for start in range(0, n_features, PIECE):
        places = np.arange(start, min(start + PIECE, n_features), dtype=np.int32)
        means = evidence.statistic(kind, places=places).mean(axis=0)
        numbers = np.zeros(len(places), np.uint8) if strata is None else strata[places]
        totals += np.bincount(numbers, weights=means, minlength=256)
        counts += np.bincount(numbers, minlength=256)
    scales: np.ndarray = np.maximum(totals / np.maximum(counts, 1), 1e-30).astype(np.float32)
    return scales


def scaled_statistic(evidence: Evidence, kind: str, strata: np.ndarray | None) -> np.ndarray:
    """One kind of evidence in units of its mean in the feature's stratum, probes included."""
    statistic = evidence.statistic(kind)
    if strata is None or strata.max(initial=0) == 0:
        mean = np.float32(max(float(statistic.mean()), 1e-30))
        shared: np.ndarray = np.divide(statistic, mean, out=None if kind == "peak" else statistic)
        return shared
    scale = stratum_scales(evidence, kind, strata)
    scaled = np.empty_like(statistic) if kind == "peak" else statistic
    for start in range(0, len(strata), PIECE):
        here = slice(start, start + PIECE)
        np.divide(statistic[:, here], scale[strata[here]], out=scaled[:, here])
    return scaled


def decide_paper(evidence: Evidence, draws: int, share: float) -> Decision:
    """The paper's rule: drawn more than `draws` times, and better than the probe in `share`.

    The rule has no p-value; the share of draws in which the probe was not beaten stands for it.
    """
    n_drawn = np.maximum(evidence.n_drawn, 1)
    lost = 1.0 - evidence.n_wins / n_drawn
    lost[evidence.n_drawn == 0] = 1.0
    enough = evidence.n_drawn > draws
    verdict = np.full(len(lost), Verdict.UNDECIDED, np.uint8)
    verdict[enough] = Verdict.IRRELEVANT
    verdict[enough & (evidence.n_wins >= share * n_drawn)] = Verdict.RELEVANT
    return Decision(lost, lost, verdict)


def choose_pool(
    evidence: Evidence,
    kinds: tuple[str, ...],
    size: int,
    pinned: np.ndarray,
    strata: np.ndarray | None = None,
) -> Pool:
    """The columns that trees may carry next: the best, by any kind, of features and probes alike.

    Kinds take turns, so that each has its own best in the pool. Pinned features stand first.
    """
    n_features = len(evidence.n_drawn)
    rankings = []
    outstanding: set[int] = set()
    for kind in kinds:
        statistic = scaled_statistic(evidence, kind, strata)
        flat = statistic.ravel()
        best = _largest(flat, size)
        # Ties by column number would favour features over probes: break them by place first.
        ranking = best[np.lexsort((best // n_features, best % n_features, -flat[best]))][:size]
        rankings.append(ranking)
        outstanding.update(ranking[flat[ranking] > outstanding_from(statistic)].tolist())
        del statistic, flat  # before the next are made
    chosen: dict[int, None] = {}
    for rank in range(size):
        for ranking in rankings:
            if rank < len(ranking):
                chosen.setdefault(int(ranking[rank]))
    apart = set(pinned.tolist())
    columns = np.array([c for c in chosen if c % n_features not in apart], np.int64)[:size]
    stands_out = np.array([c in outstanding for c in columns.tolist()], np.bool_)
    fixed = Pool.of_pinned(pinned)
    return Pool(
        np.concatenate([fixed.places, columns % n_features]),
        np.concatenate([fixed.roles, (columns // n_features).astype(np.uint8)]),
        np.concatenate([fixed.outstanding, stands_out]),
    )


def _largest(values: np.ndarray, size: int) -> np.ndarray:
    """Where the `size` largest of the positive values are, and all that tie with the least."""
    found = []
    for start in range(0, len(values), PIECE):
        piece = values[start : start + PIECE]
        positive = piece[piece > 0]  # most columns made no split: partitioning zeros is slow
        least = 0.0
        if len(positive) > size:
            least = np.partition(positive, len(positive) - size)[len(positive) - size]
        found.append(start + np.flatnonzero((piece > 0) & (piece >= least)))
    best = np.concatenate(found)
    if len(found) == 1 or len(best) <= size:
        return best
    largest: np.ndarray = best[values[best] >= np.sort(values[best])[len(best) - size]]
    return largest


def outstanding_from(statistic: np.ndarray) -> float:
    """From where on a column stands out, from features and probes together.

    The exponential tail through the 95th and 99th percentiles, which a few relevant features do
    not move, at the level of one column in twenty runs.
    """
    some = statistic[:, :: max(1, statistic.shape[1] // PERCENTILE_SAMPLE)].ravel()
    at = [int(len(some) * 0.95), int(len(some) * 0.99)]
    low, high = np.partition(some, at)[at]
    scale = (high - low) / np.log(5.0)
    return float(high + scale * np.log(max(0.01 * statistic.size / 0.05, 1.0)))
