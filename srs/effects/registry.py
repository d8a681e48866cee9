"""Which kind of target has which effects. Kinds without effects of their own are told of as the
classes or numbers that their values are."""

from __future__ import annotations

from srs.effects.classes import CLASS_EFFECTS
from srs.effects.counts import COUNT_EFFECTS
from srs.effects.kinds import EffectKind
from srs.effects.numbers import NUMBER_EFFECTS
from srs.effects.ordinal import ORDINAL_EFFECTS
from srs.effects.survival import SURVIVAL_EFFECTS
from srs.targets.target import Target

BUILT_IN = (CLASS_EFFECTS, NUMBER_EFFECTS, ORDINAL_EFFECTS, COUNT_EFFECTS, SURVIVAL_EFFECTS)


def effects_of(target: Target) -> EffectKind:
    """The effects on a target."""
    return effect_kind(target.kind, target.has_classes)


def effect_kind(target_kind: str, has_classes: bool) -> EffectKind:
    """The effects on a kind of target; has_classes: whether its values are classes."""
    like = CLASS_EFFECTS if has_classes else NUMBER_EFFECTS
    return next((kind for kind in BUILT_IN if kind.target_kind == target_kind), like)
