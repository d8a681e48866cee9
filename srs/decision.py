"""Evidence to p-values, q-values and verdicts.

The null is what the probes of like features show (`srs.strata`), for each kind of evidence by
itself; how a p-value comes from it is in `srs.null`. The kinds are combined by weighted Bonferroni
(`kind_weights`). The relevant set is the largest one that keeps two promises: the expected share
of false features is at most the false discovery rate (Benjamini-Hochberg), and either at most a
quarter of a false feature is expected in all, or the share itself is kept with 99.9 % confidence.
Lists of hundreds are bound by the first, lists of ten or twenty by the second: an expected share
of 10 % would be two false features among twenty. The knockoff+ filter is a second opinion, or the
rule on wish.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from scipy.special import ndtri, pdtr, pdtrik

from srs.evidence import PIECE, Evidence
from srs.null import Tail, find_p_values
from srs.subspace import Pool

CONFIDENCE = 0.999  # that the share of false features is at most the false discovery rate
FEW_FALSE = 0.25  # expected false features, up to which no such confidence is asked for
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
    coarse: bool = False,
) -> Decision:
    """Verdicts from paired probes (role 0 is the feature, the others are its probes).

    strata    by place: a feature is compared with the probes of its stratum; None: with all
    excluded  places that get no verdict of their own (pinned features)
    rule      "tail": by q-values; "knockoff": by the knockoff+ filter
    coarse    leave p-values above 0.1, and rates above fdr, at 1: the relevant set is the same,
              for a fraction of the time and memory
    """
    drawn = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    p_value, tails, weights = combined_p_values(evidence, kinds, strata, drawn, fdr, coarse)
    q_value = np.ones_like(p_value)
    # A p-value of 1 has a rate of 1 at any rank.
    small = _may_be_relevant(p_value, drawn, fdr) if coarse else drawn & (p_value < 1.0)
    q_value[small] = q_values(p_value[small], int(np.count_nonzero(drawn)))
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    if rule == "knockoff":
        verdict[drawn & knockoff_plus(evidence, kinds, fdr, strata)] = Verdict.RELEVANT
    else:
        verdict[drawn & (q_value <= fdr)] = Verdict.RELEVANT
    return Decision(p_value, q_value, verdict, tails, weights)


def _may_be_relevant(p_value: np.ndarray, drawn: np.ndarray, fdr: float) -> np.ndarray:
    """Features whose rate could be at most `fdr`: bool by place, few of many.

    With m features of p-values up to a cut, no p-value above fdr x m / n has such a rate.
    """
    n, cut = max(1, int(np.count_nonzero(drawn))), fdr
    while True:
        some = drawn & (p_value <= cut)
        lower = fdr * np.count_nonzero(some) / n
        if lower >= cut:
            return some
        cut = lower


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
    coarse: bool,
) -> tuple[np.ndarray, dict[str, list[Tail]], dict[str, float]]:
    """p-values of features by place: the smallest of the kinds, each divided by its weight.

    Also the tails of each kind, and the weights.
    """
    n_features = len(evidence.n_drawn)
    small: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {kind: [] for kind in kinds}
    tails: dict[str, list[Tail]] = {kind: [] for kind in kinds}
    for kind, at, p_value, tail in _kind_p_values(evidence, kinds, strata, drawn, coarse=True):
        tails[kind].append(tail)
        below = np.flatnonzero(p_value < 1.0)
        places = np.arange(n_features)[at] if isinstance(at, slice) else at
        small[kind].append((places[below], p_value[below]))
    n_found = {
        kind: count_rejected(np.concatenate([p for _, p in found]), n_features, fdr)
        for kind, found in small.items()
        if found
    }
    weights = kind_weights(n_found or dict.fromkeys(kinds, 0))
    combined = np.ones(n_features)
    if coarse:
        for kind, found in small.items():
            for at, p_value in found:
                combined[at] = np.minimum(combined[at], p_value / weights[kind])
        return combined, tails, weights
    small.clear()
    for kind, at, p_value, _ in _kind_p_values(evidence, kinds, strata, drawn, coarse=False):
        p_value /= weights[kind]
        combined[at] = np.minimum(combined[at], p_value, out=p_value)
    return combined, tails, weights


def _kind_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    strata: np.ndarray | None,
    drawn: np.ndarray,
    coarse: bool,
) -> Iterator[tuple[str, slice | np.ndarray, np.ndarray, Tail]]:
    """For each stratum and kind: the places, their p-values, and the tail of the null."""
    for members in _members(strata, drawn):
        for kind in kinds:
            chosen, found, tail = find_p_values(
                evidence.statistic(kind, slice(0, 1), members)[0],
                _owned(evidence, evidence.statistic(kind, slice(1, None), members)), coarse,
            )  # fmt: skip
            at = chosen if isinstance(members, slice) else members[chosen]
            yield kind, at, found, tail
            del found  # before the next is made


def _owned(evidence: Evidence, statistic: np.ndarray) -> np.ndarray:
    """The values in one row that may be reordered: a copy, if they are the evidence itself."""
    shared = np.may_share_memory(statistic, evidence.peak)
    return statistic.flatten() if shared else statistic.ravel()


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


def count_rejected(p_values: np.ndarray, n: int, fdr: float) -> int:
    """How many of n features Benjamini-Hochberg selects; p-values that are left out are 1.

    >>> import numpy as np
    >>> count_rejected(np.array([0.001, 0.04, 0.5]), 4, 0.1)
    2
    """
    small = np.sort(p_values[p_values <= fdr])
    passing = np.flatnonzero(small <= fdr * np.arange(1, len(small) + 1) / n)
    return int(passing[-1]) + 1 if len(passing) else 0


def knockoff_plus(
    evidence: Evidence, kinds: tuple[str, ...], fdr: float, strata: np.ndarray | None = None
) -> np.ndarray:
    """Which features the knockoff+ filter selects: bool by place.

    A feature competes with its own (first) probe: the difference of their best evidence is as
    likely positive as negative if the feature is irrelevant. Needs at least 1 / fdr discoveries.
    """
    best = np.zeros((2, len(evidence.n_drawn)), np.float32)
    for kind in kinds:
        best = np.maximum(best, scaled_statistic(evidence, kind, strata)[:2])
    lead = best[0] - best[1]
    cuts = np.sort(np.abs(lead[lead != 0]))[::-1]
    if not len(cuts):
        return np.zeros(len(lead), np.bool_)
    wins, losses = np.sort(lead[lead > 0]), np.sort(-lead[lead < 0])
    n_wins = len(wins) - np.searchsorted(wins, cuts, side="left")
    n_losses = len(losses) - np.searchsorted(losses, cuts, side="left")
    good = np.flatnonzero((1.0 + n_losses) / np.maximum(n_wins, 1) <= fdr)
    return lead >= cuts[good[-1]] if len(good) else np.zeros(len(lead), np.bool_)


def scaled_statistic(evidence: Evidence, kind: str, strata: np.ndarray | None) -> np.ndarray:
    """One kind of evidence in units of its mean in the feature's stratum, probes included."""
    statistic = evidence.statistic(kind)
    if strata is None or strata.max(initial=0) == 0:
        mean = np.float32(max(float(statistic.mean()), 1e-30))
        shared: np.ndarray = np.divide(statistic, mean, out=None if kind == "peak" else statistic)
        return shared
    totals, counts = np.zeros(256), np.zeros(256)
    pieces = [slice(start, start + PIECE) for start in range(0, len(strata), PIECE)]
    for here in pieces:
        means = statistic[:, here].mean(axis=0)
        totals += np.bincount(strata[here], weights=means, minlength=256)
        counts += np.bincount(strata[here], minlength=256)
    scale = np.maximum(totals / np.maximum(counts, 1), 1e-30).astype(np.float32)
    scaled = np.empty_like(statistic) if kind == "peak" else statistic
    for here in pieces:
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


def q_values(p_values: np.ndarray, n: int | None = None) -> np.ndarray:
    """The smallest false discovery rate at which each feature would be selected.

    n: features that were tested, if those with a p-value of 1 were left out

    At a cut that selects k features, n x p false ones are expected (Benjamini-Hochberg). With
    confidence CONFIDENCE there are at most the Poisson quantile of that, which counts where more
    than FEW_FALSE are expected. The larger of the two, as a share of k, is the rate at that cut.

    >>> import numpy as np
    >>> q_values(np.array([0.001, 0.2, 1.0])).round(3).tolist()
    [0.003, 1.0, 1.0]
    """
    n = len(p_values) if n is None else n
    ranked = np.ones(len(p_values))
    small = np.flatnonzero(p_values < 1.0)  # the others have a rate of 1 at any rank
    order = small[np.argsort(p_values[small], kind="stable")]
    expected = p_values[order] * n
    ranks = np.arange(1, len(order) + 1)
    rate = expected / ranks
    few = (rate < 1.0) & (expected > FEW_FALSE)  # elsewhere the quantile, slow to compute, is idle
    rate[few] = np.maximum(expected[few], poisson_quantile(expected[few])) / ranks[few]
    ranked[order] = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)
    return ranked


def poisson_quantile(mean: np.ndarray) -> np.ndarray:
    """The smallest k with P(Poisson(mean) <= k) >= CONFIDENCE; beyond 1,000 by its normal limit."""
    quantile: np.ndarray = np.ceil(mean + ndtri(CONFIDENCE) * np.sqrt(mean))
    small = mean < 1_000
    means = np.maximum(mean[small], 1e-9)
    found = np.ceil(np.maximum(pdtrik(CONFIDENCE, means), 0.0))
    one_less = np.maximum(found - 1.0, 0.0)  # rounding in pdtrik may make it one too large
    quantile[small] = np.where(pdtr(one_less, means) >= CONFIDENCE, one_less, found)
    return quantile


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
