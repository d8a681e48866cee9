"""With whom features matter: pairs that interact, and what features were found under.

Pairs that the bits of all pairs point to are looked at again on the codes
(`srs.engine.run.second_look`). Features that were found in trees only, and neither tell alone nor
with one partner, are looked at within the levels of up to three other relevant features.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from srs.effects.classes import told_class
from srs.engine.context import RunContext
from srs.engine.run.second_look import Levels, look_at_pairs
from srs.evidence.pairs.kind import PAIRS
from srs.inference.fdr import q_values
from srs.inference.final import FinalDecision
from srs.inference.interaction import Interaction
from srs.results.documents.pairs import ConditionRow, PairKind, PairRow
from srs.selection.effects.names import FeatureNames
from srs.selection.effects.pair_cells import describe_cells

SMALL = 0.05  # p-value of a condition that is told
MOST_UNEXPLAINED = 50  # features whose conditions are looked for
MOST_OTHERS = 24  # relevant features that may be a condition


@dataclass(frozen=True)
class FoundPair:
    """Two features by place, and what they tell together.

    q_value  of the interaction among all pairs that were looked at
    kind     "crossing" (the effect of one has another sign at the other end of the other),
             "strengthening" or "weakening" (it is stronger or weaker at the upper end), or "joint"
             where there is no direction
    """

    places: tuple[int, int]
    interaction: Interaction
    q_value: float
    kind: PairKind


@dataclass(frozen=True)
class Condition:
    """A feature by place, and the features within whose levels it tells of the target."""

    place: int
    given: tuple[int, ...]
    p_value: float


def look_again(context: RunContext, pairs: np.ndarray, by_pairs: np.ndarray) -> list[FoundPair]:
    """The pairs that interact, the surest first.

    pairs     int64 (k, 2), places; what is told of them counts among all pairs of features
    by_pairs  places of features that all pairs have found: their pair is told in any case
    """
    if not len(pairs):
        return []
    ids = context.store.feature_ids[pairs]
    pairs = np.take_along_axis(pairs, np.argsort(ids, axis=1), axis=1)  # as in the source
    found = list(look_at_pairs(context, pairs))
    n_features = context.shape.n_features
    p_values = np.array([one.p_value for one in found])
    rates = q_values(p_values, n_features * (n_features - 1) // 2)
    kept = (rates <= context.settings.fdr) | np.isin(pairs, by_pairs).any(axis=1)
    rows = [
        FoundPair((int(a), int(b)), one, float(rate), _kind(one))
        for (a, b), one, rate, is_kept in zip(pairs, found, rates, kept, strict=True)
        if is_kept
    ]
    return sorted(rows, key=lambda row: (row.interaction.p_value, row.places))


def _kind(found: Interaction) -> PairKind:
    if found.effects is None:
        return "joint"
    low, high = found.effects
    if low * high < 0 and min(abs(low), abs(high)) > 0.2 * max(abs(low), abs(high)):
        return "crossing"
    return "strengthening" if abs(high) > abs(low) else "weakening"


def find_conditions(
    context: RunContext, places: np.ndarray, relevant: np.ndarray
) -> list[Condition]:
    """Under which other relevant features those at `places` tell of the target.

    relevant: places, the most important first
    """
    places = places[:MOST_UNEXPLAINED]
    others = relevant[~np.isin(relevant, places)][:MOST_OTHERS].tolist()
    others += places.tolist()[: MOST_OTHERS - len(others)]
    if not len(places) or not others:
        return []
    levels = Levels(context, [*places.tolist(), *others])
    halves = {place: levels.of(place, 2) for place in {*places.tolist(), *others}}
    found = []
    for place in places.tolist():
        rest = [one for one in others if one != place]
        if not rest:
            continue
        tried: list[tuple[int, ...]] = [(one,) for one in rest]
        tried += combinations(rest, 2)
        best = min(_conditioned(levels, halves, place, tried), key=lambda one: one.p_value)
        wider = [(*best.given, one) for one in rest if one not in best.given]
        best = min([best, *_conditioned(levels, halves, place, wider)], key=lambda one: one.p_value)
        p_value = best.p_value * (len(tried) + len(wider))
        if p_value <= SMALL:
            found.append(Condition(place, best.given, p_value))
    return found


def _conditioned(
    levels: Levels, halves: dict[int, np.ndarray], place: int, tried: list[tuple[int, ...]]
) -> list[Condition]:
    """What a feature tells of the target within the halves of others, for each set of others."""
    found = []
    for given in tried:
        joint = sum(halves[one] * 2**at for at, one in enumerate(given))
        missing = np.any([halves[one] < 0 for one in given], axis=0)
        told = levels.interaction(halves[place], np.where(missing, -1, joint))
        found.append(Condition(place, given, told.p_value))
    return found


def with_whom(
    context: RunContext, found: FinalDecision
) -> tuple[list[PairRow], list[ConditionRow]]:
    """Pairs and conditions, for the document."""
    relevant = found.relevant
    ordered = relevant[np.argsort(-found.numbers["importance"][relevant], kind="stable")]
    conditions = find_conditions(context, found.unexplained, ordered)
    name = FeatureNames(context)
    pairs: list[PairRow] = []
    by_pairs = relevant[found.found_by(PAIRS.name)[relevant]]
    looked = look_again(context, found.pairs, by_pairs)
    cells = describe_cells(context, [one.places for one in looked])
    target = context.store.target(context.settings.target)
    is_share = not len(context.target.values)  # else: what a model of the covariates leaves
    of_first = target.n_classes == 2 and told_class(target.labels) == 0
    for at, one in enumerate(looked):
        told = one.interaction.of_other_class(is_share) if of_first else one.interaction
        low, high = told.effects or (None, None)
        means = told.means or (None, None, None, None)
        first, second = one.places
        pairs.append(
            {
                "feature_id": name.id_of(first),
                "name": name.of(first),
                "partner_id": name.id_of(second),
                "partner": name.of(second),
                "statistic": one.interaction.statistic,
                "p_value": one.interaction.p_value,
                "q_value": one.q_value,
                "kind": one.kind,
                "low": low,
                "high": high,
                "mean_low_low": means[0],
                "mean_high_low": means[1],
                "mean_low_high": means[2],
                "mean_high_high": means[3],
            }
        )
        if at < len(cells):
            pairs[-1]["cells"] = cells[at]
    return pairs, [
        {
            "feature_id": name.id_of(one.place),
            "name": name.of(one.place),
            "given_ids": [name.id_of(place) for place in one.given],
            "given": [name.of(place) for place in one.given],
            "p_value": one.p_value,
        }
        for one in conditions
    ]
