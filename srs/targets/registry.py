"""Which kinds of target there are: those of this package, and those of entry points.

The group of entry points is `srs.targets`; each names a `TargetKind`. Where the user does not say,
the first kind is taken that values fit, in the order of the registry: kinds of other packages
come last, so that installing one does not change what is made of data.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from srs.errors import SettingsError
from srs.plugins import with_plugins
from srs.targets.classes import CLASSES
from srs.targets.counts import COUNT
from srs.targets.kinds import TargetKind
from srs.targets.numbers import NUMBERS
from srs.targets.ordinal import ORDINAL
from srs.targets.survival import SURVIVAL
from srs.targets.target import Target

GROUP = "srs.targets"
BUILT_IN = (CLASSES, NUMBERS, ORDINAL, COUNT, SURVIVAL)


@cache
def target_kinds() -> dict[str, TargetKind]:
    """All kinds by name."""
    return {kind.name: kind for kind in with_plugins(GROUP, BUILT_IN, _stored_once)}


def _stored_once(kind: TargetKind, others: Sequence[TargetKind]) -> tuple[TargetKind, list[str]]:
    """Refuse a kind that stores would call like another: it would be read as that."""
    for other in others:
        if kind.stored_name == other.stored_name:
            raise ValueError(f"stores call {other.name!r} {other.stored_name!r} already")
    return kind, []


def target_kind(name: str) -> TargetKind:
    """The kind of this name; a SettingsError says which there are.

    >>> target_kind("numbers").criteria
    ('variance',)
    """
    try:
        return target_kinds()[name]
    except KeyError:
        known = ", ".join(target_kinds())
        raise SettingsError(
            f"there is no kind of target {name!r}; choose from {known}. Another package may "
            "provide it."
        ) from None


def kind_like(target: Target) -> TargetKind:
    """The kind of a target; if that is not installed here, the one that has such values."""
    like = CLASSES if target.has_classes else NUMBERS
    return target_kinds().get(target.kind, like)


def stored_kind(kind: str) -> str:
    """The kind of a target as stores say it."""
    known = target_kinds().get(kind)
    return kind if known is None else known.stored_name


def read_kind(stored: str) -> str:
    """The kind of a target of what a store says.

    >>> read_kind("classification"), read_kind(stored_kind("numbers")), read_kind("survival")
    ('classes', 'numbers', 'survival')
    """
    kinds = target_kinds().values()
    return next((kind.name for kind in kinds if kind.stored_name == stored), stored)
