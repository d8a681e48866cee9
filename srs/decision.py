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

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from scipy.special import ndtri, pdtr, pdtrik

from srs.evidence import Evidence
from srs.null import Tail, null_p_values
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
    coarse    leave p-values above 0.1 at 1: the relevant set is the same, for a fraction of the
              time and memory
    """
    drawn = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    members = _members(strata, drawn)
    p_value, tails, weights = combined_p_values(evidence, kinds, members, fdr, coarse)
    q_value = np.ones_like(p_value)
    q_value[drawn] = q_values(p_value[drawn])
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    if rule == "knockoff":
        verdict[drawn & knockoff_plus(evidence, kinds, fdr, strata)] = Verdict.RELEVANT
    else:
        verdict[drawn & (q_value <= fdr)] = Verdict.RELEVANT
    return Decision(p_value, q_value, verdict, tails, weights)


def _members(strata: np.ndarray | None, drawn: np.ndarray) -> list[np.ndarray | None]:
    """Places of each stratum that were drawn; None stands for all places."""
    if strata is None or strata.max(initial=0) == 0:
        return [None if drawn.all() else np.flatnonzero(drawn)]
    members = (np.flatnonzero(drawn & (strata == s)) for s in range(int(strata.max()) + 1))
    return [m for m in members if len(m)]


def combined_p_values(
    evidence: Evidence,
    kinds: tuple[str, ...],
    strata: list[np.ndarray | None],
    fdr: float,
    coarse: bool,
) -> tuple[np.ndarray, dict[str, list[Tail]], dict[str, float]]:
    """p-values of features by place: the smallest of the kinds, each divided by its weight.

    Also the tails of each kind, and the weights.
    """
    n_features = len(evidence.n_drawn)
    small: list[tuple[np.ndarray, np.ndarray]] = []
    tails: dict[str, list[Tail]] = {}
    for kind in kinds:
        p_value, tails[kind] = kind_p_values(evidence, kind, strata, coarse=True)
        at = np.flatnonzero(p_value < 1.0)
        small.append((at, p_value[at]))
    n_found = [count_rejected(p_value, n_features, fdr) for _, p_value in small]
    weights = kind_weights(dict(zip(kinds, n_found, strict=True)))
    combined = np.ones(n_features)
    for (kind, weight), (at, p_value) in zip(weights.items(), small, strict=True):
        if coarse:
            combined[at] = np.minimum(combined[at], p_value / weight)
        else:
            p_value = kind_p_values(evidence, kind, strata, coarse=False)[0]
            np.minimum(combined, np.divide(p_value, weight, out=p_value), out=combined)
    return combined, tails, weights


def kind_p_values(
    evidence: Evidence, kind: str, strata: list[np.ndarray | None], coarse: bool
) -> tuple[np.ndarray, list[Tail]]:
    """p-values by place of one kind of evidence, and the tail of each stratum's null."""
    statistic = evidence.statistic(kind)
    p_value, tails = np.ones(statistic.shape[1]), []
    for members in strata:
        here = slice(None) if members is None else members
        p_value[here], tail = null_p_values(statistic[0][here], statistic[1:, here].ravel(), coarse)
        tails.append(tail)
    return p_value, tails


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
        return statistic / np.float32(max(float(statistic.mean()), 1e-30))
    totals = np.bincount(strata, weights=statistic.mean(axis=0))
    means = totals / np.maximum(np.bincount(strata), 1)
    scaled: np.ndarray = statistic / np.maximum(means, 1e-30).astype(np.float32)[strata]
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


def q_values(p_values: np.ndarray) -> np.ndarray:
    """The smallest false discovery rate at which each feature would be selected.

    At a cut that selects k features, n x p false ones are expected (Benjamini-Hochberg). With
    confidence CONFIDENCE there are at most the Poisson quantile of that, which counts where more
    than FEW_FALSE are expected. The larger of the two, as a share of k, is the rate at that cut.

    >>> import numpy as np
    >>> q_values(np.array([0.001, 0.2, 1.0])).round(3).tolist()
    [0.003, 1.0, 1.0]
    """
    n = len(p_values)
    ranked = np.ones(n)
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
        best = np.flatnonzero(flat > 0)  # most columns made no split: partitioning zeros is slow
        if len(best) > size:
            best = best[np.argpartition(flat[best], len(best) - size)[len(best) - size :]]
        # Ties by column number would favour features over probes: break them by place first.
        ranking = best[np.lexsort((best // n_features, best % n_features, -flat[best]))]
        rankings.append(ranking)
        outstanding.update(ranking[flat[ranking] > outstanding_from(statistic)].tolist())
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
