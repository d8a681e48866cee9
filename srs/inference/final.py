"""The final decision of a run: a verdict on every feature, and the grounds for it.

It stays within the memory of the loop (`srs.engine.memory.coordinator_mem`): what has been looked
at is given up before the next is made. So the evidence is used up by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from srs.evidence.arrays import Evidence
from srs.evidence.halves import Halves
from srs.evidence.histogram import Histogram
from srs.evidence.pairs.kind import PAIRS
from srs.evidence.registry import evidence_kind, with_probes
from srs.evidence.told import DIRECTION
from srs.evidence.used import USED
from srs.inference.combine import combine_kinds
from srs.inference.decide import Verdict, find_drawn, judge, smallest
from srs.inference.fdr import q_values
from srs.inference.grounds import Grounds, describe_grounds
from srs.inference.interim import Rule, find_relevant
from srs.inference.knockoff import knockoff_plus
from srs.inference.paper import decide_paper
from srs.inference.partners import strong_pairs, unexplained
from srs.settings import Settings


@dataclass(frozen=True)
class FinalDecision:
    """What was found.

    numbers     by place: p_value, q_value, verdict, found_by, stability, importance, effect,
                n_drawn, n_used, and direction if there is a univariate test
    kinds       names of the kinds of evidence that counted; `found_by` counts them
    grounds     what verdicts rest on, see `srs.inference.grounds`
    histograms  for each kind of evidence, how many features and probes have how much of it
    pairs       int64 (k, 2): places of relevant features and of their best partners
    unexplained int64: places of relevant features that neither tell alone nor are in a pair
    """

    numbers: dict[str, np.ndarray]
    kinds: tuple[str, ...]
    grounds: Grounds
    histograms: dict[str, Histogram]
    pairs: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    unexplained: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def relevant(self) -> np.ndarray:
        """Places of the relevant features, ascending."""
        return np.flatnonzero(self.numbers["verdict"] == Verdict.RELEVANT)

    def found_by(self, kind: str) -> np.ndarray:
        """By place: whether this kind of evidence adds most to what is known of a feature."""
        numbers = self.numbers.get("found_by", np.full(len(self.numbers["verdict"]), 255))
        return _is_found_by(numbers, self.kinds, kind)


def decide_all(
    evidence: Evidence,
    settings: Settings,
    *,
    halves: Halves | None,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray,
    pinned: np.ndarray,
    relevant: np.ndarray,
    n_trees: int,
) -> FinalDecision:
    """Decide on all features; the arrays of `evidence` and `halves` are used up.

    halves           evidence of the halves of the trees; None in paper mode
    kinds            kinds of evidence that count
    feature_classes  by place, see `srs.inference.feature_classes`
    pinned           places that get no verdict of their own
    relevant         places of the relevant set, which in paper mode never shrinks
    n_trees          trees that were grown
    """
    histograms = evidence.histograms(kinds)
    n_halves = None
    if halves is not None:
        rule = Rule.of(settings, kinds, feature_classes, pinned)
        n_halves = _count_halves(evidence, halves, rule)
        halves.release()
    with_whom = {}
    if settings.mode == "paper":
        numbers, grounds = _decide_paper(evidence, settings, relevant)
        numbers["effect"] = _effect(evidence)
    else:
        drawn = find_drawn(evidence, pinned)
        numbers, grounds = _decide(evidence, settings, kinds, feature_classes, drawn)
        found = np.flatnonzero(numbers["verdict"] == Verdict.RELEVANT)
        by_pairs = found[_is_found_by(numbers["found_by"], kinds, PAIRS.name)[found]]
        pairs = strong_pairs(evidence, drawn, settings.fdr, found, by_pairs)
        with_whom = {"pairs": pairs, "unexplained": unexplained(evidence, found, pairs)}
        if DIRECTION in evidence.told:
            numbers[DIRECTION] = evidence.told.pop(DIRECTION)
        evidence.told.clear()
    for kind in evidence.by_kind:
        evidence.release(kind)
    numbers["stability"] = _stability(n_halves, len(evidence.n_drawn), pinned)
    numbers["importance"] = evidence.release("importance") / np.float32(max(n_trees, 1))
    numbers["n_drawn"], numbers["n_used"] = evidence.release("n_drawn"), evidence.release("n_used")
    return FinalDecision(numbers, kinds, grounds, histograms, **with_whom)


def _decide(
    evidence: Evidence,
    settings: Settings,
    kinds: tuple[str, ...],
    feature_classes: np.ndarray,
    drawn: np.ndarray,
) -> tuple[dict[str, np.ndarray], Grounds]:
    """p-values, q-values, verdicts, kinds that found features and effects by place, and the
    grounds. Evidence that comes from trees is used up."""
    fdr = settings.fdr
    # First, while there is room: it is the other rule's opinion, or what is decided by.
    knockoffs = knockoff_plus(evidence, with_probes(kinds), fdr, feature_classes)
    combined = combine_kinds(evidence, kinds, feature_classes, drawn, fdr)
    for kind in (kind for kind in evidence.by_kind if not evidence_kind(kind).has_p_values):
        if kind != USED.name:
            evidence.release(kind)
    effect = _effect(evidence)
    evidence.release(USED.name)
    confident = settings.guarantee == "confident"
    q_value = q_values(combined.p_value, int(np.count_nonzero(drawn)), confident=confident)
    by_knockoffs = settings.rule == "knockoff"
    chosen = knockoffs if by_knockoffs else q_value <= fdr
    if settings.n_features is not None:
        chosen = smallest(combined.p_value, drawn, settings.n_features)
    verdict = judge(combined.p_value, drawn, chosen)
    other = q_value <= fdr if by_knockoffs else knockoffs
    grounds = describe_grounds(settings, combined, verdict == Verdict.RELEVANT, other)
    numbers = {
        "p_value": combined.p_value,
        "q_value": q_value,
        "verdict": verdict,
        "found_by": combined.found_by,
        "effect": effect,
    }
    return numbers, grounds


def _is_found_by(found_by: np.ndarray, kinds: tuple[str, ...], kind: str) -> np.ndarray:
    """By place: whether this kind of evidence adds most."""
    number = kinds.index(kind) if kind in kinds else len(kinds)
    found: np.ndarray = found_by == number
    return found


def _decide_paper(
    evidence: Evidence, settings: Settings, relevant: np.ndarray
) -> tuple[dict[str, np.ndarray], Grounds]:
    decided = decide_paper(evidence, settings)
    decided.verdict[relevant] = Verdict.RELEVANT
    numbers = {"p_value": decided.p_value, "q_value": decided.q_value, "verdict": decided.verdict}
    return numbers, {"rule": "paper", "kinds": [], "second_opinion": None}


def _count_halves(evidence: Evidence, halves: Halves, rule: Rule) -> np.ndarray:
    """uint8 by place: in how many halves of the trees the feature is found."""
    found = np.zeros(len(evidence.n_drawn), np.uint8)
    for half in halves.of(evidence):
        found[find_relevant(half, rule)] += np.uint8(1)
    return found


def _stability(n_halves: np.ndarray | None, n_features: int, pinned: np.ndarray) -> np.ndarray:
    """float32 by place: share of the halves of the trees in which the feature is found; not a
    number where that is not known."""
    if n_halves is None:
        return np.full(n_features, np.nan, np.float32)
    found: np.ndarray = np.float32(0.5) * n_halves
    found[pinned] = np.nan
    return found


def _effect(evidence: Evidence) -> np.ndarray:
    """float32 by place: decrease a draw, less what probes get on average."""
    probes = evidence.statistic(USED.name, slice(1, None))
    mean = probes.mean() if len(probes) else np.float32(0.0)
    del probes
    effect: np.ndarray = evidence.statistic(USED.name, slice(0, 1))[0]
    effect -= mean
    return effect
