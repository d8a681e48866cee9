"""Evidence to p-values, q-values and verdicts.

The null is what the probes show, all of them together, for each kind of evidence by itself. In
the bulk a p-value is a rank among probes; beyond their largest values it comes from a generalised
Pareto tail, so that a few relevant features among a million can be significant. It is never 0.
The kinds are combined by Bonferroni. The relevant set is the largest one that keeps two promises:
the expected share of false features is at most the false discovery rate (Benjamini-Hochberg), and
with 95 % confidence the share itself is. Lists of hundreds are bound by the first, short ones by
the second: an expectation of 10 % says little of a list of ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from scipy.special import pdtrik

from srs.evidence import Evidence
from srs.subspace import Pool

TAIL_SHARE = 0.01  # of the probes, fitted by the tail
MIN_TAIL = 25  # fewest probes that a tail is fitted on
MIN_EXCEEDING = 10  # with fewer probes above it, a p-value comes from the tail
CONFIDENCE = 0.95  # that the share of false features is at most the false discovery rate
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
    """

    p_value: np.ndarray
    q_value: np.ndarray
    verdict: np.ndarray

    @property
    def relevant(self) -> np.ndarray:
        """Places of the relevant features, ascending."""
        return np.flatnonzero(self.verdict == Verdict.RELEVANT)


def decide(
    evidence: Evidence,
    kinds: tuple[str, ...],
    fdr: float,
    excluded: np.ndarray | None = None,
    coarse: bool = False,
) -> Decision:
    """Verdicts from paired probes (role 0 is the feature, the others are its probes).

    excluded  places that get no verdict of their own (pinned features)
    coarse    leave p-values above 0.1 at 1: the relevant set is the same, for a fraction of the
              time and memory
    """
    drawn = evidence.n_drawn > 0
    if excluded is not None:
        drawn[excluded] = False
    all_drawn = bool(drawn.all())
    p_value = np.ones(len(drawn))
    for kind in kinds:
        statistic = evidence.statistic(kind)
        null = statistic[1:].ravel() if all_drawn else statistic[1:][:, drawn].ravel()
        found = null_p_values(statistic[0], null, coarse)
        np.minimum(p_value, found * len(kinds), out=p_value, where=drawn)
    q_value = np.ones_like(p_value)
    q_value[drawn] = q_values(p_value[drawn])
    verdict = np.full(len(p_value), Verdict.UNDECIDED, np.uint8)
    verdict[drawn & (p_value > CLEARLY_NULL)] = Verdict.IRRELEVANT
    verdict[drawn & (q_value <= fdr)] = Verdict.RELEVANT
    return Decision(p_value, q_value, verdict)


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


def null_p_values(observed: np.ndarray, null: np.ndarray, coarse: bool = False) -> np.ndarray:
    """P(probe >= observed) for each observed value, from a sample of probes.

    coarse: p-values above about 0.1 are left at 1.

    >>> import numpy as np
    >>> null_p_values(np.array([0.5, 2.5]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.5]
    """
    n_null = len(null)
    p_values = np.ones(len(observed))
    if coarse and n_null >= 1_000:
        least = np.partition(null, n_null - n_null // 10)[n_null - n_null // 10]
        null = null[null >= least]
        chosen = np.flatnonzero(observed >= least)
    else:
        chosen = np.arange(len(observed))
    null = np.sort(null)
    n_at_least = len(null) - np.searchsorted(null, observed[chosen], side="left")
    p_values[chosen] = (n_at_least + 1.0) / (n_null + 1.0)
    n_tail = int(n_null * TAIL_SHARE)
    if n_tail < MIN_TAIL:
        n_tail = min(MIN_TAIL, n_null // 4)
    if n_tail < 10:
        return p_values
    threshold = float(null[len(null) - n_tail - 1])
    excess = null[null > threshold].astype(np.float64) - threshold
    far = chosen[(n_at_least < MIN_EXCEEDING) & (observed[chosen] > threshold)]
    if len(excess) >= 10 and len(far):
        shape, scale = fit_tail(excess)
        beyond = tail_survival(observed[far].astype(np.float64) - threshold, shape, scale)
        p_values[far] = np.maximum(len(excess) / n_null * beyond, np.finfo(float).tiny)
    return p_values


def fit_tail(excess: np.ndarray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution, by probability-weighted moments.

    The shape is kept between 0 (exponential) and 0.5: a negative shape would end the tail at a
    point beyond which p-values were 0.
    """
    ordered = np.sort(excess)
    n = len(ordered)
    mean = float(ordered.mean())
    weighted = float((ordered * (n - 1 - np.arange(n))).sum() / (n * (n - 1)))
    shape = 2.0 - mean / (mean - 2.0 * weighted) if mean > 2.0 * weighted else 0.0
    shape = min(max(shape, 0.0), 0.5)
    return shape, mean * (1.0 - shape)


def tail_survival(excess: np.ndarray, shape: float, scale: float) -> np.ndarray:
    """P(X > excess) of the generalised Pareto distribution."""
    if scale <= 0:
        return np.ones_like(excess)
    if shape < 1e-6:
        return np.exp(-excess / scale)
    return (1.0 + shape * excess / scale) ** (-1.0 / shape)


def q_values(p_values: np.ndarray) -> np.ndarray:
    """The smallest false discovery rate at which each feature would be selected.

    At a cut that selects k features, n x p false ones are expected (Benjamini-Hochberg), and with
    confidence CONFIDENCE there are at most the Poisson quantile of that. The larger of the two,
    as a share of k, is the rate at that cut.

    >>> import numpy as np
    >>> q_values(np.array([0.001, 0.2, 1.0])).round(3).tolist()
    [0.003, 1.0, 1.0]
    """
    n = len(p_values)
    ranked = np.ones(n)
    small = np.flatnonzero(p_values < 1.0)  # the others have a rate of 1 at any rank
    order = small[np.argsort(p_values[small], kind="stable")]
    expected = p_values[order] * n
    rate = np.maximum(expected, poisson_quantile(expected)) / np.arange(1, len(order) + 1)
    ranked[order] = np.minimum(np.minimum.accumulate(rate[::-1])[::-1], 1.0)
    return ranked


def poisson_quantile(mean: np.ndarray) -> np.ndarray:
    """The smallest k with P(Poisson(mean) <= k) >= CONFIDENCE; beyond 1,000 by its normal limit."""
    quantile: np.ndarray = np.ceil(mean + 1.645 * np.sqrt(mean))
    small = mean < 1_000
    quantile[small] = np.ceil(np.maximum(pdtrik(CONFIDENCE, np.maximum(mean[small], 1e-9)), 0.0))
    quantile[mean < -np.log(CONFIDENCE)] = 0.0
    return quantile


def choose_pool(evidence: Evidence, kinds: tuple[str, ...], size: int, pinned: np.ndarray) -> Pool:
    """The columns that trees may carry next: the best, by any kind, of features and probes alike.

    Kinds take turns, so that each has its own best in the pool. Pinned features stand first.
    """
    n_features = len(evidence.n_drawn)
    rankings = []
    for kind in kinds:
        flat = evidence.statistic(kind).ravel()
        n_best = min(size, len(flat))
        best = np.argpartition(flat, len(flat) - n_best)[len(flat) - n_best :]
        # Ties by column number would favour features over probes: break them by place first.
        order = np.lexsort((best // n_features, best % n_features, -flat[best]))
        rankings.append(best[order][flat[best[order]] > 0])
    chosen: dict[int, None] = {}
    for rank in range(size):
        for ranking in rankings:
            if rank < len(ranking):
                chosen.setdefault(int(ranking[rank]))
    columns = np.array([c for c in chosen if c % n_features not in set(pinned.tolist())], np.int64)
    columns = columns[:size]
    return Pool(
        np.concatenate([pinned, columns % n_features]),
        np.concatenate([np.zeros(len(pinned)), columns // n_features]).astype(np.uint8),
    )
